// SPDX-License-Identifier: Apache-2.0
// gRPC's own services beside tritond's: health checks and reflection. They know no roles: all who reach the port may
// call them, so the configuration says whether they are there.
#ifndef SERVER_APP_SIDE_SERVICES_H_
#define SERVER_APP_SIDE_SERVICES_H_

#include <grpcpp/grpcpp.h>

#include "server/app/config.h"

namespace tritond::server {

// Whether this server offers reflection: as `reflection` says, and with "auto" where everyone may do everything.
bool OffersReflection(const ServerConfig& config);

// Adds what the configuration wants to this server alone; gRPC's switches for them are the process's.
void AddSideServices(const ServerConfig& config, grpc::ServerBuilder* builder);

}  // namespace tritond::server

#endif  // SERVER_APP_SIDE_SERVICES_H_
