// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_COMPILE_JOB_TEXTS_H_
#define SERVER_COMPILE_JOB_TEXTS_H_

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "proto/v1/compile.pb.h"
#include "server/compile/compile_broker.h"
#include "server/history/job_record.h"

namespace tritond::server {

// The kernel of a job that has ended, stage by stage. Kept are the IR that came with its request and those stages that
// the request asked for. When somebody wants to see more, all stages are made. A compile of the same request with the
// same compiler makes these texts alone, with source locations, and is stored as any other result. These texts go
// before the kept ones. Thread-safe. Borrows the broker.
class JobTexts final {
 public:
  explicit JobTexts(CompileBroker& broker) : broker_(broker), makes_(std::make_shared<Makes>()) {}

  // The request that the job compiled, as it is stored: what belongs to the key. Of a job that failed it stays in
  // memory for a while. NotFound when none is kept, or no more.
  absl::StatusOr<v1::CompileRequest> Request(const JobRecord& record) const;
  // The kernel at a stage. NotFound when it is not kept, or no more; InvalidArgument for a stage that is no text.
  absl::StatusOr<std::string> Read(const JobRecord& record, absl::string_view stage) const;

  // The stages that were made, with their digests; none before.
  std::vector<JobRecord::Text> Made(const JobRecord& record) const;

  // Begins to make all stages, as this tenant's caller; nothing while it is under way. Errors:
  // NotFound as Request's; FailedPrecondition when another compiler has taken the place of the job's.
  absl::Status Make(const JobRecord& record, const std::string& tenant);
  // Of the job's last Make: Ok when it is done or there was none, Unavailable while it is under way; else why it
  // failed.
  absl::Status Making(absl::string_view job) const;

 private:
  // Shared with the compiles under way.
  struct Makes {
    absl::Mutex mu;
    std::deque<std::pair<std::string, absl::Status>> of_jobs ABSL_GUARDED_BY(mu);  // newest first

    void Set(const std::string& job, absl::Status status);
  };

  // A request for the text of every stage after the input, and its key.
  struct Wanted {
    proto::PreparedRequest request;
    std::string key;
  };
  absl::StatusOr<Wanted> EveryText(const JobRecord& record, const std::string& tenant) const;
  absl::StatusOr<std::string> ReadBlob(const std::string& digest) const;

  CompileBroker& broker_;
  const std::shared_ptr<Makes> makes_;
};

}  // namespace tritond::server

#endif  // SERVER_COMPILE_JOB_TEXTS_H_
