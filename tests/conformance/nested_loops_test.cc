// SPDX-License-Identifier: Apache-2.0
// Dots in a loop within one or two others, which load each element from a place that all tell. The outer loop's
// iterations and the innermost one's may be none.
#include <string>

#include "absl/strings/str_replace.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr int kTile = 32, kMostPlanes = 4, kMostRows = 80;

// out[m, n] = sum over h < %planes and k < %rows of a[k, m, h] * b[k, n, h], where h + m is a plane that there is.
constexpr char kNest[] = R"(module {
  tt.func public @nest(%a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %out: !tt.ptr<f32>, %planes: i32, %rows: i32, %row: i32, %column: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %columns = tt.splat %column : i32 -> tensor<32xi32>
    %across = arith.muli %i, %columns : tensor<32xi32>
    %across_a = tt.expand_dims %across {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %across_b = tt.expand_dims %across {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<1x32x!tt.ptr<f16>>
    %from_a = tt.addptr %as, %across_a : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
    %from_b = tt.addptr %bs, %across_b : tensor<1x32x!tt.ptr<f16>>, tensor<1x32xi32>
    %wide_a = tt.broadcast %from_a : tensor<32x1x!tt.ptr<f16>> -> tensor<32x32x!tt.ptr<f16>>
    %wide_b = tt.broadcast %from_b : tensor<1x32x!tt.ptr<f16>> -> tensor<32x32x!tt.ptr<f16>>
    %sum = scf.for %h = %c0 to %planes step %c1 iter_args(%acc0 = %zero) -> (tensor<32x32xf32>) : i32 {
      %hs = tt.splat %h : i32 -> tensor<32xi32>
      %hm = arith.addi %hs, %i : tensor<32xi32>
      %all = tt.splat %planes : i32 -> tensor<32xi32>
      %in_planes = arith.cmpi slt, %hm, %all : tensor<32xi32>
      %hb = tt.splat %h : i32 -> tensor<32x32xi32>
      %inner = scf.for %k = %c0 to %rows step %c32 iter_args(%acc = %acc0) -> (tensor<32x32xf32>) : i32 {
        %ks = tt.splat %k : i32 -> tensor<32xi32>
        %kk = arith.addi %ks, %i : tensor<32xi32>
        %end = tt.splat %rows : i32 -> tensor<32xi32>
        %in_rows = arith.cmpi slt, %kk, %end : tensor<32xi32>
        %steps = tt.splat %row : i32 -> tensor<32xi32>
        %down = arith.muli %kk, %steps : tensor<32xi32>
        %down_a = tt.expand_dims %down {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
        %down_b = tt.expand_dims %down {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
        %wide_down_a = tt.broadcast %down_a : tensor<1x32xi32> -> tensor<32x32xi32>
        %wide_down_b = tt.broadcast %down_b : tensor<32x1xi32> -> tensor<32x32xi32>
        %pa0 = tt.addptr %wide_a, %wide_down_a : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
        %pa = tt.addptr %pa0, %hb : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
        %pb0 = tt.addptr %wide_b, %wide_down_b : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
        %pb = tt.addptr %pb0, %hb : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
        %mk_a = tt.expand_dims %in_rows {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
        %mk_b = tt.expand_dims %in_rows {axis = 1 : i32} : tensor<32xi1> -> tensor<32x1xi1>
        %mh = tt.expand_dims %in_planes {axis = 1 : i32} : tensor<32xi1> -> tensor<32x1xi1>
        %wide_mk_a = tt.broadcast %mk_a : tensor<1x32xi1> -> tensor<32x32xi1>
        %wide_mk_b = tt.broadcast %mk_b : tensor<32x1xi1> -> tensor<32x32xi1>
        %wide_mh = tt.broadcast %mh : tensor<32x1xi1> -> tensor<32x32xi1>
        %mask_a = arith.andi %wide_mk_a, %wide_mh : tensor<32x32xi1>
        %none = arith.constant dense<0.0> : tensor<32x32xf16>
        %x = tt.load %pa, %mask_a, %none : tensor<32x32x!tt.ptr<f16>>
        %y = tt.load %pb, %wide_mk_b, %none : tensor<32x32x!tt.ptr<f16>>
        %d = tt.dot %x, %y, %acc : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
        scf.yield %d : tensor<32x32xf32>
      }
      scf.yield %inner : tensor<32x32xf32>
    }
    %size = arith.constant dense<32> : tensor<32x1xi32>
    %m = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %n = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %rows_out = arith.muli %m, %size : tensor<32x1xi32>
    %wide_m = tt.broadcast %rows_out : tensor<32x1xi32> -> tensor<32x32xi32>
    %wide_n = tt.broadcast %n : tensor<1x32xi32> -> tensor<32x32xi32>
    %place = arith.addi %wide_m, %wide_n : tensor<32x32xi32>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %to = tt.addptr %outs, %place : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    tt.store %to, %sum : tensor<32x32x!tt.ptr<f32>>
    tt.return
  }
}
)";

// The same, of which two loops count the planes.
std::string NestOfThree() {
  return absl::StrReplaceAll(
      kNest, {{"%sum = scf.for %h = %c0 to %planes step %c1 iter_args(%acc0 = %zero) -> (tensor<32x32xf32>) : i32 {",
               R"(%c2 = arith.constant 2 : i32
    %sum = scf.for %g = %c0 to %planes step %c2 iter_args(%acc1 = %zero) -> (tensor<32x32xf32>) : i32 {
      %part = scf.for %z = %c0 to %c2 step %c1 iter_args(%acc0 = %acc1) -> (tensor<32x32xf32>) : i32 {
      %h = arith.addi %g, %z : i32)"},
              {"scf.yield %inner : tensor<32x32xf32>",
               "scf.yield %inner : tensor<32x32xf32>\n}\nscf.yield %part : tensor<32x32xf32>"}});
}

class NestedLoops : public testing::TestWithParam<Machine> {};

int PlaceOf(int k, int column, int h) { return (k * kTile + column) * kMostPlanes + h; }

// Runs `nest` with some numbers of iterations.
void AddUp(const Machine& machine, const std::string& nest) {
  Array a("f16", kMostRows * kTile * kMostPlanes), b = a;
  for (int i = 0; i < kMostRows * kTile * kMostPlanes; ++i) {
    a.SetFloat(i, i * 7 % 11 - 5);
    b.SetFloat(i, i * 5 % 13 - 6);
  }
  for (const int planes : {0, 1, 3})
    for (const int rows : {0, 5, 32, 80}) {
      Array out("f32", kTile * kTile), expected = out;
      for (int m = 0; m < kTile; ++m)
        for (int n = 0; n < kTile; ++n) {
          double sum = 0;
          for (int h = 0; h + m < planes; ++h)
            for (int k = 0; k < rows; ++k) sum += a.Float(PlaceOf(k, m, h)) * b.Float(PlaceOf(k, n, h));
          expected.SetFloat(m * kTile + n, sum);
        }
      absl::Status status = RunKernel(machine, nest, {}, {a, b, out, planes, rows, kTile * kMostPlanes, kMostPlanes},
                                      "\"num_stages\": 3");
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_TRUE(Agree(out, expected)) << planes << " planes of " << rows << " rows";
    }
}

TEST_P(NestedLoops, AddUpAllIterations) { AddUp(GetParam(), kNest); }

TEST_P(NestedLoops, AddUpAllIterationsOfThree) { AddUp(GetParam(), NestOfThree()); }

INSTANTIATE_TEST_SUITE_P(Machines, NestedLoops, testing::ValuesIn(Machines({1, 4})),
                         [](const auto& info) { return NameOf(info.param); });

}  // namespace
}  // namespace tritond::conformance
