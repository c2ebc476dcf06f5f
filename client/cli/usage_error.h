// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_USAGE_ERROR_H_
#define CLIENT_CLI_USAGE_ERROR_H_

#include <CLI/CLI.hpp>
#include <string>

namespace tritond::client {

// "triton-client compile": the names of a command and those above it.
std::string CommandPath(const CLI::App& command);

// The message about a command line that `root` did not take. It names the first word that is unknown, and the word that
// was likely meant. Else it is CLI11's own. Ends with a newline.
std::string UsageError(const CLI::App& root, const CLI::ParseError& error);

}  // namespace tritond::client

#endif  // CLIENT_CLI_USAGE_ERROR_H_
