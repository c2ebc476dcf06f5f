// SPDX-License-Identifier: Apache-2.0
// What the code does not hold because ptxas or LLVM's back end gets it wrong: define_phis.cc, expand_abs.cc,
// guard_high_products.cc, guard_rotations.cc, guard_unsigned.cc, hide_negations.cc, keep_loops.cc, mask_words.cc,
// renew_operands.cc, select_signed_bits.cc, widen_extrema.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "compiler/targets/nvidia/codegen.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The text of a module after `pass`.
std::string After(void (*pass)(llvm::Module&), const std::string& text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(text, error, context);
  if (!module) return error.getMessage().str();
  pass(*module);
  std::string out;
  llvm::raw_string_ostream stream(out);
  if (llvm::verifyModule(*module, &stream)) return out;
  module->print(stream, nullptr);
  return out;
}

std::string Loop(const std::string& body) {
  return "define void @f(i32 %n) {\nentry:\n  br label %loop\nloop:\n"
         "  %i = phi i32 [ 0, %entry ], [ %next, %loop ]\n" +
         body +
         "  %next = add i32 %i, 1\n  %again = icmp slt i32 %next, 2\n  br i1 %again, label %loop, label %end\n"
         "end:\n  ret void\n}\n";
}

TEST(KeepWgmmaLoops, KeepsLoopsFromBeingUnrolled) {
  const char* wgmma = "  call void asm sideeffect \"wgmma.mma_async.sync.aligned.m64n8k16\", \"~{memory}\"()\n";
  EXPECT_THAT(After(KeepWgmmaLoops, Loop(wgmma)), HasSubstr("llvm.loop.unroll.disable"));
  EXPECT_THAT(After(KeepWgmmaLoops, Loop("")), Not(HasSubstr("llvm.loop")));
}

// A loop with a product whose operand a is `a`, and another one of what the loop makes.
std::string TwoProducts(const std::string& a, const std::string& wait) {
  const std::string product = " = call i32 asm sideeffect \"wgmma.mma_async.sync.aligned;";
  return Loop("  %m = xor i32 %i, 5\n  %s" + product + wait + "\", \"=r,r,l,0\"(i32 " + a + ", i64 0, i32 0)\n  %o" +
              product + "\", \"=r,r,l,0\"(i32 %m, i64 0, i32 %s)\n");
}

TEST(RenewOperands, CopiesWhatTheLoopDoesNotChange) {
  const std::string wait = "wgmma.wait_group.sync.aligned 0;";
  const std::string text = After(RenewOperands, TwoProducts("%n", wait));
  EXPECT_THAT(text, HasSubstr("%0 = call i32 asm sideeffect \"prmt.b32 $0, $1, 0, 0x3210;\", \"=r,r\"(i32 %n)"));
  EXPECT_THAT(text, HasSubstr("(i32 %0, i64 0, i32 0)"));
  EXPECT_THAT(text, HasSubstr("(i32 %m, i64 0, i32 %s)"));
}

TEST(RenewOperands, LeavesWhatTheLoopMakesAndWhatIsInFlight) {
  const std::string wait = "wgmma.wait_group.sync.aligned 0;";
  EXPECT_THAT(After(RenewOperands, TwoProducts("%i", wait)), Not(HasSubstr("prmt")));
  EXPECT_THAT(After(RenewOperands, TwoProducts("%n", "")), Not(HasSubstr("prmt")));
}

TEST(RenewOperands, CopiesWhatAnotherProductHasTakenInTheIterationBefore) {
  const std::string product = " = call i32 asm sideeffect \"wgmma.mma_async.sync.aligned;\", \"=r,r,l,0\"(i32 ";
  const std::string carries = "  %c = phi i32 [ %n, %entry ], [ %m, %loop ]\n  %m = xor i32 %i, 5\n  %s" + product;
  const std::string text =
      After(RenewOperands, Loop(carries + "%c, i64 0, i32 0)\n  %o" + product + "%m, i64 0, i32 %s)\n"));
  EXPECT_THAT(text, HasSubstr("\"=r,r\"(i32 %c)"));
  EXPECT_THAT(text, HasSubstr("(i32 %m, i64 0, i32 %s)"));
  EXPECT_THAT(After(RenewOperands, Loop(carries + "%c, i64 0, i32 0)\n")), Not(HasSubstr("prmt")));
}

