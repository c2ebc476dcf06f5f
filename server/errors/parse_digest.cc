// SPDX-License-Identifier: Apache-2.0
#include "server/errors/parse_digest.h"

#include "absl/strings/str_cat.h"
#include "server/errors/error_details.h"

namespace tritond::server {

absl::StatusOr<cache::Digest> ParseDigest(const std::string& field, absl::string_view text) {
  absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(text);
  if (!digest.ok()) return InvalidRequest({{field, "must be 64 lowercase hexadecimal digits"}});
  return digest;
}

absl::Status CheckDigests(const std::string& field, const google::protobuf::RepeatedPtrField<std::string>& texts) {
  for (int i = 0; i < texts.size(); ++i) {
    const absl::Status status = ParseDigest(absl::StrCat(field, "[", i, "]"), texts[i]).status();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace tritond::server
