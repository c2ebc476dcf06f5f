// SPDX-License-Identifier: Apache-2.0
// The files that a configuration names, outside of the data folder.
#ifndef SERVER_APP_CONFIG_FILES_H_
#define SERVER_APP_CONFIG_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/open/open_cache.h"
#include "server/app/config.h"

namespace tritond::server {

// How many worker processes the daemon starts.
int LocalWorkers(const ServerConfig& config);

// The absolute path of the program that they run; "" when there are none. InvalidArgument when nothing is there.
absl::StatusOr<std::string> FindWorkerProgram(const ServerConfig& config);

// The first line of cluster_password_file; "" when none is named. InvalidArgument when it cannot be read.
absl::StatusOr<std::string> ReadClusterPassword(const ServerConfig& config);

// The TLS files and the name of the engine.
cache::RedisTls ClusterTls(const ServerConfig& config);

// What a start would refuse in the files that the configuration names, a line each. These are the worker program, the
// password, both TLS sets, the access file, the signing key and the list of trusted keys. Opens no port, and neither
// reads nor writes the data folder.
std::vector<std::string> FileProblems(const ServerConfig& config);

}  // namespace tritond::server

#endif  // SERVER_APP_CONFIG_FILES_H_
