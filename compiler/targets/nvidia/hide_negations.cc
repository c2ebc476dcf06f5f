// SPDX-License-Identifier: Apache-2.0
// ptxas merges two instructions for the greater or lesser one of 32-bit integers into one of three operands. It loses
// the negation of the second operand of the inner one (seen in 12.8 and 13.0, for sm_90 and sm_100):
//
//   neg.s32 %n, %x;  max.s32 %m, %y, %n;  max.s32 %r, %m, %z;   ->   VIMNMX3 y, x, z
//
// It negates numbers of 16 bits in 32, and takes the result for one of 16 bits, which it is not for -32768.
// Comparisons, shifts to the right, extensions and products of it are wrong then (seen in 13.0):
//
//   neg.s16 %n, %x;  cvt.s32.s16 %r, %n;   ->   32768 for x = -32768
//
// ptxas does not see that ~x + 1 is -x. It adds the 1 in the instruction for the inner one. The text is changed rather
// than LLVM's IR, for code generation makes negations too.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "compiler/targets/nvidia/codegen.h"

namespace tritond::compiler::nvidia {
namespace {

constexpr absl::string_view kBlanks = " \t";

// What follows the blanks that `text` begins with.
absl::string_view AfterBlanks(absl::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kBlanks), text.size()));
}

// Without the negations of numbers of `bits` bits.
std::string Hide(absl::string_view ptx, absl::string_view bits) {
  const std::string negation = absl::StrCat("neg.s", bits, " ");
  std::string text;
  size_t done = 0;
  for (size_t at = ptx.find(negation); at != absl::string_view::npos; at = ptx.find(negation, at + 1)) {
    // Under a predicate, or on a line of others, it stays.
    const size_t line = ptx.rfind('\n', at) + 1, end = ptx.find(';', at);
    const size_t comma = ptx.find(',', at);
    if (!AfterBlanks(ptx.substr(line, at - line)).empty() || end == absl::string_view::npos || comma > end) continue;
    const absl::string_view to = AfterBlanks(ptx.substr(at, comma - at).substr(negation.size()));
    const absl::string_view from = AfterBlanks(ptx.substr(comma + 1, end - comma - 1));
    absl::StrAppend(&text, ptx.substr(done, at - done), "not.b", bits, " \t", to, ", ", from, ";\n\tadd.s", bits, " \t",
                    to, ", ", to, ", 1");
    done = end;
  }
  return absl::StrCat(text, ptx.substr(done));
}

}  // namespace

std::string HideNegations(absl::string_view ptx) {
  const std::string text = Hide(ptx, "16");
  const bool compares = absl::StrContains(text, "max.s32") || absl::StrContains(text, "min.s32");
  return compares ? Hide(text, "32") : text;
}

}  // namespace tritond::compiler::nvidia
