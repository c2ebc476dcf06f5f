// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_PARSE_JSON_H_
#define CLIENT_CLI_PARSE_JSON_H_

#include <nlohmann/json.hpp>

#include "absl/strings/string_view.h"

namespace tritond::client {

// protobuf reads no deeper messages, and options become one.
inline constexpr int kMaxJsonDepth = 100;

// JSON from a file or a daemon. The value is_discarded() when the text is no JSON, or nests deeper than kMaxJsonDepth:
// what prints and compares values recurses.
nlohmann::json ParseJson(absl::string_view text);

}  // namespace tritond::client

#endif  // CLIENT_CLI_PARSE_JSON_H_
