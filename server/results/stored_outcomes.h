// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RESULTS_STORED_OUTCOMES_H_
#define SERVER_RESULTS_STORED_OUTCOMES_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "server/results/error_memory.h"
#include "server/results/result_store.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// How compiles ended that need not run again: stored results and remembered errors. Thread-safe. Owns neither.
class StoredOutcomes final {
 public:
  // `log` takes a line for the operator where a cache fails.
  StoredOutcomes(ResultStore& results, ErrorMemory& errors, std::function<void(const std::string&)> log)
      : results_(results), errors_(errors), log_(std::move(log)) {}

  // Nothing when neither is there. Blocks for the reads of this daemon's caches alone.
  std::optional<Outcome> Find(const std::string& key);

 private:
  ResultStore& results_;
  ErrorMemory& errors_;
  const std::function<void(const std::string&)> log_;
};

}  // namespace tritond::server

#endif  // SERVER_RESULTS_STORED_OUTCOMES_H_
