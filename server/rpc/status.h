// SPDX-License-Identifier: Apache-2.0
// Where errors leave the daemon: the only conversion to gRPC's statuses.
#ifndef SERVER_RPC_STATUS_H_
#define SERVER_RPC_STATUS_H_

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "server/errors/error_details.h"

namespace tritond::server {

// Every error gets an ErrorInfo, by its code where nothing better is attached.
grpc::Status ToGrpc(const absl::Status& status);

}  // namespace tritond::server

#endif  // SERVER_RPC_STATUS_H_
