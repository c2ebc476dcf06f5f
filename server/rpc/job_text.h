// SPDX-License-Identifier: Apache-2.0
// The stored texts of a job that has ended: the IR that came with its request and those stages that were asked for.
#ifndef SERVER_RPC_JOB_TEXT_H_
#define SERVER_RPC_JOB_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cache/api/cache.h"
#include "proto/v1/compile.pb.h"
#include "server/history/job_record.h"

namespace tritond::server {

// The request that the job compiled, as it is stored: what belongs to the key. NotFound when none is kept, or no more.
absl::StatusOr<v1::CompileRequest> ReadJobRequest(cache::Cache& blobs, const JobRecord& record);

// The kernel at a stage. NotFound when it is not kept, or no more; InvalidArgument for a stage that is no text.
absl::StatusOr<std::string> ReadJobText(cache::Cache& blobs, const JobRecord& record, absl::string_view stage);

}  // namespace tritond::server

#endif  // SERVER_RPC_JOB_TEXT_H_
