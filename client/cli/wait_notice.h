// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_WAIT_NOTICE_H_
#define CLIENT_CLI_WAIT_NOTICE_H_

#include "absl/status/statusor.h"
#include "client/cc/client.h"
#include "client/cli/session.h"

namespace tritond::client {

// CompileKernel with the session's deadline. If no answer has come within two seconds, and no worker of the target
// is attached, it says so on the console, once.
absl::StatusOr<v1::CompileResponse> CompileWithNotice(const Session& session, Client& client,
                                                      const v1::CompileRequest& request);

}  // namespace tritond::client

#endif  // CLIENT_CLI_WAIT_NOTICE_H_
