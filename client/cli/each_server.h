// SPDX-License-Identifier: Apache-2.0
// Commands that concern daemons rather than kernels: --server names several, and each is asked by itself.
#ifndef CLIENT_CLI_EACH_SERVER_H_
#define CLIENT_CLI_EACH_SERVER_H_

#include <functional>
#include <string>

#include "client/cli/session.h"

namespace tritond::client {

// How many of the servers must answer for the command to have done its work.
enum class Answers { kOne, kAll };

// Calls `ask` for each server of the session, one after the other, and complains about those that cannot be reached or
// answer with an error. kDone when as many answered as `needed` says; else what the last error makes of it, kUsage for
// wrong flags.
int AskEach(const Session& session, Answers needed,
            const std::function<absl::Status(Client& client, const std::string& address)>& ask);

// Whether --server names several.
bool HasSeveralServers(const Session& session);

// The object with an entry "server" first, where there are several.
std::string WithServer(const Session& session, const std::string& address, const std::string& json);

}  // namespace tritond::client

#endif  // CLIENT_CLI_EACH_SERVER_H_
