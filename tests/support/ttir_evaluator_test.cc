// SPDX-License-Identifier: Apache-2.0
#include "tests/support/ttir_evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_replace.h"

namespace tritond::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename T>
EvaluatorArgument Memory(std::vector<T>& values) {
  return EvaluatorArgument::Memory(absl::MakeSpan(reinterpret_cast<char*>(values.data()), values.size() * sizeof(T)));
}

TtirEvaluator& Evaluator() {
  static auto* evaluator = new TtirEvaluator;
  return *evaluator;
}

// A kernel of `parameters` and `body`, in which T is the tensor type of n elements and P that of pointers to them.
std::string Kernel(const std::string& parameters, const std::string& body) {
  return "module { tt.func public @kernel(" + parameters + ") {\n" + body + "\n tt.return } }";
}

// Applies `op`, which makes %y from %a and %b, both of type `from`, to eight elements.
template <typename In, typename Out>
std::vector<Out> Apply(const std::string& from, const std::string& to, const std::string& op, std::vector<In> a,
                       std::vector<In> b = std::vector<In>(8)) {
  a.resize(8);
  b.resize(8);
  std::vector<Out> y(8);
  std::string ir = absl::StrReplaceAll(R"(module {
  tt.func public @kernel(%pa: !tt.ptr<FROM>, %pb: !tt.ptr<FROM>, %py: !tt.ptr<TO>) {
    %i = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
    %sa = tt.splat %pa : !tt.ptr<FROM> -> tensor<8x!tt.ptr<FROM>>
    %qa = tt.addptr %sa, %i : tensor<8x!tt.ptr<FROM>>, tensor<8xi32>
    %a = tt.load %qa : tensor<8x!tt.ptr<FROM>>
    %sb = tt.splat %pb : !tt.ptr<FROM> -> tensor<8x!tt.ptr<FROM>>
    %qb = tt.addptr %sb, %i : tensor<8x!tt.ptr<FROM>>, tensor<8xi32>
    %b = tt.load %qb : tensor<8x!tt.ptr<FROM>>
    OP
    %sy = tt.splat %py : !tt.ptr<TO> -> tensor<8x!tt.ptr<TO>>
    %qy = tt.addptr %sy, %i : tensor<8x!tt.ptr<TO>>, tensor<8xi32>
    tt.store %qy, %y : tensor<8x!tt.ptr<TO>>
    tt.return
  }
})",
                                       {{"OP", op}, {"FROM", from}, {"TO", to}});
  absl::Status status = Evaluator().Run(ir, {1, 1, 1}, {Memory(a), Memory(b), Memory(y)});
  EXPECT_TRUE(status.ok()) << status << "\n" << ir;
  return y;
}

// Runs `body` with a pointer %p to `memory`.
template <typename T>
absl::Status RunOn(std::vector<T>& memory, const std::string& element, const std::string& body) {
  return Evaluator().Run(Kernel("%p: !tt.ptr<" + element + ">", body), {1, 1, 1}, {Memory(memory)});
}

TEST(TtirEvaluator, IntegersWrap) {
  auto y = Apply<int8_t, int8_t>("i8", "i8", "%y = arith.addi %a, %b : tensor<8xi8>", {127, -128, 5}, {1, -1, 6});
  EXPECT_EQ(y[0], -128);
  EXPECT_EQ(y[1], 127);
  EXPECT_EQ(y[2], 11);
}

TEST(TtirEvaluator, MulhiGivesTheUpperHalfOfTheUnsignedProduct) {
  auto y = Apply<uint32_t, uint32_t>("i32", "i32", "%y = tt.mulhiui %a, %b : tensor<8xi32>", {~0u, 1u << 31}, {~0u, 6});
  EXPECT_EQ(y[0], ~0u - 1);
  EXPECT_EQ(y[1], 3u);
}

