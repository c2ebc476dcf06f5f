// SPDX-License-Identifier: Apache-2.0
// triton-client completion: scripts by which shells complete its commands, options and values. They ask nobody: all
// they know stands in them.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/cli/command_info.h"
#include "client/cli/commands.h"

namespace tritond::client {
namespace {

// What the options of all commands take. An option means the same wherever it stands.
struct Values {
  std::set<std::string> any, files, folders;
  std::map<std::string, std::vector<std::string>> choices;
};

Values ValuesOf(const CommandInfo& root) {
  Values values;
  for (const CommandInfo* command : Flatten(root)) {
    for (const OptionInfo& option : command->options) {
      if (option.value.empty()) continue;
      values.any.insert(option.names.begin(), option.names.end());
      if (option.TakesFile()) values.files.insert(option.names.begin(), option.names.end());
      if (option.TakesFolder()) values.folders.insert(option.names.begin(), option.names.end());
      for (const std::string& name : option.names) {
        if (!option.choices.empty()) values.choices[name] = option.choices;
      }
    }
  }
  return values;
}

std::vector<std::string> OptionNames(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const OptionInfo& option : command.options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> CommandNames(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const CommandInfo& below : command.commands) names.push_back(below.name());
  return names;
}

// What may stand next, with a description: commands, or the values of a positional that has few.
std::vector<std::pair<std::string, std::string>> Words(const CommandInfo& command) {
  std::vector<std::pair<std::string, std::string>> words;
  for (const CommandInfo& below : command.commands) words.emplace_back(below.name(), below.description);
  for (const OptionInfo& positional : command.positionals) {
    for (const std::string& choice : positional.choices) words.emplace_back(choice, "");
  }
  return words;
}

std::string JoinedWords(const CommandInfo& command) {
  return absl::StrJoin(Words(command), " ", [](std::string* out, const auto& word) { out->append(word.first); });
}

bool TakesFiles(const CommandInfo& command) {
  for (const OptionInfo& positional : command.positionals) {
    if (positional.TakesFile()) return true;
  }
  return false;
}

std::string WithSlash(const std::string& path) { return absl::StrReplaceAll(path, {{" ", "/"}}); }

// Patterns of `case`: "/bundle|bundle/list" says that list is a command of bundle.
std::string CommandPatterns(const CommandInfo& root) {
  std::vector<std::string> patterns;
  for (const CommandInfo* command : Flatten(root)) {
    for (const CommandInfo& below : command->commands)
      patterns.push_back(absl::StrCat(WithSlash(command->path), "/", below.name()));
  }
  return absl::StrJoin(patterns, "|");
}

// In single quotes of a shell.
std::string Quote(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

// The words of bash and zsh are read alike: the command that they name, and the option whose value is to be completed.
std::string BashScript(const CommandInfo& root) {
  const Values values = ValuesOf(root);
  std::string script = absl::StrCat(
      "# Completes triton-client in bash: source <(triton-client completion bash)\n"
      "_triton_client() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} command= option= at next words= files=\n"
      "  local common=",
      Quote(absl::StrJoin(OptionNames(root), " ")),
      "\n"
      "  COMPREPLY=()\n"
      "  for ((at = 1; at < COMP_CWORD; at++)); do\n"
      "    case ${COMP_WORDS[at]} in\n"
      "      ",
      absl::StrJoin(values.any, "|"),
      ")\n"
      "        next=$((at + 1))\n"
      "        [[ ${COMP_WORDS[next]} == = ]] && ((next++))\n"
      "        ((next >= COMP_CWORD)) && option=${COMP_WORDS[at]}\n"
      "        at=$next ;;\n"
      "      *)\n"
      "        case $command/${COMP_WORDS[at]} in\n"
      "          ",
      CommandPatterns(root),
      ")\n"
      "            command=${command:+$command/}${COMP_WORDS[at]} ;;\n"
      "        esac ;;\n"
      "    esac\n"
      "  done\n"
      "  [[ $word == = ]] && word=\n"
      "  case $option in\n");
  for (const auto& [name, choices] : values.choices)
    absl::StrAppend(&script, "    ", name, ") words=", Quote(absl::StrJoin(choices, " ")), " ;;\n");
  absl::StrAppend(&script, "    ", absl::StrJoin(values.files, "|"), ") files=-f ;;\n", "    ",
                  absl::StrJoin(values.folders, "|"), ") files=-d ;;\n", "    ?*) return ;;\n",
                  "    *)\n      case $command in\n");
  for (const CommandInfo* command : Flatten(root)) {
    absl::StrAppend(&script, "        ", Quote(WithSlash(command->path)), ")\n");
    absl::StrAppend(&script, "          words=$common");
    if (command != &root) absl::StrAppend(&script, "' '", Quote(absl::StrJoin(OptionNames(*command), " ")));
    absl::StrAppend(&script, "\n");
    if (!Words(*command).empty()) {
      absl::StrAppend(&script, "          [[ $word == -* ]] || words=", Quote(JoinedWords(*command)), " ;;\n");
    } else if (TakesFiles(*command)) {
      absl::StrAppend(&script, "          [[ $word == -* ]] || { words=; files=-f; } ;;\n");
    } else {
      absl::StrAppend(&script, "          ;;\n");
    }
  }
  absl::StrAppend(&script,
                  "      esac ;;\n"
                  "  esac\n"
                  "  if [[ -n $files ]]; then\n"
                  "    compopt -o filenames 2>/dev/null\n"
                  "    mapfile -t COMPREPLY < <(compgen \"$files\" -- \"$word\")\n"
                  "  else\n"
                  "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
                  "  fi\n"
                  "}\n"
                  "complete -F _triton_client triton-client\n");
  return script;
}

// 'name:description' for zsh's _describe.
std::string Described(const std::string& name, const std::string& description) {
  return Quote(absl::StrCat(name, ":", description));
}

std::string DescribedOptions(const CommandInfo& command) {
  std::string items;
  for (const OptionInfo& option : command.options) {
    for (const std::string& name : option.names) absl::StrAppend(&items, " ", Described(name, option.description));
  }
  return items;
}

std::string ZshScript(const CommandInfo& root) {
  const Values values = ValuesOf(root);
  std::string script = absl::StrCat(
      "#compdef triton-client\n"
      "# Completes triton-client in zsh: source <(triton-client completion zsh)\n"
      "_triton_client() {\n"
      "  local command= option= at\n"
      "  local -a verbs flags\n"
      "  local files=\n"
      "  for ((at = 2; at < CURRENT; at++)); do\n"
      "    case $words[at] in\n"
      "      (",
      absl::StrJoin(values.any, "|"),
      ")\n"
      "        ((at + 1 == CURRENT)) && option=$words[at]\n"
      "        ((at++)) ;;\n"
      "      (*)\n"
      "        case $command/$words[at] in\n"
      "          (",
      CommandPatterns(root),
      ")\n"
      "            command=${command:+$command/}$words[at] ;;\n"
      "        esac ;;\n"
      "    esac\n"
      "  done\n"
      "  case $option in\n");
  for (const auto& [name, choices] : values.choices)
    absl::StrAppend(&script, "    (", name, ") compadd -- ", absl::StrJoin(choices, " "), "; return ;;\n");
  absl::StrAppend(&script, "    (", absl::StrJoin(values.files, "|"), ") _files; return ;;\n", "    (",
                  absl::StrJoin(values.folders, "|"), ") _files -/; return ;;\n", "    (?*) return 1 ;;\n", "  esac\n",
                  "  case $command in\n");
  for (const CommandInfo* command : Flatten(root)) {
    absl::StrAppend(&script, "    (", Quote(WithSlash(command->path)), ")\n      flags=(", DescribedOptions(*command),
                    " )\n");
    absl::StrAppend(&script, "      verbs=(");
    for (const auto& [word, description] : Words(*command)) absl::StrAppend(&script, " ", Described(word, description));
    absl::StrAppend(&script, " )\n");
    absl::StrAppend(&script, TakesFiles(*command) ? "      files=1 ;;\n" : "      ;;\n");
  }
  absl::StrAppend(&script, "  esac\n  [[ -n $command ]] && flags+=(", DescribedOptions(root),
                  " )\n"
                  "  if [[ $words[CURRENT] == -* ]]; then\n"
                  "    _describe -o option flags\n"
                  "  elif (( $#verbs )); then\n"
                  "    _describe command verbs\n"
                  "  elif [[ -n $files ]]; then\n"
                  "    _files\n"
                  "  else\n"
                  "    _describe -o option flags\n"
                  "  fi\n"
                  "}\n"
                  "if [[ $funcstack[1] == _triton-client ]]; then\n"
                  "  _triton_client \"$@\"\n"
                  "else\n"
                  "  compdef _triton_client triton-client\n"
                  "fi\n");
  return script;
}

// fish quotes with the same marks, but escapes within them.
std::string FishQuote(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

// Whether the words so far name the command.
std::string FishCondition(const CommandInfo& command) {
  if (command.path.empty()) return "__fish_use_subcommand";
  std::string condition = absl::StrCat(
      "__fish_seen_subcommand_from ", absl::StrReplaceAll(command.path, {{" ", "; and __fish_seen_subcommand_from "}}));
  if (!command.commands.empty()) {
    absl::StrAppend(&condition, "; and not __fish_seen_subcommand_from ", absl::StrJoin(CommandNames(command), " "));
  }
  return condition;
}

std::string FishOption(const OptionInfo& option) {
  std::string words;
  for (const std::string& name : option.names)
    absl::StrAppend(&words, name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1));
  if (option.TakesFile()) {
    absl::StrAppend(&words, " -r -F");
  } else if (option.TakesFolder()) {
    absl::StrAppend(&words, " -x -a '(__fish_complete_directories)'");
  } else if (!option.value.empty()) {
    absl::StrAppend(&words, " -x", option.choices.empty() ? "" : " -a ",
                    option.choices.empty() ? "" : FishQuote(absl::StrJoin(option.choices, " ")));
  }
  return absl::StrCat(words, " -d ", FishQuote(option.description));
}

std::string FishScript(const CommandInfo& root) {
  constexpr char kComplete[] = "complete -c triton-client";
  std::string script =
      absl::StrCat("# Completes triton-client in fish: triton-client completion fish | source\n", kComplete, " -f\n");
  for (const CommandInfo* command : Flatten(root)) {
    const std::string when = absl::StrCat(kComplete, " -n ", FishQuote(FishCondition(*command)));
    for (const auto& [word, description] : Words(*command))
      absl::StrAppend(&script, when, " -a ", word, " -d ", FishQuote(description), "\n");
    // The program's own options go with all commands.
    for (const OptionInfo& option : command->options)
      absl::StrAppend(&script, command == &root ? kComplete : when, FishOption(option), "\n");
    if (TakesFiles(*command)) absl::StrAppend(&script, when, " -F\n");
  }
  return script;
}

}  // namespace

Command AddCompletion(CLI::App* root) {
  auto shell = std::make_shared<std::string>();
  CLI::App* app = root->add_subcommand("completion", "Print a script that completes commands and options in a shell");
  app->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->type_name("bash|zsh|fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return {app, [root, shell](const Session& session) {
            const CommandInfo program = DescribeCommands(*root);
            session.console.out << (*shell == "bash"  ? BashScript(program)
                                    : *shell == "zsh" ? ZshScript(program)
                                                      : FishScript(program));
            return kDone;
          }};
}

}  // namespace tritond::client
