// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iostream>

#include "client/cli/commands.h"

int main(int argc, char** argv) {
  const char* server = std::getenv("TRITOND_SERVER");
  tritond::client::Console console{std::cout, std::cerr};
  console.out_is_terminal = isatty(STDOUT_FILENO) != 0;
  console.err_is_terminal = isatty(STDERR_FILENO) != 0;
  // Both variables are conventions: any text in NO_COLOR counts, and a dumb terminal shows colours as text.
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  console.err_has_colour = console.err_is_terminal && (no_colour == nullptr || *no_colour == '\0') &&
                           terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
  return tritond::client::RunCommandLine(argc, argv, server == nullptr ? "127.0.0.1:7433" : server, console);
}
