// SPDX-License-Identifier: Apache-2.0
#include "server/compile/stage_name.h"

namespace tritond::server {

const char* StageName(v1::Stage stage) {
  switch (stage) {
    case v1::STAGE_TTIR:
      return "ttir";
    case v1::STAGE_TTGIR:
      return "ttgir";
    case v1::STAGE_LLIR:
      return "llir";
    case v1::STAGE_ASM:
      return "asm";
    case v1::STAGE_BINARY:
      return "binary";
    case v1::STAGE_DISASSEMBLY:
      return "disassembly";
    default:
      return "";
  }
}

v1::Stage StageOfName(absl::string_view name) {
  for (const v1::Stage stage :
       {v1::STAGE_TTIR, v1::STAGE_TTGIR, v1::STAGE_LLIR, v1::STAGE_ASM, v1::STAGE_BINARY, v1::STAGE_DISASSEMBLY})
    if (name == StageName(stage)) return stage;
  return v1::STAGE_UNSPECIFIED;
}

}  // namespace tritond::server