TEST(TtirEvaluator, FloorDivisionGoesDownAndCeilDivisionUp) {
  std::vector<int32_t> a = {7, -7, 7, -7, 6, -6, 0, 1}, b = {2, 2, -2, -2, 3, 3, 5, 1};
  EXPECT_THAT((Apply<int32_t, int32_t>("i32", "i32", "%y = arith.floordivsi %a, %b : tensor<8xi32>", a, b)),
              ElementsAre(3, -4, -4, 3, 2, -2, 0, 1));
  EXPECT_THAT((Apply<int32_t, int32_t>("i32", "i32", "%y = arith.ceildivsi %a, %b : tensor<8xi32>", a, b)),
              ElementsAre(4, -3, -3, 4, 2, -2, 0, 1));
}

TEST(TtirEvaluator, ComparisonsOfNaNAreUnordered) {
  const float nan = std::nanf("");
  std::vector<float> a = {nan, 1, 1, 2, 0}, b = {1, nan, 2, 1, -0.0f};
  EXPECT_THAT((Apply<float, int8_t>("f32", "i8", R"(%c = arith.cmpf ult, %a, %b : tensor<8xf32>
    %y = arith.extui %c : tensor<8xi1> to tensor<8xi8>)",
                                    a, b)),
              ElementsAre(1, 1, 1, 0, 0, 0, 0, 0));
  EXPECT_THAT((Apply<float, int8_t>("f32", "i8", R"(%c = arith.cmpf oge, %a, %b : tensor<8xf32>
    %y = arith.extui %c : tensor<8xi1> to tensor<8xi8>)",
                                    a, b)),
              ElementsAre(0, 0, 0, 1, 1, 1, 1, 1));
}

TEST(TtirEvaluator, MaximumKeepsNaNAndMaxnumDropsIt) {
  const float nan = std::nanf("");
  auto y = Apply<float, float>("f32", "f32", "%y = arith.maximumf %a, %b : tensor<8xf32>", {nan, 1, -0.0f}, {1, nan});
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
  EXPECT_FALSE(std::signbit(y[2]));
  y = Apply<float, float>("f32", "f32", "%y = arith.maxnumf %a, %b : tensor<8xf32>", {nan, 1}, {1, nan});
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], 1);
}

TEST(TtirEvaluator, NarrowFloatsRoundToNearestEvenOrTowardsZeroAndSaturate) {
  std::vector<float> x = {1.0625f, 1.1875f, 1e6f, -std::numeric_limits<float>::infinity(), 0.001f, -0.0f};
  auto even = Apply<float, uint8_t>("f32", "f8E4M3FN",
                                    "%y = tt.fp_to_fp %a, rounding = rtne : tensor<8xf32> -> tensor<8xf8E4M3FN>", x);
  EXPECT_THAT(even, ElementsAre(0x38, 0x3a, 0x7e, 0xfe, 0x01, 0x80, 0, 0));
  auto down = Apply<float, uint8_t>("f32", "f8E4M3FN",
                                    "%y = tt.fp_to_fp %a, rounding = rtz : tensor<8xf32> -> tensor<8xf8E4M3FN>", x);
  EXPECT_THAT(down, ElementsAre(0x38, 0x39, 0x7e, 0xfe, 0x00, 0x80, 0, 0));
}

TEST(TtirEvaluator, WideFloatsOverflowToInfinityUnlessTowardsZero) {
  auto nearest = Apply<float, uint16_t>("f32", "f16", "%y = arith.truncf %a : tensor<8xf32> to tensor<8xf16>", {70000});
  EXPECT_EQ(nearest[0], 0x7c00);
  auto down = Apply<float, uint16_t>("f32", "f16",
                                     "%y = tt.fp_to_fp %a, rounding = rtz : tensor<8xf32> -> tensor<8xf16>", {70000});
  EXPECT_EQ(down[0], 0x7bff);
}

TEST(TtirEvaluator, ReshapeKeepsTheOrderOfElementsAndTransDoesNot) {
  EXPECT_THAT((Apply<int32_t, int32_t>("i32", "i32", R"(%m = tt.reshape %a : tensor<8xi32> -> tensor<2x4xi32>
    %t = tt.trans %m {order = array<i32: 1, 0>} : tensor<2x4xi32> -> tensor<4x2xi32>
    %y = tt.reshape %t : tensor<4x2xi32> -> tensor<8xi32>)",
                                       {0, 1, 2, 3, 4, 5, 6, 7})),
              ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
}

