// SPDX-License-Identifier: Apache-2.0
// triton-client completion and man: what shells and readers are told is what the command line takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/cli/command_info.h"
#include "client/cli/command_line.h"
#include "client/cli/command_line_fixture.h"

namespace tritond::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

using Words = std::vector<std::string>;

// What a command of the system prints, on both streams.
std::string Shell(const std::string& command) {
  std::string text;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "no shell";
  char buffer[4096];
  while (const size_t count = std::fread(buffer, 1, sizeof(buffer), pipe)) text.append(buffer, count);
  pclose(pipe);
  return text;
}

bool IsInstalled(const std::string& program) { return !Shell("command -v " + program).empty(); }

class Completion : public CommandLine {
 protected:
  Completion() : tree_("unix:none"), program_(DescribeCommands(tree_.app)) {}

  std::string Print(const Words& words) {
    EXPECT_EQ(Run(words), kDone) << err_.str();
    return out_.str();
  }

  // What bash makes of lines whose last words are being typed.
  std::vector<Words> CompleteAll(const std::vector<Words>& lines) {
    std::string script = Print({"completion", "bash"}) +
                         "try() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _triton_client; "
                         "for reply in \"${COMPREPLY[@]}\"; do echo \"$reply\"; done; echo .; }\n";
    for (const Words& line : lines) script += "try triton-client '" + absl::StrJoin(line, "' '") + "'\n";
    const std::string printed = Shell("bash --norc --noprofile " + Write("try.bash", script));
    std::vector<Words> replies;
    for (absl::string_view reply : absl::StrSplit(printed, ".\n"))
      replies.push_back(absl::StrSplit(reply, '\n', absl::SkipEmpty()));
    replies.pop_back();
    EXPECT_EQ(replies.size(), lines.size()) << printed;
    replies.resize(lines.size());
    return replies;
  }
  Words Complete(const Words& line) { return CompleteAll(std::vector<Words>{line})[0]; }

  static Words NamesOf(const std::vector<OptionInfo>& options) {
    Words names;
    for (const OptionInfo& option : options) names.insert(names.end(), option.names.begin(), option.names.end());
    return names;
  }

  CommandTree tree_;
  const CommandInfo program_;
};

TEST_F(Completion, KnowsTheOptionsThatHelpShows) {
  int commands = 0;
  for (const CommandInfo* command : Flatten(program_)) {
    Words words = absl::StrSplit(command->path, ' ', absl::SkipEmpty());
    words.push_back("--help");
    std::set<std::string> shown, known = {"-h", "--help"};
    for (const absl::string_view line : absl::StrSplit(Print(words), '\n')) {
      if (!absl::StartsWith(line, "  -")) continue;
      const absl::string_view names = line.substr(2, line.find(' ', 2) - 2);
      for (const absl::string_view name : absl::StrSplit(names, ',')) shown.insert(std::string(name));
    }
    for (const std::string& name : NamesOf(command->options)) known.insert(name);
    EXPECT_EQ(shown, known) << command->path;
    ++commands;
  }
  EXPECT_GE(commands, 24);
}

TEST_F(Completion, BashOffersEveryOptionOfEachCommand) {
  std::vector<Words> lines;
  for (const CommandInfo* command : Flatten(program_)) {
    lines.push_back(absl::StrSplit(command->path, ' ', absl::SkipEmpty()));
    lines.back().push_back("-");
  }
  const std::vector<Words> replies = CompleteAll(lines);
  for (size_t i = 0; i < lines.size(); ++i) {
    Words expected = NamesOf(program_.options);
    const CommandInfo& command = *Flatten(program_)[i];
    if (&command != &program_) {
      const Words own = NamesOf(command.options);
      expected.insert(expected.end(), own.begin(), own.end());
    }
    EXPECT_THAT(replies[i], UnorderedElementsAreArray(expected)) << command.path;
  }
}

TEST_F(Completion, BashOffersEveryCommand) {
  std::vector<Words> lines;
  std::vector<const CommandInfo*> parents;
  for (const CommandInfo* command : Flatten(program_)) {
    if (command->commands.empty()) continue;
    parents.push_back(command);
    lines.push_back(absl::StrSplit(command->path, ' ', absl::SkipEmpty()));
    lines.back().push_back("");
  }
  EXPECT_EQ(lines.size(), 3u);  // triton-client, bundle, quarantine
  const std::vector<Words> replies = CompleteAll(lines);
  for (size_t i = 0; i < lines.size(); ++i) {
    Words names;
    for (const CommandInfo& command : parents[i]->commands) names.push_back(command.name());
    EXPECT_THAT(replies[i], UnorderedElementsAreArray(names));
  }
}

