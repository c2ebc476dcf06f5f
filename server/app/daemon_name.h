// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_DAEMON_NAME_H_
#define SERVER_APP_DAEMON_NAME_H_

#include <string>

#include "server/app/config.h"

namespace tritond::server {

// What people call this daemon: its configured name, else this host with the first TCP port that is listened on, or
// with the process where no port is fixed: "node7:7433", "node7/812".
std::string NameOfDaemon(const ServerConfig& config);

}  // namespace tritond::server

#endif  // SERVER_APP_DAEMON_NAME_H_