TEST(DefinePhis, WhatNothingHasWrittenIsZero) {
  const std::string text = After(DefinePhis, R"(
define void @f(i32 %n, float %y, <2 x half> %v) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %a = phi i32 [ poison, %entry ], [ %n, %loop ]
  %b = phi float [ undef, %entry ], [ %y, %loop ]
  %c = phi <2 x half> [ poison, %entry ], [ %v, %loop ]
  %p = phi ptr addrspace(1) [ poison, %entry ], [ %p, %loop ]
  %next = add i32 %i, 1
  br label %loop
})");
  EXPECT_THAT(text, HasSubstr("%i = phi i32 [ 0, %entry ], [ %next, %loop ]"));
  EXPECT_THAT(text, HasSubstr("%a = phi i32 [ 0, %entry ], [ %n, %loop ]"));
  EXPECT_THAT(text, HasSubstr("%b = phi float [ 0.000000e+00, %entry ], [ %y, %loop ]"));
  EXPECT_THAT(text, HasSubstr("%c = phi <2 x half> [ zeroinitializer, %entry ], [ %v, %loop ]"));
  EXPECT_THAT(text, HasSubstr("%p = phi ptr addrspace(1) [ null, %entry ], [ %p, %loop ]"));
  EXPECT_THAT(text, Not(HasSubstr("poison")));
}

std::string Abs(const std::string& type, const std::string& may_be_least) {
  return "declare " + type + " @llvm.abs." + type + "(" + type + ", i1)\ndefine " + type + " @f(" + type +
         " %x) {\n  %m = call " + type + " @llvm.abs." + type + "(" + type + " %x, i1 " + may_be_least + ")\n  ret " +
         type + " %m\n}\n";
}

TEST(ExpandAbs, TakesTheLargerOfBothSigns) {
  for (const std::string type : {"i32", "i64"}) {
    const std::string after = After(ExpandAbs, Abs(type, "false"));
    EXPECT_THAT(after, HasSubstr("max.s" + type.substr(1) + " $0, $1, n;"));
    EXPECT_THAT(after, Not(HasSubstr("call " + type + " @llvm.abs")));
  }
}

TEST(ExpandAbs, WidensHalves) {
  EXPECT_THAT(After(ExpandAbs, Abs("i16", "false")), HasSubstr("call i32 @llvm.abs.i32(i32 %1, i1 true)"));
}

TEST(ExpandAbs, LeavesWhatHasNoLeastInteger) {
  EXPECT_THAT(After(ExpandAbs, Abs("i32", "true")), HasSubstr("call i32 @llvm.abs"));
  EXPECT_THAT(After(ExpandAbs, Abs("i8", "false")), HasSubstr("call i8 @llvm.abs"));
}

std::string Magnitude(const std::string& compare) {
  return "declare float @llvm.fabs.f32(float)\ndefine i1 @f(float %x) {\n  %a = call float @llvm.fabs.f32(float %x)\n" +
         std::string("  %c = fcmp ") + compare + "\n  ret i1 %c\n}\n";
}

TEST(GuardMagnitudes, AskWhetherTheyAreNumbers) {
  for (const std::string compare :
       {"ogt float %a, -2.5e-1", "oge float %a, -1.0", "olt float -1.0, %a", "one float %a, -1.0"})
    EXPECT_THAT(After(GuardMagnitudes, Magnitude(compare)), HasSubstr("fcmp ord float %x, 0.0")) << compare;
  for (const std::string compare : {"ult float %a, -1.0", "uge float -1.0, %a", "ueq float %a, -1.0"})
    EXPECT_THAT(After(GuardMagnitudes, Magnitude(compare)), HasSubstr("fcmp uno float %x, 0.0")) << compare;
}

TEST(GuardMagnitudes, LeavesOtherComparisons) {
  for (const std::string compare :
       {"ogt float %a, 2.5e-1", "ogt float %a, 0.0", "ogt float %x, -1.0", "ugt float %a, -1.0"})
    EXPECT_THAT(After(GuardMagnitudes, Magnitude(compare)), HasSubstr("fcmp " + compare.substr(0, 3))) << compare;
}

std::string Extremum(const std::string& name, const std::string& type) {
  return "declare " + type + " @llvm." + name + "." + type + "(" + type + ", " + type + ")\ndefine " + type + " @f(" +
         type + " %x, " + type + " %y) {\n  %m = call " + type + " @llvm." + name + "." + type + "(" + type + " %x, " +
         type + " %y)\n  ret " + type + " %m\n}\n";
}