TEST(TtirEvaluator, SplitUndoesJoin) {
  EXPECT_THAT((Apply<int32_t, int32_t>("i32", "i32", R"(%j = tt.join %a, %b : tensor<8xi32> -> tensor<8x2xi32>
    %l, %y = tt.split %j : tensor<8x2xi32> -> tensor<8xi32>)",
                                       {}, {1, 2, 3, 4, 5, 6, 7, 8})),
              ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(TtirEvaluator, BroadcastRepeatsAlongDimensionsOfOne) {
  EXPECT_THAT((Apply<int32_t, int32_t>("i32", "i32", R"(%m = tt.reshape %a : tensor<8xi32> -> tensor<4x2xi32>
    %l, %r = tt.split %m : tensor<4x2xi32> -> tensor<4xi32>
    %e = tt.expand_dims %r {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %w = tt.broadcast %e : tensor<4x1xi32> -> tensor<4x2xi32>
    %y = tt.reshape %w : tensor<4x2xi32> -> tensor<8xi32>)",
                                       {0, 1, 2, 3, 4, 5, 6, 7})),
              ElementsAre(1, 1, 3, 3, 5, 5, 7, 7));
}

TEST(TtirEvaluator, GatherTakesElementsAlongItsAxis) {
  EXPECT_THAT((Apply<int32_t, int32_t>("i32", "i32", R"(%s = tt.reshape %a : tensor<8xi32> -> tensor<4x2xi32>
    %n = tt.reshape %b : tensor<8xi32> -> tensor<4x2xi32>
    %g = tt.gather %s[%n] {axis = 0 : i32} : (tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<4x2xi32>
    %y = tt.reshape %g : tensor<4x2xi32> -> tensor<8xi32>)",
                                       {10, 11, 20, 21, 30, 31, 40, 41}, {3, 0, 1, 1, 2, 3, 0, 2})),
              ElementsAre(40, 11, 20, 21, 30, 41, 10, 31));
}

TEST(TtirEvaluator, HistogramCountsWhatTheMaskLetsThrough) {
  EXPECT_THAT((Apply<int32_t, int32_t>("i32", "i32", R"(%z = arith.constant dense<0> : tensor<8xi32>
    %m = arith.cmpi sge, %b, %z : tensor<8xi32>
    %y = tt.histogram %a, %m : tensor<8xi32> -> tensor<8xi32>)",
                                       {0, 1, 1, 7, 7, 7, 9, 2}, {0, 0, -1, 0, 0, 0, 0, 0})),
              ElementsAre(1, 1, 1, 0, 0, 0, 0, 3));
}

TEST(TtirEvaluator, ReduceCombinesSeveralOperandsAtOnce) {
  // The index of the largest element.
  auto y = Apply<int32_t, int32_t>("i32", "i32", R"(
    %n = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
    %r:2 = "tt.reduce"(%a, %n) <{axis = 0 : i32}> ({
    ^bb0(%v: i32, %k: i32, %w: i32, %l: i32):
      %c = arith.cmpi sge, %v, %w : i32
      %x = arith.select %c, %v, %w : i32
      %z = arith.select %c, %k, %l : i32
      tt.reduce.return %x, %z : i32, i32
    }) : (tensor<8xi32>, tensor<8xi32>) -> (i32, i32)
    %y = tt.splat %r#1 : i32 -> tensor<8xi32>)",
                                   {3, 1, 4, 1, 5, 9, 2, 6});
  EXPECT_EQ(y[0], 5);
}

TEST(TtirEvaluator, ScansRunFromEitherEnd) {
  const std::string scan = R"(%y = "tt.scan"(%a) <{axis = 0 : i32, reverse = REVERSE}> ({
    ^bb0(%v: i32, %w: i32):
      %s = arith.addi %v, %w : i32
      tt.scan.return %s : i32
    }) : (tensor<8xi32>) -> tensor<8xi32>)";
  std::vector<int32_t> x = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_THAT((Apply<int32_t, int32_t>("i32", "i32", absl::StrReplaceAll(scan, {{"REVERSE", "false"}}), x)),
              ElementsAre(1, 3, 6, 10, 15, 21, 28, 36));
  EXPECT_THAT((Apply<int32_t, int32_t>("i32", "i32", absl::StrReplaceAll(scan, {{"REVERSE", "true"}}), x)),
              ElementsAre(36, 35, 33, 30, 26, 21, 15, 8));
}

