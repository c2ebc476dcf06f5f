// SPDX-License-Identifier: Apache-2.0
#include "compiler/text/normalize_text.h"

#include <gtest/gtest.h>

#include <string>

namespace tritond::compiler {
namespace {

std::string Normalized(std::string ir, bool strip = false) {
  NormalizeResult result = NormalizeText(std::move(ir), NormalizeOptions{strip});
  EXPECT_FALSE(result.error.has_value()) << result.error->message;
  return result.text.text();
}

struct Rewrite {
  const char* name;
  const char* before;
  const char* after;
};

class Rewrites : public testing::TestWithParam<Rewrite> {};

TEST_P(Rewrites, GiveTheSpellingThatTheParserReads) { EXPECT_EQ(Normalized(GetParam().before), GetParam().after); }

TEST_P(Rewrites, LeaveTheirResultAlone) { EXPECT_EQ(Normalized(GetParam().after), GetParam().after); }

INSTANTIATE_TEST_SUITE_P(
    Drift, Rewrites,
    testing::Values(
        Rewrite{"nneg", "%1 = arith.extui %0 nneg : i32 to i64", "%1 = arith.extui %0 : i32 to i64"},
        Rewrite{"nneg_uitofp", "%1 = arith.uitofp %0 nneg : i32 to f32", "%1 = arith.uitofp %0 : i32 to f32"},
        Rewrite{"disjoint", "%2 = arith.ori %0, %1 disjoint : i32", "%2 = arith.ori %0, %1 : i32"},
        Rewrite{"exact", "%2 = arith.divsi %0, %1 exact : i32", "%2 = arith.divsi %0, %1 : i32"},
        Rewrite{"exact_shift", "%2 = arith.shrui %a#1, %1 exact {k} : i32", "%2 = arith.shrui %a#1, %1 {k} : i32"},
        Rewrite{"trunci_overflow", "%2 = arith.trunci %0 overflow<nsw, nuw> : i64 to i32",
                "%2 = arith.trunci %0 : i64 to i32"},
        Rewrite{"assume", "llvm.intr.assume %c : i1 loc(#loc3)", "llvm.intr.assume %c : i1 loc(#loc3)"},
        Rewrite{"assume_bundles", "llvm.intr.assume %c [\"align\"(%p, %n : i64, i64)] : i1",
                "llvm.intr.assume %c : i1"},
        Rewrite{"assume_generic", "\"llvm.intr.assume\"(%c) <{op_bundle_sizes = array<i32>}> : (i1) -> ()",
                "\"llvm.intr.assume\"(%c) <{op_bundle_sizes = array<i32>}> : (i1) -> ()"},
        Rewrite{"assume_old", "\"llvm.intr.assume\"(%c) : (i1) -> ()",
                "\"llvm.intr.assume\"(%c) <{op_bundle_sizes = array<i32>}> : (i1) -> ()"},
        Rewrite{"undef", "%0 = llvm.mlir.undef : i32", "%0 = ub.poison : i32"},
        Rewrite{"barrier", "gpu.barrier loc(#loc)", "ttg.barrier all loc(#loc)"},
        Rewrite{"barrier_memfence", "gpu.barrier memfence [#gpu.address_space<workgroup>]", "ttg.barrier all"},
        Rewrite{"weights", "cf.cond_br %c weights([1, 2]), ^bb1, ^bb2(%x : i32)",
                "cf.cond_br %c, ^bb1, ^bb2(%x : i32)"},
        Rewrite{"range", "x loc(\"a.py\":1:2 to :3)", "x loc(\"a.py\":1:2)"},
        Rewrite{"range_lines", "x loc(\"n\"(\"a.py\":1:2 to 4:3))", "x loc(\"n\"(\"a.py\":1:2))"},
        Rewrite{"dpas", "#m = #ttig.dpas<{A = [8, 16]}>", "#m = #ttg.dpas<{A = [8, 16]}>"},
        Rewrite{"old_op", "%0 = triton_gpu.local_load %a : !tt.memdesc<4xf32, #s>",
                "%0 = ttg.local_load %a : !ttg.memdesc<4xf32, #s>"},
        Rewrite{"old_attribute", "#b = #triton_gpu.blocked<{order = [0]}>", "#b = #ttg.blocked<{order = [0]}>"},
        Rewrite{"old_key", "module attributes {\"triton_gpu.num-warps\" = 4 : i32} {",
                "module attributes {\"ttg.num-warps\" = 4 : i32} {"},
        Rewrite{"old_shared", "#triton_gpu.shared<{vec = 8, order = [1, 0], hasLeadingOffset = false}>",
                "#ttg.swizzled_shared<{vec = 8, order = [1, 0]}>"},
        Rewrite{"leading_offset",
                "#triton_gpu.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], hasLeadingOffset = true}>",
                "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>"},
        Rewrite{
            "leading_offset_blocks",
            "#triton_gpu.shared<{vec = 16, perPhase = 2, maxPhase = 4, order = [0, 1], CTAsPerCGA = [1, 1], "
            "CTASplitNum "
            "= [1, 1], CTAOrder = [0, 1], hasLeadingOffset = true}>",
            "#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8, CTAsPerCGA = [1, 1], "
            "CTASplitNum = [1, 1], CTAOrder = [0, 1]}>"},
        Rewrite{"reshape_true", "tt.reshape %4 {allow_reorder = true} : A -> B",
                "tt.reshape %4 allow_reorder {} : A -> B"},
        Rewrite{"reshape_false", "tt.reshape %4 {allow_reorder = false} : A -> B", "tt.reshape %4 {} : A -> B"},
        Rewrite{"reshape_more", "tt.reshape %4 {a = 1 : i32, allow_reorder = false, b = [2]} : A -> B",
                "tt.reshape %4 {a = 1 : i32,  b = [2]} : A -> B"},
        Rewrite{"reshape_last", "tt.reshape %4 {a = 1 : i32, allow_reorder = true} : A -> B",
                "tt.reshape %4 allow_reorder {a = 1 : i32} : A -> B"},
        Rewrite{"assert", "tt.assert %c, \"m, \\\"x\\\"\", \"f.py\", \"g\", 12 : tensor<4xi1>",
                "tt.assert %c, \"m, \\\"x\\\"\" : tensor<4xi1>"},
        Rewrite{"assert_typed_line", "tt.assert %c, \"m\", \"f.py\", \"g\", 12 : i32 : i1", "tt.assert %c, \"m\" : i1"},
        Rewrite{"assert_attributes", "tt.assert %c, \"m\", \"f\", \"g\", 12 : i32 {a = 1 : i32} : i1",
                "tt.assert %c, \"m\" {a = 1 : i32} : i1"},
        Rewrite{"dot_scaled", "tt.dot_scaled %a, %s, %b, %c lhs = e4m3 rhs = e2m1 : A, S * B -> C",
                "tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = e2m1 : A, S * B -> C"},
        Rewrite{"dot_scaled_both", "tt.dot_scaled %a, %s, %b, %t, %c lhs = e4m3 rhs = e2m1 : A, S * B, T -> C",
                "tt.dot_scaled %a scale %s, %b scale %t, %c lhs = e4m3 rhs = e2m1 : A, S * B, T -> C"},
        Rewrite{"num_programs", "%0 = tt.get_num_programs {axis = 1 : i32} : i32", "%0 = tt.get_num_programs y : i32"},
        Rewrite{"descriptor", "%0 = tt.experimental_descriptor_load %d[%i] : !tt.tensordesc<A> -> B",
                "%0 = tt.descriptor_load %d[%i] : !tt.tensordesc<A> -> B"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(NormalizeText, UnsignedLoopBecomesASignedOneOverShiftedBounds) {
  EXPECT_EQ(Normalized("  %r:2 = scf.for unsigned %i = %l to %u step %s iter_args(%a = %x) -> (tensor<4xf32, #b<{k}>>) "
                       " : i32 {\n    use %i\n  }"),
            "  %unsigned_loop_0 = arith.constant -2147483648 : i32 "
            "%unsigned_loop_0l = arith.addi %l, %unsigned_loop_0 : i32 "
            "%unsigned_loop_0u = arith.addi %u, %unsigned_loop_0 : i32 "
            "%r:2 = scf.for %unsigned_loop_0i = %unsigned_loop_0l to %unsigned_loop_0u step %s iter_args(%a = %x) -> "
            "(tensor<4xf32, #b<{k}>>)  : i32 { %i = arith.addi %unsigned_loop_0i, %unsigned_loop_0 : i32 \n"
            "    use %i\n  }");
}

TEST(NormalizeText, UnsignedLoopsOfSixtyFourBitsShiftByTheSmallestInteger) {
  EXPECT_NE(Normalized("scf.for unsigned %i = %l to %u step %s : i64 {\n}").find("arith.constant -9223372036854775808"),
            std::string::npos);
}

TEST(NormalizeText, NestedUnsignedLoopsGetDifferentNames) {
  std::string text = Normalized(
      "scf.for unsigned %i = %l to %u step %s : i32 {\nscf.for unsigned %j = %i to %u step %s : i32 {\n}\n}");
  EXPECT_NE(text.find("%unsigned_loop_0i"), std::string::npos);
  EXPECT_NE(text.find("%unsigned_loop_1i"), std::string::npos);
}

TEST(NormalizeText, SignedLoopStays) {
  const char* loop = "%r = scf.for %i = %l to %u step %s : i32 {\n}";
  EXPECT_EQ(Normalized(loop), loop);
}

TEST(NormalizeText, StringsCommentsAndNamesAreNotOperations) {
  for (const char* text : {"// gpu.barrier\n", "tt.print \"gpu.barrier \\\" gpu.barrier\"", "tt.call @gpu.barrier()",
                           "tt.call @\"gpu.barrier\"()", "%gpu.barrier = x", "my.gpu.barrier", "x {nneg, disjoint}"})
    EXPECT_EQ(Normalized(text), text);
}

TEST(NormalizeText, StripsLocationsOnRequest) {
  std::string text =
      "#loc = loc(\"a\":1:2)\ntt.func @f(%a: i32 loc(\"a\"(#loc))) {\n  tt.return loc(#loc1)\n} loc(#loc)\n"
      "#loc1 = loc(callsite(#loc at #loc))\n";
  EXPECT_EQ(Normalized(text, true), "\ntt.func @f(%a: i32) {\n  tt.return\n}\n\n");
  EXPECT_EQ(Normalized(text, false), text);
}

TEST(NormalizeText, AStringThatLooksLikeALocationIsNotStripped) {
  const char* text = "tt.print \" loc(#loc) \" {hex = false}";
  EXPECT_EQ(Normalized(text, true), text);
}

TEST(NormalizeText, PositionsLeadBackToTheOriginal) {
  NormalizeResult result = NormalizeText("a\n  gpu.barrier bad\n  %1 = arith.ori %0, %1 disjoint : i99 x\n");
  EXPECT_EQ(result.text.text(), "a\n  ttg.barrier all bad\n  %1 = arith.ori %0, %1 : i99 x\n");
  EXPECT_EQ(result.text.ToOriginal({1, 1}), (TextPosition{1, 1}));
  EXPECT_EQ(result.text.ToOriginal({2, 3}), (TextPosition{2, 3}));
  EXPECT_EQ(result.text.ToOriginal({2, 8}), (TextPosition{2, 3}));    // inside the inserted words
  EXPECT_EQ(result.text.ToOriginal({2, 19}), (TextPosition{2, 15}));  // bad
  EXPECT_EQ(result.text.ToOriginal({3, 26}), (TextPosition{3, 35}));  // i99
  EXPECT_EQ(result.text.ToOriginal({3, 30}), (TextPosition{3, 39}));  // x
}

TEST(NormalizeText, PositionsOfUnchangedTextAreTheirOwn) {
  NormalizeResult result = NormalizeText("ab\ncd\n");
  EXPECT_EQ(result.text.ToOriginal({2, 2}), (TextPosition{2, 2}));
  EXPECT_EQ(result.text.ToOriginal({9, 1}), (TextPosition{}));
  EXPECT_EQ(result.text.ToOriginal({0, 0}), (TextPosition{}));
}

TEST(NormalizeText, LineBreaksInsideARemovedPartStay) {
  NormalizeResult result = NormalizeText("tt.assert %c, \"m\",\n \"f\", \"g\",\n 12 : i1\nbad");
  EXPECT_EQ(result.text.text(), "tt.assert %c, \"m\"\n\n : i1\nbad");
  EXPECT_EQ(result.text.ToOriginal({4, 1}), (TextPosition{4, 1}));
}

struct Wrong {
  const char* text;
  TextPosition where;
  const char* message;
};

class Unsupported : public testing::TestWithParam<Wrong> {};

TEST_P(Unsupported, IsAnErrorWithItsPlace) {
  NormalizeResult result = NormalizeText(GetParam().text);
  ASSERT_TRUE(result.error.has_value()) << result.text.text();
  EXPECT_NE(result.error->message.find(GetParam().message), std::string::npos) << result.error->message;
  EXPECT_EQ(result.error->where.line, GetParam().where.line);
  EXPECT_EQ(result.error->where.column, GetParam().where.column);
}

INSTANTIATE_TEST_SUITE_P(
    Constructs, Unsupported,
    testing::Values(
        Wrong{"\n  %0:2 = math.sincos %x : f32", {2, 10}, "math.sincos is not supported; use math.sin and math.cos"},
        Wrong{"%0 = math.isnan %x : f32", {1, 6}, "arith.cmpf uno"},
        Wrong{"%0 = tt.experimental_descriptor_load %d[%i] : !tt.ptr<i8> -> T", {1, 6}, "raw pointer"},
        Wrong{"%0 = tt.reinterpret_tensor_descriptor %d : !tt.ptr<i8> to T", {1, 6}, "raw pointers"},
        Wrong{"f(%a: tensor<64x4xf8E8M0FNU>)", {1, 14}, "f8E8M0FNU"}, Wrong{"f(%a: f4E2M1FN)", {1, 7}, "f4E2M1FN"},
        Wrong{"#triton_gpu.shared<{vec = 8, hasLeadingOffset = true}>", {1, 30}, "hasLeadingOffset"},
        Wrong{"scf.for unsigned %i = %l to %u step %s {\n}", {1, 8}, "integer type"},
        Wrong{"tt.return scf.for unsigned %i = %l to %u step %s : i32 {\n}", {1, 11}, "begin its line"}));

TEST(NormalizeText, DeepNestingIsAnErrorAndNotACrash) {
  NormalizeResult result = NormalizeText(std::string(100000, '['));
  ASSERT_TRUE(result.error.has_value());
  EXPECT_NE(result.error->message.find("nest deeper"), std::string::npos);
}

TEST(NormalizeText, TruncatedTextPassesThroughToTheParser) {
  std::string whole =
      "#triton_gpu.shared<{vec = 8, hasLeadingOffset = false}> scf.for unsigned %i = %l to %u step %s : i32 { \n"
      "llvm.intr.assume %c [\"align\"(%p)] {a} : i1 tt.assert %c, \"m\", \"f\", \"g\", 12 : i1 loc(\"a\":1:2 to :3)\n"
      "tt.reshape %4 {allow_reorder = true} : A tt.dot_scaled %a, %s, %b, %c lhs = e4m3 cf.cond_br %c weights([1])";
  for (size_t size = 0; size <= whole.size(); ++size) {
    NormalizeResult result = NormalizeText(whole.substr(0, size), NormalizeOptions{size % 2 == 0});
    EXPECT_TRUE(result.error.has_value() || size == 0 || !result.text.text().empty());
  }
}

}  // namespace
}  // namespace tritond::compiler
