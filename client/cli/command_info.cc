// SPDX-License-Identifier: Apache-2.0
#include "client/cli/command_info.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tritond::client {
namespace {

// "none|global|both" are choices; a list of them ends with ",…".
std::vector<std::string> ChoicesIn(absl::string_view value) {
  value = absl::StripSuffix(value, ",…");
  if (!absl::StrContains(value, '|')) return {};
  return absl::StrSplit(value, '|');
}

OptionInfo Describe(const CLI::Option& option) {
  OptionInfo info;
  for (const std::string& name : option.get_snames()) info.names.push_back(absl::StrCat("-", name));
  for (const std::string& name : option.get_lnames()) info.names.push_back(absl::StrCat("--", name));
  // What checks the value stands after a colon.
  const std::string type = option.get_type_name().substr(0, option.get_type_name().find(':'));
  if (option.get_type_size() != 0) info.value = option.get_positional() ? option.get_name(true) : type;
  info.choices = ChoicesIn(type);
  info.default_text = option.get_default_str();
  info.description = option.get_description();
  info.required = option.get_required();
  info.repeats = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  return info;
}

CommandInfo Describe(const CLI::App& app, const std::string& path) {
  CommandInfo info;
  info.path = path;
  info.description = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    if (!path.empty() && option == app.get_help_ptr()) continue;  // The program's own stands for all.
    (option->get_positional() ? info.positionals : info.options).push_back(Describe(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    info.commands.push_back(Describe(*command, absl::StrCat(path, path.empty() ? "" : " ", command->get_name())));
  return info;
}

void Append(const CommandInfo& command, std::vector<const CommandInfo*>* all) {
  all->push_back(&command);
  for (const CommandInfo& below : command.commands) Append(below, all);
}

}  // namespace

std::string CommandInfo::name() const { return path.substr(path.rfind(' ') + 1); }

CommandInfo DescribeCommands(const CLI::App& root) { return Describe(root, ""); }

std::vector<const CommandInfo*> Flatten(const CommandInfo& command) {
  std::vector<const CommandInfo*> all;
  Append(command, &all);
  return all;
}

}  // namespace tritond::client
