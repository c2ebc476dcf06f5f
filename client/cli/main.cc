// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "client/cli/commands.h"

int main(int argc, char** argv) {
  const char* server = std::getenv("TRITOND_SERVER");
  const tritond::client::Console console{std::cout, std::cerr, isatty(STDERR_FILENO) != 0};
  return tritond::client::RunCommandLine(argc, argv, server == nullptr ? "127.0.0.1:7433" : server, console);
}
