// SPDX-License-Identifier: Apache-2.0
#include "tests/structure/assembly_counts.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tritond::structure {
namespace {

// Instructions that begin like this and have all of these parts.
struct Column {
  const char* title;
  const char* begin;
  std::array<const char*, 2> parts = {"", ""};
};

constexpr Column kColumns[] = {
    {"wgmma", "wgmma.mma_async"},
    {"groups", "wgmma.commit_group"},
    {"held", "wgmma.wait_group", {".aligned 1"}},   // waits that leave a group in flight
    {"ended", "wgmma.wait_group", {".aligned 0"}},  // waits for all groups
    {"mma", "mma.sync"},
    {"ldmatrix", "ldmatrix"},
    {"stmatrix", "stmatrix"},
    {"copies", "cp.async.c"},
    {"bulk", "cp.async.bulk", {".shared::cluster.global"}},
    {"out", "cp.async.bulk", {".global.shared::cta"}},
    {"arrivals", "mbarrier.try_wait"},
    {"barriers", "bar"},
    {"roles", "setmaxnreg"},
    {"shuffles", "shfl"},
    {"redux", "redux"},
    {"atomics", "atom"},
    {"sums", "red."},
    {"loads", "ld.global"},
    {"by 16", "ld.global", {".v4.b32"}},
    {"stores", "st.global"},
    {"by 16", "st.global", {".v4.b32"}},
};

constexpr int kNameWidth = 78;

// Without a predicate, and without the bracket that begins a scope.
absl::string_view Instruction(absl::string_view text) {
  text = absl::StripLeadingAsciiWhitespace(text);
  while (absl::ConsumePrefix(&text, "{")) text = absl::StripLeadingAsciiWhitespace(text);
  if (!absl::StartsWith(text, "@")) return text;
  return absl::StripLeadingAsciiWhitespace(text.substr(std::min(text.find(' '), text.size())));
}

bool IsOf(const Column& column, absl::string_view instruction) {
  return absl::StartsWith(instruction, column.begin) &&
         std::all_of(column.parts.begin(), column.parts.end(),
                     [&](const char* part) { return absl::StrContains(instruction, part); });
}

int Width(const Column& column) { return std::max<int>(absl::string_view(column.title).size(), 3) + 1; }

}  // namespace

std::string TableHead() {
  std::string head = absl::StrFormat("%-*s", kNameWidth, "kernel");
  for (const Column& column : kColumns) absl::StrAppendFormat(&head, "%*s", Width(column), column.title);
  return absl::StrCat(head, "\n");
}

std::string TableRow(const std::string& kernel, absl::string_view ptx) {
  std::array<int, std::size(kColumns)> counts{};
  // A line may hold several instructions. Comments begin like none of them.
  for (absl::string_view text : absl::StrSplit(ptx, absl::ByAnyChar(";\n"))) {
    const absl::string_view instruction = Instruction(text);
    for (size_t i = 0; i < counts.size(); ++i) counts[i] += IsOf(kColumns[i], instruction);
  }
  std::string row = absl::StrFormat("%-*s", kNameWidth, kernel);
  for (size_t i = 0; i < counts.size(); ++i)
    absl::StrAppendFormat(&row, "%*s", Width(kColumns[i]), counts[i] ? absl::StrCat(counts[i]) : ".");
  return absl::StrCat(row, "\n");
}

}  // namespace tritond::structure
