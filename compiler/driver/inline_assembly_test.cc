// SPDX-License-Identifier: Apache-2.0
#include "compiler/driver/inline_assembly.h"

#include <gtest/gtest.h>

namespace tritond::compiler {
namespace {

constexpr char kPtx[] =
    ".version 8.0\n"                   // 1
    ".entry k() {\n"                   // 2
    "\tmov.u32 %r1, %tid.x;\n"         // 3
    "\t// begin inline asm\n"          // 4: the compiler's own
    "\tmov.u64 %rd1, %globaltimer;\n"  // 5
    "\t// end inline asm\n"            // 6
    "\t// begin inline asm\n"          // 7
    "\tfrobnicate.b32 %r2, %r1;\n"     // 8
    "\t// end inline asm\n"            // 9
    "\t// begin inline asm\n"          // 10
    "\t{ .reg .pred p; \n"             // 11
    "setp.eq.u32 p, %r2, $; }\n"       // 12
    "\t// end inline asm\n"            // 13
    "\tret;\n}\n";                     // 14

const std::vector<InlineAssembly> kPieces = {{"frobnicate.b32 $0, $1;", {3, 5}},
                                             {"{ .reg .pred p; \nsetp.eq.u32 p, $0, $$; }", {9, 7}}};

int LineOf(const InlineAssembly* culprit) { return culprit == nullptr ? 0 : static_cast<int>(culprit->where.line); }

int LineOf(const std::string& complaint) { return LineOf(FindCulprit(kPieces, kPtx, complaint)); }

TEST(FindCulprit, IsThePieceWhoseLineIsNamed) {
  EXPECT_EQ(LineOf("ptxas kernel.ptx, line 8; error   : Not a name of any known instruction: 'frobnicate'"), 3);
  EXPECT_EQ(LineOf("ptxas application ptx input, line 12; error   : Arguments mismatch"), 9);
  EXPECT_EQ(LineOf("ptxas info : x\nptxas kernel.ptx, line 5; warning : y\nptxas kernel.ptx, line 8; error : z"), 3);
}

TEST(FindCulprit, OurOwnTextIsOursAlsoWhereItIsInline) {
  for (const char* complaint :
       {"ptxas kernel.ptx, line 3; error   : Unknown symbol", "ptxas kernel.ptx, line 5; error : Unknown symbol",
        "ptxas kernel.ptx, line 99; error : Parsing error", "ptxas kernel.ptx, line 8; warning : Slow", "no line", ""})
    EXPECT_EQ(LineOf(complaint), 0) << complaint;
  EXPECT_EQ(FindCulprit({}, kPtx, "ptxas kernel.ptx, line 8; error : x"), nullptr);
}

TEST(FindCulprit, AWordThatIsQuotedWithoutALineLeadsToItsPiece) {
  EXPECT_EQ(LineOf("ptxas fatal   : Unresolved extern function 'frobnicate'"), 3);
  EXPECT_EQ(LineOf("ptxas fatal   : Unresolved extern function 'ours'"), 0);
}

TEST(FindCulprit, APieceThatLeavesSomethingOpenIsToBlameForWhatFollows) {
  const std::string later = "ptxas kernel.ptx, line 14; error : Parsing error near 'ret'";
  for (const char* open : {"{ mov.b32 $0, $1;", "mov.b32 $0, $1", "/* mov", "}", "mov.b32 $0, \"x;", "mov.b32 ($0;",
                           "// end inline asm\nmov.b32 $0, $1;"})
    EXPECT_EQ(LineOf(FindCulprit({{open, {4, 1}}}, kPtx, later)), 4) << open;
  for (const char* closed :
       {"{ mov.b32 $0, $1; }", "mov.b32 $0, ${1:x};", "/* { */ mov.b32 $0, $1;", "", "L1:", "mov.b32 $0, $1; // {"})
    EXPECT_EQ(FindCulprit({{closed, {4, 1}}}, kPtx, later), nullptr) << closed;
}

TEST(FindCulprit, ARefusalOfLlvmIsBlamedOnTheFirstPiece) {
  EXPECT_EQ(LineOf(FindCulprit(kPieces, "", "couldn't allocate output register for constraint 'q'")), 3);
  EXPECT_EQ(FindCulprit(kPieces, "", "Cannot select: intrinsic"), nullptr);
}

}  // namespace
}  // namespace tritond::compiler
