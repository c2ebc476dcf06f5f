// SPDX-License-Identifier: Apache-2.0
#include "client/cli/usage_error.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/plain_text/nearest_word.h"
#include "proto/plain_text/plain_text.h"

namespace tritond::client {
namespace {

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

// The options that may follow this command, those of its parents included.
std::vector<std::string> OptionNames(const CLI::App* app) {
  std::vector<std::string> names;
  for (; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back(absl::StrCat("--", name));
      for (const std::string& name : option->get_snames()) names.push_back(absl::StrCat("-", name));
    }
  }
  return names;
}

// "bundle export" for "export"; with "or" where several commands have one of this name.
std::string DeeperCommand(const CLI::App& root, const std::string& word) {
  std::vector<std::string> paths;
  for (const CLI::App* command : root.get_subcommands([](const CLI::App*) { return true; })) {
    for (const std::string& name : CommandNames(*command)) {
      if (name == word) paths.push_back(absl::StrCat(command->get_name(), " ", name));
    }
  }
  return absl::StrJoin(paths, " or ");
}

std::string Unknown(const CLI::App& root, const CLI::App& command, const std::string& word) {
  const bool is_option = absl::StartsWith(word, "-") && word.size() > 1;
  const bool wants_command = !CommandNames(command).empty();
  std::string near;
  if (is_option) {
    near = proto::NearestWord(word.substr(0, word.find('=')), OptionNames(&command));
  } else if (wants_command) {
    near = proto::NearestWord(word, CommandNames(command));
    if (near.empty()) near = DeeperCommand(root, word);
  }
  const char* kind = is_option ? "unknown option " : wants_command ? "unknown command " : "unexpected argument ";
  return absl::StrCat(kind, proto::EscapeToPlain(word), near.empty() ? "" : "; did you mean ", near,
                      near.empty() ? "" : "?");
}

}  // namespace

std::string CommandPath(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : absl::StrCat(CommandPath(*parent), " ", command.get_name());
}

std::string UsageError(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App* command = &root;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  const std::vector<std::string> unknown = root.remaining();
  std::string text = unknown.empty() ? error.what() : Unknown(root, *command, unknown.front());
  if (unknown.empty() && !CommandNames(*command).empty() && command->get_require_subcommand_min() > 0)
    text = "a command is missing";
  return absl::StrCat("triton-client: ", text, "\nRun ", CommandPath(*command), " --help for more information.\n");
}

}  // namespace tritond::client