TEST_F(Completion, BashCompletesWhatIsBeingTyped) {
  EXPECT_THAT(Complete({"comp"}), UnorderedElementsAre("compile", "completion"));
  EXPECT_THAT(Complete({"bundle", "e"}), UnorderedElementsAre("export", "extract"));
  EXPECT_THAT(Complete({"bundle", "list", "--tr"}), ElementsAre("--trusted-keys"));
  EXPECT_THAT(Complete({"compile", "--launch-abi", "n"}), ElementsAre("none"));
  EXPECT_THAT(Complete({"compile", "--emit", ""}),
              UnorderedElementsAre("binary", "asm", "llir", "ttgir", "ttir", "disassembly"));
  EXPECT_THAT(Complete({"compile", "--emit", "=", "b"}), ElementsAre("binary"));
  EXPECT_THAT(Complete({"compile", "--emit", "="}), testing::SizeIs(6));
  EXPECT_THAT(Complete({"completion", ""}), UnorderedElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(Complete({"compile", "--target", ""}), IsEmpty());
  EXPECT_THAT(Complete({"frobnicate"}), IsEmpty());
}

TEST_F(Completion, BashTakesNoValueForACommand) {
  EXPECT_THAT(Complete({"--server", "stats", "comp"}), UnorderedElementsAre("compile", "completion"));
  EXPECT_THAT(Complete({"--server", "=", "stats", "comp"}), UnorderedElementsAre("compile", "completion"));
  EXPECT_THAT(Complete({"--json", "bundle", "--server", "import", "e"}), UnorderedElementsAre("export", "extract"));
}

TEST_F(Completion, BashOffersFilesWhereTheyBelong) {
  Write("a kernel.ttir", "");
  Write("folder/k.ttir", "");
  EXPECT_THAT(Complete({"compile", Path("a")}), ElementsAre(Path("a kernel.ttir")));
  EXPECT_THAT(Complete({"compile", "-o", Path("fol")}), ElementsAre(Path("folder")));
  EXPECT_THAT(Complete({"prebuild", "--out-dir", Path("")}), ElementsAre(Path("folder")));
  EXPECT_THAT(Complete({"bundle", "extract", Path("folder/")}), ElementsAre(Path("folder/k.ttir")));
  EXPECT_THAT(Complete({"stats", Path("a")}), IsEmpty());
}

TEST_F(Completion, ZshFishAndTheManualPageHaveEveryCommandAndOption) {
  const std::string zsh = Print({"completion", "zsh"}), fish = Print({"completion", "fish"});
  const std::string page = absl::StrReplaceAll(Print({"man"}), {{"\\-", "-"}});
  for (const CommandInfo* command : Flatten(program_)) {
    const bool is_root = command == &program_;
    const std::string in_zsh = "    ('" + absl::StrReplaceAll(command->path, {{" ", "/"}}) + "')\n";
    ASSERT_THAT(zsh, HasSubstr(in_zsh));
    const std::string zsh_part = zsh.substr(zsh.find(in_zsh), zsh.find(";;", zsh.find(in_zsh)) - zsh.find(in_zsh));
    const std::string heading = is_root ? ".SH OPTIONS\n" : ".SS \\fBtriton-client " + command->path + "\\fR ";
    if (command->commands.empty() || is_root) {
      ASSERT_THAT(page, HasSubstr(heading));
    }
    const size_t begin = page.find(heading);
    const std::string page_part = begin == page.npos ? "" : page.substr(begin, page.find("\n.S", begin) - begin);
    for (const OptionInfo& option : command->options) {
      for (const std::string& name : option.names) {
        EXPECT_THAT(zsh_part, HasSubstr(" '" + name + ":")) << command->path;
        EXPECT_THAT(page_part, HasSubstr("\\fB" + name + "\\fR")) << command->path;
        std::string seen;
        for (const absl::string_view word : absl::StrSplit(command->path, ' ', absl::SkipEmpty()))
          absl::StrAppend(&seen, seen.empty() ? "" : "; and ", "__fish_seen_subcommand_from ", word);
        const std::string flag = name[1] == '-' ? " -l " + name.substr(2) + " " : " -s " + name.substr(1) + " ";
        bool found = false;
        for (const absl::string_view line : absl::StrSplit(fish, '\n'))
          found = found || (absl::StrContains(line, flag) && absl::StrContains(line, is_root ? "complete -c" : seen));
        EXPECT_TRUE(found) << command->path << flag;
      }
    }
    for (const CommandInfo& below : command->commands) {
      EXPECT_THAT(zsh_part, HasSubstr(" '" + below.name() + ":"));
      EXPECT_THAT(fish, HasSubstr(" -a " + below.name() + " -d "));
    }
  }
}

TEST_F(Completion, ShellsAndRoffFindNoFault) {
  EXPECT_EQ(Shell("bash -n " + Write("t.bash", Print({"completion", "bash"}))), "");
  if (IsInstalled("zsh")) EXPECT_EQ(Shell("zsh -n " + Write("t.zsh", Print({"completion", "zsh"}))), "");
  if (IsInstalled("fish")) EXPECT_EQ(Shell("fish -n " + Write("t.fish", Print({"completion", "fish"}))), "");
  if (!IsInstalled("groff")) GTEST_SKIP() << "no groff here";
  EXPECT_EQ(Shell("groff -man -ww -z -Tascii " + Write("t.1", Print({"man"}))), "");
  const std::string read = Shell("groff -man -Tascii -P-cbou " + Path("t.1"));
  EXPECT_THAT(read, HasSubstr("triton-client bundle extract [OPTIONS] FILE [KEY]..."));
  EXPECT_THAT(read, testing::ContainsRegex("Exit +status: +0 +done"));  // A line is filled with spaces.
}

TEST_F(Completion, OtherShellsAreRefused) {
  EXPECT_EQ(Run({"completion", "tcsh"}), kUsage);
  EXPECT_THAT(err_.str(), HasSubstr("{bash,zsh,fish}"));
  EXPECT_EQ(Run({"completion"}), kUsage);
}

}  // namespace
}  // namespace tritond::client
