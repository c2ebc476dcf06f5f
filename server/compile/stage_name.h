// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_COMPILE_STAGE_NAME_H_
#define SERVER_COMPILE_STAGE_NAME_H_

#include "absl/strings/string_view.h"
#include "proto/v1/compile.pb.h"

namespace tritond::server {

// "ttir", "ttgir", "llir", "asm", "binary"; "" for none of them.
const char* StageName(v1::Stage stage);
// The inverse.
v1::Stage StageOfName(absl::string_view name);

}  // namespace tritond::server

#endif  // SERVER_COMPILE_STAGE_NAME_H_
