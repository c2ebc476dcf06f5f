// SPDX-License-Identifier: Apache-2.0
// The commands of triton-client, one file each. An Add function declares a command's flags and returns what runs it.
#ifndef CLIENT_CLI_COMMANDS_H_
#define CLIENT_CLI_COMMANDS_H_

#include <CLI/CLI.hpp>
#include <functional>

#include "client/cli/session.h"

namespace tritond::client {

// `app` is the command's own; `run` gives an ExitCode.
struct Command {
  CLI::App* app;
  std::function<int(const Session&)> run;
};

Command AddCompile(CLI::App* parent);
Command AddPrebuild(CLI::App* parent);
Command AddRun(CLI::App* parent);
Command AddAutotune(CLI::App* parent);
Command AddGet(CLI::App* parent);
Command AddStats(CLI::App* parent);
Command AddWorkers(CLI::App* parent);
Command AddSubmit(CLI::App* parent);
Command AddWatch(CLI::App* parent);
Command AddJobs(CLI::App* parent);
Command AddCancel(CLI::App* parent);
Command AddExplain(CLI::App* parent);
Command AddDrain(CLI::App* parent);
Command AddResume(CLI::App* parent);
Command AddEvict(CLI::App* parent);
// Below the command "quarantine".
Command AddQuarantineList(CLI::App* parent);
Command AddQuarantineRelease(CLI::App* parent);
// Below the command "bundle".
Command AddBundleExport(CLI::App* parent);
Command AddBundleImport(CLI::App* parent);
Command AddBundleList(CLI::App* parent);
Command AddBundleExtract(CLI::App* parent);

// They describe `root` and all that is below it.
Command AddCompletion(CLI::App* root);
Command AddMan(CLI::App* root);

// Parses the command line and runs one command. `default_server` is used unless --server is given.
int RunCommandLine(int argc, const char* const* argv, const std::string& default_server, const Console& console);

}  // namespace tritond::client

#endif  // CLIENT_CLI_COMMANDS_H_
