// SPDX-License-Identifier: Apache-2.0
// The one rule for keys and digests that callers name: 64 lower-case hexadecimal digits. What has a second spelling
// could be quarantined or evicted under one and asked for under the other.
#ifndef SERVER_ERRORS_PARSE_DIGEST_H_
#define SERVER_ERRORS_PARSE_DIGEST_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cache/api/digest.h"
#include "proto/v1/compile.pb.h"

namespace tritond::server {

// InvalidArgument, with a violation of this field of the request.
absl::StatusOr<cache::Digest> ParseDigest(const std::string& field, absl::string_view text);

// The same of each in a repeated field; the first that is wrong is named.
absl::Status CheckDigests(const std::string& field, const google::protobuf::RepeatedPtrField<std::string>& texts);

}  // namespace tritond::server

#endif  // SERVER_ERRORS_PARSE_DIGEST_H_
