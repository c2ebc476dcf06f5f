// SPDX-License-Identifier: Apache-2.0
#include "server/tunings/tuning_store.h"

#include <utility>

#include "server/tunings/tuning_key.h"

namespace tritond::server {

absl::Status TuningStore::TakeStock() {
  const absl::StatusOr<std::vector<cache::Digest>> keys = records_.List();
  if (!keys.ok()) return keys.status();
  absl::Status status;
  for (const cache::Digest& key : *keys) {
    if (const std::optional<cache::Digest> gone = Count(key)) status.Update(records_.Release(*gone));
  }
  return status;
}

std::optional<v1::ProgramTuning> TuningStore::Find(const cache::Digest& key) {
  const absl::StatusOr<cache::Blob> record = records_.Get(key);
  v1::ProgramTuning tuning;
  if (!record.ok() || !tuning.ParseFromArray(record->data(), static_cast<int>(record->size())) || !IsTuning(tuning))
    return std::nullopt;
  // The cache keeps here what it found in the cluster.
  if (const std::optional<cache::Digest> gone = Count(key)) records_.Release(*gone).IgnoreError();
  return tuning;
}

absl::Status TuningStore::Keep(const cache::Digest& key, const v1::ProgramTuning& tuning) {
  absl::Status status = records_.Put(key, cache::Blob(tuning.SerializeAsString()));
  if (!status.ok()) return status;
  if (const std::optional<cache::Digest> gone = Count(key)) records_.Release(*gone).IgnoreError();
  return absl::OkStatus();
}

absl::Status TuningStore::ForgetAll() {
  {
    absl::MutexLock lock(&mu_);
    oldest_first_.clear();
    counted_.clear();
  }
  return records_.RemoveAll().status();
}

size_t TuningStore::size() const {
  absl::MutexLock lock(&mu_);
  return counted_.size();
}

std::optional<cache::Digest> TuningStore::Count(const cache::Digest& key) {
  absl::MutexLock lock(&mu_);
  if (!counted_.insert(key).second) return std::nullopt;
  oldest_first_.push_back(key);
  if (counted_.size() <= most_) return std::nullopt;
  const cache::Digest oldest = oldest_first_.front();
  oldest_first_.pop_front();
  counted_.erase(oldest);
  return oldest;
}

}  // namespace tritond::server
