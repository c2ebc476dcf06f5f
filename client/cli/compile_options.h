// SPDX-License-Identifier: Apache-2.0
// A kernel's options as the user gives them: an options file and flags that override its entries.
#ifndef CLIENT_CLI_COMPILE_OPTIONS_H_
#define CLIENT_CLI_COMPILE_OPTIONS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "google/protobuf/struct.pb.h"

namespace tritond::client {

// The options in the text of an options file. It is a flat JSON object, or an object whose "options" is one, as in
// Triton's own metadata dumps. Names that only a compiler's output has (hash, name, shared, …) are dropped. They are
// results, and must neither split the cache nor override what this compiler finds. Of the metadata in a cache folder of
// Triton's only what may act in a compiler is taken. InvalidArgument for anything else.
absl::StatusOr<nlohmann::json> ParseOptionsFile(const std::string& text);

// "cuda:90", from the metadata in a cache folder of Triton's, whose "target" is {"backend": "cuda", "arch": 90, …}; ""
// for any other text.
std::string MetadataTarget(const std::string& text);

// Sets an entry from "NAME=VALUE"; the value is JSON, else a string. InvalidArgument without a name.
absl::Status SetOption(const std::string& assignment, nlohmann::json* options);

// For the wire. InvalidArgument when the object cannot be expressed.
absl::StatusOr<google::protobuf::Struct> ToStruct(const nlohmann::json& options);

}  // namespace tritond::client

#endif  // CLIENT_CLI_COMPILE_OPTIONS_H_
