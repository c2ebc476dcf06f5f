// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_STAGE_NAME_H_
#define SERVER_RPC_STAGE_NAME_H_

#include "proto/v1/compile.pb.h"

namespace tritond::server {

// "ttir", "ttgir", "llir", "asm", "binary"; "" for none of them.
const char* StageName(v1::Stage stage);

}  // namespace tritond::server

#endif  // SERVER_RPC_STAGE_NAME_H_
