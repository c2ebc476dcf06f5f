// SPDX-License-Identifier: Apache-2.0
#include "server/history/job_history.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

constexpr size_t kMaxMessageBytes = 4096;
constexpr size_t kMaxNameBytes = 256;
constexpr size_t kMaxDiagnostics = 20;

// Not in the middle of a character.
void Cut(size_t most, std::string* text) {
  if (text->size() <= most) return;
  while (most > 0 && (static_cast<unsigned char>((*text)[most]) & 0xc0) == 0x80) --most;
  text->resize(most);
  text->append("…");
}

void CutTexts(JobRecord* record) {
  FinishedJob& job = record->job;
  for (std::string* name : {&job.label, &job.tenant, &job.target, &job.worker, &record->followed})
    Cut(kMaxNameBytes, name);
  std::string message(job.status.message());
  Cut(kMaxMessageBytes, &message);
  job.status = absl::Status(job.status.code(), message);  // Without its details.
  if (record->diagnostics.size() > kMaxDiagnostics) {
    const size_t more = record->diagnostics.size() - kMaxDiagnostics;
    record->diagnostics.resize(kMaxDiagnostics);
    record->diagnostics.push_back(absl::StrCat("and ", more, " more"));
  }
  for (std::string& line : record->diagnostics) Cut(kMaxMessageBytes, &line);
}

}  // namespace

void JobHistory::Add(JobRecord record) {
  CutTexts(&record);
  auto kept = std::make_shared<const JobRecord>(std::move(record));
  const std::string& id = kept->job.id;
  absl::MutexLock lock(&mu_);
  Kept& known = by_id_[id];
  if (known != nullptr) newest_first_.erase(std::find(newest_first_.begin(), newest_first_.end(), known));
  known = kept;
  newest_first_.push_front(std::move(kept));
  while (newest_first_.size() > capacity_) {
    by_id_.erase(newest_first_.back()->job.id);
    newest_first_.pop_back();
  }
}

std::shared_ptr<const JobRecord> JobHistory::Find(absl::string_view id) const {
  absl::MutexLock lock(&mu_);
  auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : it->second;
}

std::vector<std::shared_ptr<const JobRecord>> JobHistory::Latest(size_t limit) const {
  absl::MutexLock lock(&mu_);
  return {newest_first_.begin(), newest_first_.begin() + std::min(limit, newest_first_.size())};
}

}  // namespace tritond::server