TEST(TtirEvaluator, MapElementwiseTakesNeighboursTogether) {
  EXPECT_THAT((Apply<int32_t, int32_t>("i32", "i32", R"(%y = "tt.map_elementwise"(%a) <{pack = 2 : i32}> ({
    ^bb0(%v: i32, %w: i32):
      tt.map_elementwise.return %w, %v : i32, i32
    }) : (tensor<8xi32>) -> tensor<8xi32>)",
                                       {0, 1, 2, 3, 4, 5, 6, 7})),
              ElementsAre(1, 0, 3, 2, 5, 4, 7, 6));
}

TEST(TtirEvaluator, MapElementwiseTakesTheNeighboursOfOneOperandBeforeThoseOfTheNext) {
  EXPECT_THAT((Apply<int32_t, int32_t>("i32", "i32", R"(%n = arith.trunci %b : tensor<8xi32> to tensor<8xi8>
    %y = "tt.map_elementwise"(%a, %n) <{pack = 2 : i32}> ({
    ^bb0(%a0: i32, %a1: i32, %n0: i8, %n1: i8):
      %w0 = arith.extsi %n0 : i8 to i32
      %w1 = arith.extsi %n1 : i8 to i32
      %y0 = arith.subi %a0, %w0 : i32
      %y1 = arith.subi %a1, %w1 : i32
      tt.map_elementwise.return %y0, %y1 : i32, i32
    }) : (tensor<8xi32>, tensor<8xi8>) -> tensor<8xi32>)",
                                       {9, 8, 7, 6, 5, 4, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8})),
              ElementsAre(8, 6, 4, 2, 0, -2, -4, -6));
}

TEST(TtirEvaluator, DotAddsTheProduct) {
  EXPECT_THAT((Apply<float, float>("f32", "f32", R"(%l = tt.reshape %a : tensor<8xf32> -> tensor<2x4xf32>
    %r = tt.reshape %b : tensor<8xf32> -> tensor<4x2xf32>
    %c = arith.constant dense<1.0> : tensor<2x2xf32>
    %d = tt.dot %l, %r, %c, inputPrecision = ieee : tensor<2x4xf32> * tensor<4x2xf32> -> tensor<2x2xf32>
    %j = tt.join %d, %c : tensor<2x2xf32> -> tensor<2x2x2xf32>
    %y = tt.reshape %j : tensor<2x2x2xf32> -> tensor<8xf32>)",
                                   {1, 2, 3, 4, 5, 6, 7, 8}, {1, 0, 0, 1, 2, 0, 0, 3})),
              ElementsAre(8, 1, 15, 1, 20, 1, 31, 1));
}

TEST(TtirEvaluator, ScaledDotUnpacksAndScales) {
  // 2 * 32 values of 1.0 (code 2) in four bits, times 1.0, with a scale of 2^1.
  std::vector<float> y(4);
  absl::Status status = RunOn(y, "f32", R"(
    %a = arith.constant dense<34> : tensor<2x16xi8>
    %sa = arith.constant dense<-128> : tensor<2x1xi8>
    %b = arith.constant dense<1.0> : tensor<32x2xbf16>
    %c = arith.constant dense<0.5> : tensor<2x2xf32>
    %d = tt.dot_scaled %a scale %sa, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false}
        : tensor<2x16xi8>, tensor<2x1xi8> * tensor<32x2xbf16> -> tensor<2x2xf32>
    %v = tt.reshape %d : tensor<2x2xf32> -> tensor<4xf32>
    %i = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
    %q = tt.addptr %s, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    tt.store %q, %v : tensor<4x!tt.ptr<f32>>)");
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(y, ElementsAre(64.5f, 64.5f, 64.5f, 64.5f));
}

