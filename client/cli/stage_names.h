// SPDX-License-Identifier: Apache-2.0
// The words of the command line for the protocol's enumerations.
#ifndef CLIENT_CLI_STAGE_NAMES_H_
#define CLIENT_CLI_STAGE_NAMES_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/v1/compile.pb.h"

namespace tritond::client {

// "ttir", "ttgir", "llir", "asm", "binary", "disassembly"; "unknown" for anything else.
const char* StageName(v1::Stage stage);

// The inverse; also takes the formats' own names (ptx, amdgcn, spirv, cubin, hsaco, spv, so, ll, sass). InvalidArgument
// otherwise.
absl::StatusOr<v1::Stage> ParseStage(const std::string& word);

// "hit", "miss", "joined"; "" when unspecified.
const char* CacheName(v1::CacheStatus cache);

}  // namespace tritond::client

#endif  // CLIENT_CLI_STAGE_NAMES_H_
