// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_HISTORY_JOB_HISTORY_H_
#define SERVER_HISTORY_JOB_HISTORY_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "server/history/job_record.h"

namespace tritond::server {

// The latest jobs, for people to look at; the oldest go when there are more than `capacity`. Texts are cut, so that
// what it takes is bounded too. Thread-safe.
class JobHistory final {
 public:
  explicit JobHistory(size_t capacity) : capacity_(capacity) {}

  // A record whose id is kept already replaces that one.
  void Add(JobRecord record);
  // Null when there is none of this id, or it is too long ago.
  std::shared_ptr<const JobRecord> Find(absl::string_view id) const;
  // At most `limit`, newest first.
  std::vector<std::shared_ptr<const JobRecord>> Latest(size_t limit) const;

 private:
  using Kept = std::shared_ptr<const JobRecord>;  // Shared with readers, who may outlast the record's stay.

  const size_t capacity_;
  mutable absl::Mutex mu_;
  std::deque<Kept> newest_first_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, Kept> by_id_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::server

#endif  // SERVER_HISTORY_JOB_HISTORY_H_
