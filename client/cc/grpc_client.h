// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CC_GRPC_CLIENT_H_
#define CLIENT_CC_GRPC_CLIENT_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "client/cc/client.h"

namespace tritond::client {

// The client of the one daemon that `channel` leads to; neither dials nor fails.
std::unique_ptr<Client> MakeGrpcClient(ClientOptions options, std::shared_ptr<grpc::Channel> channel);

// For a submission whose caller named none, so that its repetitions give one job.
std::string RandomIdempotencyKey();

}  // namespace tritond::client

#endif  // CLIENT_CC_GRPC_CLIENT_H_