TEST(TtirEvaluator, LoopsCarryValuesAndBranchesChoose) {
  std::vector<int32_t> y(1);
  absl::Status status = RunOn(y, "i32", R"(
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c10 = arith.constant 10 : i32
    %sum = scf.for %k = %c0 to %c10 step %c1 iter_args(%acc = %c0) -> (i32) : i32 {
      %odd = arith.andi %k, %c1 : i32
      %is = arith.cmpi eq, %odd, %c1 : i32
      %next = scf.if %is -> (i32) {
        %s = arith.addi %acc, %k : i32
        scf.yield %s : i32
      } else {
        scf.yield %acc : i32
      }
      scf.yield %next : i32
    }
    %halved = scf.while (%v = %sum) : (i32) -> i32 {
      %go = arith.cmpi sgt, %v, %c10 : i32
      scf.condition(%go) %v : i32
    } do {
    ^bb0(%v: i32):
      %h = arith.shrsi %v, %c1 : i32
      scf.yield %h : i32
    }
    tt.store %p, %halved : !tt.ptr<i32>)");
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(y[0], 6);  // 1 + 3 + 5 + 7 + 9 = 25, 12, 6
}

TEST(TtirEvaluator, BranchesBetweenBlocksAndCallsWork) {
  std::vector<int32_t> y(3);
  absl::Status status = Evaluator().Run(R"(module {
  tt.func private @twice(%x: i32) -> i32 {
    %y = arith.addi %x, %x : i32
    tt.return %y : i32
  }
  tt.func public @kernel(%p: !tt.ptr<i32>, %n: i32) {
    %id = tt.get_program_id y : i32
    %c = arith.cmpi sge, %id, %n : i32
    cf.cond_br %c, ^done, ^work(%id : i32)
  ^work(%x: i32):
    %t = tt.call @twice(%x) : (i32) -> i32
    %q = tt.addptr %p, %id : !tt.ptr<i32>, i32
    tt.store %q, %t : !tt.ptr<i32>
    cf.br ^done
  ^done:
    tt.return
  }
})",
                                        {1, 5, 1}, {Memory(y), EvaluatorArgument::Scalar(3)});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(y, ElementsAre(0, 2, 4));
}

TEST(TtirEvaluator, AtomicsSeeTheElementsBeforeThem) {
  std::vector<int32_t> y = {5, 0};
  absl::Status status = RunOn(y, "i32", R"(
    %v = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
    %s = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    %old = tt.atomic_rmw add, acq_rel, gpu, %s, %v : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>) -> tensor<4xi32>
    %last = "tt.reduce"(%old) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      tt.reduce.return %b : i32
    }) : (tensor<4xi32>) -> i32
    %one = arith.constant 1 : i32
    %q = tt.addptr %p, %one : !tt.ptr<i32>, i32
    tt.store %q, %last : !tt.ptr<i32>)");
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(y, ElementsAre(11, 8));
}

