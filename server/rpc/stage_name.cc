// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/stage_name.h"

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
    default:
      return "";
  }
}

}  // namespace tritond::server
