// SPDX-License-Identifier: Apache-2.0
// triton-client man: its manual page, in the macros of man(7).
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "client/cli/command_info.h"
#include "client/cli/commands.h"

namespace tritond::client {
namespace {

constexpr char kEnvironment[] =
    ".SH ENVIRONMENT\n"
    ".TP\n.B TRITOND_SERVER\nThe server, unless \\fB\\-\\-server\\fR names one.\n"
    ".TP\n.B NO_COLOR\nIf it is not empty, output has no colour. Without a terminal output never has colour.\n"
    ".TP\n.B TERM\nIf it is dumb, output has no colour.\n";

// Text for roff. A line that begins with a dot or a quote would be a request.
std::string Escape(const std::string& text) {
  std::string escaped = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}, {"\n", " "}, {"…", "..."}});
  return absl::StartsWith(escaped, ".") || absl::StartsWith(escaped, "'") ? absl::StrCat("\\&", escaped) : escaped;
}

std::string Bold(const std::string& text) { return absl::StrCat("\\fB", Escape(text), "\\fR"); }
std::string Italic(const std::string& text) { return absl::StrCat("\\fI", Escape(text), "\\fR"); }

std::string OptionEntry(const OptionInfo& option) {
  const std::string names =
      absl::StrJoin(option.names, ", ", [](std::string* out, const std::string& name) { out->append(Bold(name)); });
  const std::string value = option.value.empty() ? "" : absl::StrCat(names.empty() ? "" : " ", Italic(option.value));
  const std::string end =
      option.default_text.empty() ? "" : absl::StrCat(" Default: ", Escape(option.default_text), ".");
  const bool has_stop = absl::EndsWith(option.description, ".");
  return absl::StrCat(".TP\n", names, value, "\n", Escape(option.description), has_stop ? "" : ".", end,
                      option.required && !names.empty() ? " Required." : "", "\n");
}

std::string Entries(const CommandInfo& command) {
  std::string text;
  for (const OptionInfo& positional : command.positionals) absl::StrAppend(&text, OptionEntry(positional));
  for (const OptionInfo& option : command.options) absl::StrAppend(&text, OptionEntry(option));
  return text;
}

// "triton-client bundle extract [OPTIONS] FILE [KEY]..."
std::string Usage(const CommandInfo& command) {
  std::string text = absl::StrCat(Bold(absl::StrCat("triton-client ", command.path)), " [", Italic("OPTIONS"), "]");
  for (const OptionInfo& positional : command.positionals) {
    const std::string word = Italic(positional.value);
    absl::StrAppend(&text, " ", positional.required ? word : absl::StrCat("[", word, "]"),
                    positional.repeats ? "..." : "");
  }
  return text;
}

std::string Page(const CommandInfo& root, const std::string& footer) {
  std::string page =
      absl::StrCat(".TH TRITON\\-CLIENT 1 \"\" \"triton\\-client ", TRITOND_VERSION, "\" \"User Commands\"\n",
                   ".SH NAME\ntriton\\-client \\- asks a tritond daemon for compiled GPU kernels\n", ".SH SYNOPSIS\n",
                   Bold("triton-client"), " [", Italic("OPTIONS"), "] ", Italic("COMMAND"), " [", Italic("OPTIONS"),
                   "] ...\n", ".SH DESCRIPTION\n", Escape(root.description), "\n", ".SH OPTIONS\nOf all commands:\n",
                   Entries(root), ".SH COMMANDS\n");
  for (const CommandInfo* command : Flatten(root)) {
    if (command == &root || !command->commands.empty()) continue;
    const bool has_stop = absl::EndsWith(command->description, ".");
    absl::StrAppend(&page, ".SS ", Usage(*command), "\n", Escape(command->description), has_stop ? "" : ".", "\n",
                    Entries(*command));
  }
  return absl::StrCat(page, ".SH EXIT STATUS\n", Escape(footer), "\n", kEnvironment);
}

}  // namespace

Command AddMan(CLI::App* root) {
  CLI::App* app = root->add_subcommand("man", "Print the manual page: triton-client man | man -l -");
  return {app, [root](const Session& session) {
            session.console.out << Page(DescribeCommands(*root), root->get_footer());
            return kDone;
          }};
}

}  // namespace tritond::client
