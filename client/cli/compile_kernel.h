// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_COMPILE_KERNEL_H_
#define CLIENT_CLI_COMPILE_KERNEL_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cc/client.h"
#include "proto/v1/compile.pb.h"

namespace tritond::client {

// Client::Compile. Where the server does not know the target, the error names the one that was likely meant.
absl::StatusOr<v1::CompileResponse> CompileKernel(Client& client, const v1::CompileRequest& request,
                                                  absl::Time deadline);

}  // namespace tritond::client

#endif  // CLIENT_CLI_COMPILE_KERNEL_H_
