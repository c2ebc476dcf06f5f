// SPDX-License-Identifier: Apache-2.0
// A record is written before its value and removed after it. So after a crash there may be a record without a value,
// which is found and dropped. There is never a value without a record.
#include "server/redis/value_store.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tritond::server {
namespace {

constexpr char kRecordVersion[] = "2";
constexpr char kWithoutTenant[] = "1";  // an earlier version; nobody knows whose values these are

// "2 SIZE EXPIRY TENANT": bytes, and milliseconds since 1970; 0: it does not end.
std::string RecordOf(const ValueStore::Entry& entry) {
  const int64_t expiry = entry.expires == absl::InfiniteFuture() ? 0 : absl::ToUnixMillis(entry.expires);
  return absl::StrCat(kRecordVersion, " ", entry.size_bytes, " ", expiry, " ", entry.tenant);
}

std::optional<ValueStore::Entry> ReadRecord(absl::string_view record) {
  const std::vector<absl::string_view> parts = absl::StrSplit(record, absl::MaxSplits(' ', 3));
  ValueStore::Entry entry;
  int64_t expiry = 0;
  const bool known = parts[0] == kRecordVersion ? parts.size() == 4 : parts[0] == kWithoutTenant && parts.size() == 3;
  if (!known || !absl::SimpleAtoi(parts[1], &entry.size_bytes) || !absl::SimpleAtoi(parts[2], &expiry) || expiry < 0)
    return std::nullopt;
  if (expiry > 0) entry.expires = absl::FromUnixMillis(expiry);
  if (parts.size() == 4) entry.tenant = std::string(parts[3]);
  return entry;
}

// Nobody says what a value cost to make. By this each byte is worth as much as any other, so that use decides.
constexpr double kCostOfByte = 1.0 / (1 << 20);

IndexedResult ToIndexed(const cache::Digest& key, uint64_t size_bytes) {
  const double bytes = static_cast<double>(size_bytes + ValueStore::kBytesBesideValue);
  return {key, ValueStore::kBytesBesideValue, {{key, size_bytes}}, bytes * kCostOfByte};
}

// The caches have no such entry, or none that is sound.
bool IsMiss(const absl::Status& status) { return absl::IsNotFound(status) || absl::IsDataLoss(status); }

absl::Status Missing() { return absl::NotFoundError("there is no such key"); }

}  // namespace

cache::Digest ValueStore::KeyOf(absl::string_view tenant, absl::string_view key) {
  cache::DigestHasher hasher;
  hasher.Update(absl::StrCat(tenant.size(), ":", tenant));  // The length first, so that no two pairs read alike.
  hasher.Update(key);
  return hasher.Finish();
}

absl::Status ValueStore::TakeStock() {
  const absl::StatusOr<std::vector<cache::Digest>> keys = records_.List();
  if (!keys.ok()) return keys.status();
  absl::Status status;
  for (const cache::Digest& key : *keys) {
    const absl::StatusOr<Entry> entry = Find(key);
    if (entry.ok()) index_.Add(entry->tenant, ToIndexed(key, entry->size_bytes));
    if (!entry.ok() && !absl::IsNotFound(entry.status())) status.Update(entry.status());
  }
  MakeRoom();
  return status;
}

absl::StatusOr<ValueStore::Entry> ValueStore::Look(const cache::Digest& key) {
  const absl::StatusOr<cache::Blob> record = records_.Get(key);
  if (!record.ok()) return record.status();
  const std::optional<Entry> entry = ReadRecord(record->bytes());
  if (entry.has_value() && wall_clock_() < entry->expires) return *entry;
  return absl::DataLossError("the record is over, or cannot be read");
}

absl::StatusOr<ValueStore::Entry> ValueStore::Find(const cache::Digest& key) {
  absl::StatusOr<Entry> entry = Look(key);
  if (!absl::IsDataLoss(entry.status())) return entry;
  DropIfUseless(key);
  return Missing();
}

absl::StatusOr<cache::Blob> ValueStore::Get(const cache::Digest& key) {
  absl::StatusOr<cache::Blob> value = values_.Get(key);
  if (value.ok()) index_.Touch(key);
  if (!IsMiss(value.status())) return value;
  DropIfUseless(key);
  return Missing();
}

absl::StatusOr<bool> ValueStore::IsThere(const cache::Digest& key) {
  const absl::StatusOr<Entry> entry = Look(key);
  if (IsMiss(entry.status())) return false;
  if (!entry.ok()) return entry.status();
  const absl::StatusOr<std::vector<cache::Digest>> missing = values_.FindMissing({key});
  if (!missing.ok()) return missing.status();
  return missing->empty();
}

void ValueStore::DropIfUseless(const cache::Digest& key) {
  absl::MutexLock lock(&LockOf(key));
  const absl::StatusOr<bool> there = IsThere(key);
  if (there.ok() && !*there) Drop(key).IgnoreError();
}

absl::Status ValueStore::Drop(const cache::Digest& key) {
  absl::Status status = values_.Remove(key);
  if (status.ok()) status = records_.Remove(key);  // While the value may be there its record stays.
  if (status.ok()) index_.Remove(key);
  return status;
}

absl::StatusOr<bool> ValueStore::Put(const std::string& tenant, const cache::Digest& key, cache::Blob value,
                                     absl::Duration lifetime, Condition condition) {
  const uint64_t size_bytes = value.size();
  {
    absl::MutexLock lock(&LockOf(key));
    if (condition != Condition::kAlways) {
      const absl::StatusOr<bool> there = IsThere(key);
      if (!there.ok()) return there.status();
      if (*there != (condition == Condition::kIfPresent)) return false;
    }
    absl::Status status = records_.Put(key, cache::Blob(RecordOf({size_bytes, wall_clock_() + lifetime, tenant})));
    if (!status.ok()) return status;
    status = values_.Put(key, std::move(value));
    if (!status.ok()) {
      Drop(key).IgnoreError();
      return status;
    }
    index_.Add(tenant, ToIndexed(key, size_bytes));
  }
  MakeRoom();
  return true;
}

absl::StatusOr<bool> ValueStore::Remove(const cache::Digest& key) {
  absl::MutexLock lock(&LockOf(key));
  const absl::StatusOr<Entry> entry = Look(key);
  if (absl::IsNotFound(entry.status())) return false;
  if (!entry.ok() && !IsMiss(entry.status())) return entry.status();
  const absl::Status dropped = Drop(key);
  if (!dropped.ok()) return dropped;
  return entry.ok();
}

void ValueStore::MakeRoom() {
  for (const cache::Digest& key : index_.Shrink()) {
    absl::MutexLock lock(&LockOf(key));
    // Somebody may have stored it again meanwhile.
    if (!index_.Has(key)) Drop(key).IgnoreError();
  }
}

}  // namespace tritond::server
