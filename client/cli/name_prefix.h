// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_NAME_PREFIX_H_
#define CLIENT_CLI_NAME_PREFIX_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tritond::client {

// The one of `names` that begins with `prefix`; names may repeat, and a name counts for itself even where others begin
// with it. NotFound when none does; InvalidArgument, with some of them, when several do or `prefix` is empty.
absl::StatusOr<std::string> ExpandPrefix(absl::string_view prefix, const std::vector<std::string>& names);

// Whether `word` is 64 lowercase hex digits, as request keys and digests are.
bool IsDigest(absl::string_view word);

}  // namespace tritond::client

#endif  // CLIENT_CLI_NAME_PREFIX_H_
