// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_MLIR_STAGE_H_
#define CLIENT_CLI_MLIR_STAGE_H_

#include "absl/strings/string_view.h"
#include "proto/v1/compile.pb.h"

namespace tritond::client {

// Whether a file that calls itself TTIR or TTGIR is one or the other, by its text. `called`: what its name says, which
// prevails where the text does not tell. TTIR that has `"ttg.num-warps" = 4` is TTGIR; TTGIR without a word of its
// dialect is TTIR. Takes time linear in the size of the text.
v1::Stage MlirStage(absl::string_view text, v1::Stage called);

}  // namespace tritond::client

#endif  // CLIENT_CLI_MLIR_STAGE_H_
