// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_USAGE_ERROR_H_
#define CLIENT_CLI_USAGE_ERROR_H_

#include <CLI/CLI.hpp>
#include <string>

namespace tritond::client {

// "triton-client compile": the names of a command and those above it.
std::string CommandPath(const CLI::App& command);

// What to tell people about a command line that `root` did not take: the first word that it does not know, with the one
// that was likely meant, else what CLI11 says of it. Ends with a newline.
std::string UsageError(const CLI::App& root, const CLI::ParseError& error);

}  // namespace tritond::client

#endif  // CLIENT_CLI_USAGE_ERROR_H_
