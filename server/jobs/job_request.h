// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_JOB_REQUEST_H_
#define SERVER_JOBS_JOB_REQUEST_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/request_key/request_key.h"
#include "proto/request_key/source_map.h"
#include "proto/v1/compile.pb.h"

namespace tritond::server {

// A submitted request as the journal gives it back.
struct JobRequest {
  v1::CompileRequest message;
  // The message is canonical, and its places lead to those of the IR as sent. Nothing: the message is as it was sent,
  // to a daemon of an earlier version.
  std::optional<proto::SourceMap> source;
};

// A prepared request as a record, which DecodeJobRequest reads; nothing for other bytes.
std::string EncodeJobRequest(const proto::PreparedRequest& request);
std::optional<JobRequest> DecodeJobRequest(absl::string_view record);

}  // namespace tritond::server

#endif  // SERVER_JOBS_JOB_REQUEST_H_
