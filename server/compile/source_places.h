// SPDX-License-Identifier: Apache-2.0
// Results and errors are kept with places of the canonical text, as many callers share them. Each caller reads places
// of the text that it sent.
#ifndef SERVER_COMPILE_SOURCE_PLACES_H_
#define SERVER_COMPILE_SOURCE_PLACES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/request_key/request_key.h"
#include "server/admission/check_request.h"
#include "server/compile/compile_answer.h"

namespace tritond::server {

// Leads the diagnostics of an answer, or of a failure (v1::CompileFailure), to the text as sent. In the failure's
// message, the place of the first error too.
absl::StatusOr<CompileAnswer> ToSource(absl::StatusOr<CompileAnswer> answer, const proto::SourceMap& source);

// proto::Prepare as RPCs use it: InvalidArgument with google.rpc.BadRequest for IR that is larger than the limit or
// that has no canonical text.
absl::StatusOr<proto::PreparedRequest> PrepareRequest(v1::CompileRequest request, const AdmissionLimits& limits);

}  // namespace tritond::server

#endif  // SERVER_COMPILE_SOURCE_PLACES_H_
