// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_DAEMON_NAME_H_
#define SERVER_APP_DAEMON_NAME_H_

#include <string>

#include "server/app/config.h"

namespace tritond::server {

// The name of this daemon for people: the configured one, else this host with the first TCP port of --listen, such as
// "node7:7433". Where no port is fixed it has the process id: "node7/812".
std::string NameOfDaemon(const ServerConfig& config);

}  // namespace tritond::server

#endif  // SERVER_APP_DAEMON_NAME_H_