TEST(TtirEvaluator, BlockPointersPadOutsideTheTensor) {
  std::vector<int32_t> m = {1, 2, 3, 4, 5, 6, 0, 0, 0, 0};
  absl::Status status = RunOn(m, "i32", R"(
    %r = arith.constant 2 : i64
    %c = arith.constant 3 : i64
    %one = arith.constant 1 : i64
    %z = arith.constant 0 : i32
    %o = arith.constant 1 : i32
    %b = tt.make_tensor_ptr %p, [%r, %c], [%c, %one], [%z, %z] {order = array<i32: 1, 0>} : <tensor<2x2xi32>>
    %a = tt.advance %b, [%o, %o] : <tensor<2x2xi32>>
    %x = tt.load %a {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<2x2xi32>>
    %f = tt.reshape %x : tensor<2x2xi32> -> tensor<4xi32>
    %i = tt.make_range {start = 6 : i32, end = 10 : i32} : tensor<4xi32>
    %s = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    %q = tt.addptr %s, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
    tt.store %q, %f : tensor<4x!tt.ptr<i32>>)");
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(m, ElementsAre(1, 2, 3, 4, 5, 6, 5, 6, 0, 0));
}

TEST(TtirEvaluator, DescriptorsDropWhatLiesOutside) {
  std::vector<int32_t> m(6);
  absl::Status status = RunOn(m, "i32", R"(
    %r = arith.constant 2 : i32
    %c = arith.constant 3 : i32
    %c64 = arith.constant 3 : i64
    %one = arith.constant 1 : i64
    %o = arith.constant 1 : i32
    %seven = arith.constant dense<7> : tensor<2x4xi32>
    %d = tt.make_tensor_descriptor %p, [%r, %c], [%c64, %one] : !tt.ptr<i32>, !tt.tensordesc<tensor<2x4xi32>>
    tt.descriptor_store %d[%o, %o], %seven : !tt.tensordesc<tensor<2x4xi32>>, tensor<2x4xi32>)");
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(m, ElementsAre(0, 0, 0, 0, 7, 7));
}

TEST(TtirEvaluator, PoisonMayBeDroppedButNotStored) {
  const std::string load = R"(
    %s = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    %i = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
    %q = tt.addptr %s, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
    %two = arith.constant dense<2> : tensor<4xi32>
    %m = arith.cmpi slt, %i, %two : tensor<4xi32>
    %x = tt.load %q, %m : tensor<4x!tt.ptr<i32>>
    %y = arith.addi %x, %two : tensor<4xi32>
  )";
  std::vector<int32_t> m = {1, 2, 3, 4};
  absl::Status status = RunOn(m, "i32",
                              load +
                                  "%z = arith.select %m, %y, %two : tensor<4xi1>, tensor<4xi32>\n"
                                  "tt.store %q, %z : tensor<4x!tt.ptr<i32>>");
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(m, ElementsAre(3, 4, 2, 2));
  status = RunOn(m, "i32", load + "tt.store %q, %y : tensor<4x!tt.ptr<i32>>");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("undefined value reaches memory"));
}

TEST(TtirEvaluator, AnUndefinedValueIsPoison) {
  for (const char* op : {"arith.divsi", "arith.remui", "arith.shli"}) {
    std::vector<int32_t> y(1);
    absl::Status status = RunOn(y, "i32",
                                std::string(R"(
      %x = arith.constant 32 : i32
      %z = arith.constant )") + (op == std::string("arith.shli") ? "32" : "0") +
                                    " : i32\n%y = " + op + " %x, %z : i32\ntt.store %p, %y : !tt.ptr<i32>");
    EXPECT_THAT(std::string(status.message()), HasSubstr("undefined value reaches memory")) << op;
  }
}

TEST(TtirEvaluator, AccessesOutsideBuffersAreErrors) {
  std::vector<int32_t> y(3);
  absl::Status status = RunOn(y, "i32", R"(
    %x = arith.constant 3 : i32
    %q = tt.addptr %p, %x : !tt.ptr<i32>, i32
    tt.store %q, %x : !tt.ptr<i32>)");
  EXPECT_THAT(std::string(status.message()), HasSubstr("a write outside all buffers"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("tt.store"));
}

TEST(TtirEvaluator, EndlessProgramsEnd) {
  std::vector<int32_t> y(1);
  absl::Status status = RunOn(y, "i32", R"(
    %t = arith.constant true
    scf.while : () -> () { scf.condition(%t) } do { scf.yield })");
  EXPECT_THAT(std::string(status.message()), HasSubstr("too many steps"));
}

TEST(TtirEvaluator, FailedAssertionsAndUnknownOperationsAreErrors) {
  std::vector<int32_t> y(1);
  absl::Status status = RunOn(y, "i32", R"(
    %f = arith.constant false
    tt.assert %f, "not so" : i1)");
  EXPECT_THAT(std::string(status.message()), HasSubstr("assertion failed: not so"));
  status = RunOn(y, "i32", R"(
    %f = arith.constant 0 : i32
    %x = tt.elementwise_inline_asm "mov.b32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %f : i32 -> i32)");
  EXPECT_THAT(std::string(status.message()), HasSubstr("does not know"));
}

}  // namespace
}  // namespace tritond::tests
