// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RESULTS_STEP_CACHE_H_
#define SERVER_RESULTS_STEP_CACHE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/v1/worker.pb.h"
#include "server/results/result_store.h"

namespace tritond::server {

// Finds what is new only in its spelling, or only in its assembler. Besides its request key a result is stored under
// its semantic key, and its assembly as a result of its own under the assembly key. Workers name both. They are records
// without a request, so that bundles and Explain pass over them, and are evicted like any other. Thread-safe. Borrows
// the store.
class StepCache final {
 public:
  explicit StepCache(ResultStore& store) : store_(store) {}

  enum class Step { kNone, kSemantic, kAssembly };
  // What a worker is told. With `known`, `result` is what it need not make; a result whose artifacts are too large to
  // be held in one answer is made anew. `sources` are the signers of what is told: what the worker makes of it names
  // them.
  struct Recalled {
    Step step = Step::kNone;
    double saved_cpu_seconds = 0;  // what making it cost
    v1::StepAnswer answer;
    std::shared_ptr<const StoredResult> result;  // Shared with the store.
    std::vector<cache::Digest> sources;
  };
  Recalled Recall(const v1::StepKeys& keys);

  // Writes into a fresh result under which names Remember will store it.
  static void Name(const v1::CompileOutcome& outcome, v1::ActionResult* action);
  // Stores what the outcome of this result leaves for others. Errors are those of the caches: the result itself is
  // unharmed.
  absl::Status Remember(const StoredResult& result, v1::CompileOutcome outcome);

 private:
  // A whole result under the key; null when there is none. It gets its sources' names, unless they are too many to be
  // named.
  std::shared_ptr<const StoredResult> Find(const std::string& key, std::vector<cache::Digest>* sources);

  ResultStore& store_;
};

}  // namespace tritond::server

#endif  // SERVER_RESULTS_STEP_CACHE_H_
