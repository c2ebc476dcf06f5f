// SPDX-License-Identifier: Apache-2.0
// A statement is a line. It is an instruction where its first word is the name of one. Directives begin with a dot,
// labels end with a colon, assignments have an equals sign. Names are taken by how they begin. Operands are made of few
// characters, so that nothing else begins in the middle of a line.
#include "compiler/targets/amd/inline_assembly.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tritond::compiler::amd {
namespace {

constexpr absl::string_view kFamilies[] = {"s_", "v_", "ds_", "buffer_", "flat_", "global_", "scratch_"};
// That leave the statement after them, which LLVM would have to know.
constexpr absl::string_view kJumps[] = {"s_branch", "s_cbranch", "s_call",   "s_endpgm",
                                        "s_rfe",    "s_setpc",   "s_swappc", "s_trap"};
constexpr absl::string_view kPunctuation = " \t_.,:[]()+-$|&!";

bool StartsWithAny(absl::string_view name, absl::Span<const absl::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](absl::string_view beginning) { return absl::StartsWith(name, beginning); });
}

bool IsName(absl::string_view word) {
  return std::all_of(word.begin(), word.end(),
                     [](char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_'; });
}

bool IsOperandText(absl::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (!absl::ascii_isalnum(text[i]) && !absl::StrContains(kPunctuation, text[i])) return false;
    // LLVM has alternatives and more after a dollar.
    if (text[i] == '$' && (i + 1 == text.size() || !absl::ascii_isdigit(text[i + 1]))) return false;
  }
  return true;
}

bool IsInstruction(absl::string_view statement) {
  const absl::string_view name = statement.substr(0, statement.find_first_of(" \t"));
  return IsName(name) && StartsWithAny(name, kFamilies) && !StartsWithAny(name, kJumps) && IsOperandText(statement);
}

}  // namespace

absl::Status CheckInlineAssembly(absl::string_view text) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = line.substr(0, line.find(';'));  // where a comment begins
    const absl::string_view statement = absl::StripAsciiWhitespace(line.substr(0, line.find("//")));
    if (statement.empty() || IsInstruction(statement)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("in which '", statement, "' is no instruction of an AMD GPU that goes on with the next one"));
  }
  return absl::OkStatus();
}

}  // namespace tritond::compiler::amd