TEST(WidenExtrema, ComputesNarrowOnesIn32Bits) {
  for (const std::string type : {"i8", "i16"}) {
    EXPECT_THAT(After(WidenExtrema, Extremum("smin", type)), HasSubstr("sext " + type + " %x to i32"));
    const std::string after = After(WidenExtrema, Extremum("umax", type));
    EXPECT_THAT(after, HasSubstr("zext " + type + " %y to i32"));
    EXPECT_THAT(after, HasSubstr("call i32 @llvm.umax.i32"));
    EXPECT_THAT(after, HasSubstr("to " + type + "\n"));
  }
  EXPECT_THAT(After(WidenExtrema, Extremum("smin", "i32")), HasSubstr("call i32 @llvm.smin.i32(i32 %x, i32 %y)"));
}

std::string OfShifts(const std::string& operation, const std::string& shift, int right) {
  return "define i64 @f(i64 %x) {\n  %h = shl i64 %x, 44\n  %l = " + shift + " i64 %x, " + std::to_string(right) +
         "\n  %r = " + operation + "\n  ret i64 %r\n}\n";
}

TEST(GuardRotations, DisguisesTheNumberThatIsShiftedBothWays) {
  for (const std::string shift : {"ashr", "lshr"})
    EXPECT_THAT(After(GuardRotations, OfShifts("sub i64 %h, %l", shift, 20)), HasSubstr("prmt")) << shift;
  const std::string product = std::regex_replace(OfShifts("add i64 %h, %l", "ashr", 20), std::regex("shl i64 %x, 44"),
                                                 "mul i64 %x, 17592186044416");
  EXPECT_THAT(After(GuardRotations, product), HasSubstr("prmt"));
  const std::string negated = std::regex_replace(product, std::regex("17592186044416"), "-17592186044416");
  EXPECT_THAT(After(GuardRotations, negated), HasSubstr("prmt"));
}

TEST(GuardRotations, LeavesOtherShifts) {
  EXPECT_THAT(After(GuardRotations, OfShifts("add i64 %h, %l", "ashr", 21)), Not(HasSubstr("prmt")));
}

std::string ToFloat(const std::string& extension, const std::string& conversion) {
  return "define float @f(i8 %b) {\n  %x = " + extension + " i8 %b to i32\n  %f = " + conversion +
         " i32 %x to float\n  ret float %f\n}\n";
}

TEST(GuardUnsigned, KeepsTheSignFromTheConversion) {
  EXPECT_THAT(After(GuardUnsigned, ToFloat("sext", "uitofp")), HasSubstr("prmt"));
  EXPECT_THAT(After(GuardUnsigned, ToFloat("sext", "sitofp")), Not(HasSubstr("prmt")));
  EXPECT_THAT(After(GuardUnsigned, ToFloat("zext", "uitofp")), Not(HasSubstr("prmt")));
}

TEST(GuardUnsigned, ClearsTheUpperHalfOfASignExtendedByte) {
  auto text = [](const std::string& extend, const std::string& use) {
    return "declare i16 @llvm.ctpop.i16(i16)\ndefine void @f(i8 %b, ptr %p) {\n  %h = " + extend + " i8 %b to i16\n" +
           use + "  ret void\n}\n";
  };
  const std::string count = "  %c = call i16 @llvm.ctpop.i16(i16 %h)\n  store i16 %c, ptr %p\n",
                    word = "  %w = zext i16 %h to i32\n  store i32 %w, ptr %p\n", half = "  store i16 %h, ptr %p\n";
  EXPECT_THAT(After(GuardUnsigned, text("sext", count)), HasSubstr("prmt"));
  EXPECT_THAT(After(GuardUnsigned, text("sext", word)), HasSubstr("prmt"));
  EXPECT_THAT(After(GuardUnsigned, text("sext", half)), Not(HasSubstr("prmt")));
  EXPECT_THAT(After(GuardUnsigned, text("zext", count)), Not(HasSubstr("prmt")));
}

TEST(HideNegations, OfHalvesStandNowhere) {
  EXPECT_EQ(HideNegations("\tneg.s16 \t%rs1, %rs2;\n\tneg.s32 \t%r1, %r2;\n"),
            "\tnot.b16 \t%rs1, %rs2;\n\tadd.s16 \t%rs1, %rs1, 1;\n\tneg.s32 \t%r1, %r2;\n");
}

