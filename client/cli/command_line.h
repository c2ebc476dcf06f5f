// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_COMMAND_LINE_H_
#define CLIENT_CLI_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "client/cli/commands.h"

namespace tritond::client {

// All commands and flags of triton-client. `server` holds the flags of all commands once `app` has parsed them.
struct CommandTree {
  explicit CommandTree(const std::string& default_server);
  CommandTree(const CommandTree&) = delete;
  CommandTree& operator=(const CommandTree&) = delete;

  CLI::App app;
  ServerFlags server;
  std::vector<Command> commands;
};

}  // namespace tritond::client

#endif  // CLIENT_CLI_COMMAND_LINE_H_
