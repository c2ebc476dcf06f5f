// SPDX-License-Identifier: Apache-2.0
// The command line as data, from the tree that parses it: what completion scripts and the manual page are made of.
#ifndef CLIENT_CLI_COMMAND_INFO_H_
#define CLIENT_CLI_COMMAND_INFO_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tritond::client {

struct OptionInfo {
  std::vector<std::string> names;    // "-o", "--output"; none: it is positional
  std::string value;                 // what follows: "FILE", "SECONDS"; of a positional its name; "" of a flag
  std::vector<std::string> choices;  // of the value, where there are few
  std::string default_text;
  std::string description;
  bool required = false;
  bool repeats = false;

  bool TakesFile() const { return value == "FILE" || value == "SPEC" || value == "SOURCE"; }
  bool TakesFolder() const { return value == "DIR"; }
};

struct CommandInfo {
  std::string path;  // "bundle list"; "" of the program itself
  std::string description;
  std::vector<OptionInfo> positionals;
  std::vector<OptionInfo> options;    // of the program itself: those of all commands
  std::vector<CommandInfo> commands;  // below it

  // The last word of the path.
  std::string name() const;
};

// `root` is the program.
CommandInfo DescribeCommands(const CLI::App& root);

// The command and all below it, each in front of those below it.
std::vector<const CommandInfo*> Flatten(const CommandInfo& command);

}  // namespace tritond::client

#endif  // CLIENT_CLI_COMMAND_INFO_H_