TEST(HideNegations, WritesThemAsComplements) {
  const std::string maximum = "\tmax.s32 \t%r3, %r2, %r1;\n";
  EXPECT_EQ(HideNegations("\tneg.s32 \t%r1, %r2;\n" + maximum),
            "\tnot.b32 \t%r1, %r2;\n\tadd.s32 \t%r1, %r1, 1;\n" + maximum);
  EXPECT_EQ(HideNegations("neg.s32 n, %r2;\n" + maximum), "not.b32 \tn, %r2;\n\tadd.s32 \tn, n, 1;\n" + maximum);
}

TEST(HideNegations, LeavesTextThatComparesNothing) {
  for (const std::string text : {"\tneg.s32 \t%r1, %r2;\n\tmax.s64 \t%rd3, %rd2, %rd1;\n",
                                 "\t@%p1 neg.s32 \t%r1, %r2;\n\tmax.s32 \t%r3, %r2, %r1;\n"})
    EXPECT_EQ(HideNegations(text), text);
}

TEST(MaskWords, MasksTheWordOfAHalf) {
  const std::string text =
      "define i16 @f(<2 x half> %w) {\n  %v = bitcast <2 x half> %w to <2 x i16>\n"
      "  %l = extractelement <2 x i16> %v, i64 0\n  %h = extractelement <2 x i16> %v, i64 1\n"
      "  %a = and i16 %l, 32767\n  %b = and i16 %h, 32767\n  %s = add i16 %a, %b\n"
      "  ret i16 %s\n}\n";
  const std::string after = After(MaskWords, text);
  EXPECT_THAT(after, Not(HasSubstr("and i16")));
  EXPECT_THAT(after, HasSubstr("i32 -32769)"));      // 0xffff7fff: the lower half
  EXPECT_THAT(after, HasSubstr("i32 2147483647)"));  // 0x7fffffff: the upper one
}

TEST(SelectSignedBits, ChoosesBetweenConstants) {
  const std::string text =
      "define bfloat @f(i1 %b, i8 %i) {\n  %x = sitofp i1 %b to bfloat\n"
      "  %y = sitofp i8 %i to bfloat\n  %z = fadd bfloat %x, %y\n  ret bfloat %z\n}\n";
  const std::string after = After(SelectSignedBits, text);
  EXPECT_THAT(after, HasSubstr("select i1 %b, bfloat 0xRBF80, bfloat 0xR0000"));
  EXPECT_THAT(after, Not(HasSubstr("sitofp i1")));
  EXPECT_THAT(after, HasSubstr("sitofp i8 %i to bfloat"));
}

// A number of 64 bits, less than 2^32, from which another one is subtracted.
std::string Difference(const std::string& minuend) {
  return "define i64 @f(i32 %x, i64 %y) {\n  %w = zext i32 %x to i64\n" + minuend +
         "  %d = sub i64 %m, %y\n  ret i64 %d\n}\n";
}

TEST(GuardHighProducts, KeepsQuotientsApartFromWhatIsSubtracted) {
  for (const char* minuend : {"  %q = udiv i32 %x, 27\n  %m = zext i32 %q to i64\n", "  %m = udiv i64 %w, 27\n",
                              "  %p = mul i64 %w, 159072863\n  %m = lshr i64 %p, 32\n"}) {
    const std::string after = After(GuardHighProducts, Difference(minuend));
    EXPECT_THAT(after, HasSubstr("prmt.b32")) << minuend;
    EXPECT_THAT(after, Not(HasSubstr("sub i64 %m, %y"))) << minuend;
  }
}

TEST(GuardHighProducts, LeavesOtherDifferences) {
  const char* constant =
      "define i64 @f(i32 %x) {\n  %q = udiv i32 %x, 27\n  %m = zext i32 %q to i64\n"
      "  %d = sub i64 %m, 4294967296\n  ret i64 %d\n}\n";
  EXPECT_THAT(After(GuardHighProducts, constant), Not(HasSubstr("prmt")));
  for (const char* minuend : {"  %m = add i64 %w, 0\n", "  %m = udiv i64 %y, 3\n", "  %m = lshr i64 %w, 3\n"})
    EXPECT_THAT(After(GuardHighProducts, Difference(minuend)), Not(HasSubstr("prmt"))) << minuend;
}

}  // namespace
}  // namespace tritond::compiler::nvidia
