// SPDX-License-Identifier: Apache-2.0
// Dots whose operands are neighbours in memory along both dimensions: each row begins one element after the row before.
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr char kShiftedRows[] = R"(
module {
  tt.func public @kernel(%x: !tt.ptr<$T>, %y: !tt.ptr<$T>, %out: !tt.ptr<f32>) {
    %m = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %n = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %rows = tt.expand_dims %m {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %k_last = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %k_first = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %columns = tt.expand_dims %n {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %a0 = tt.splat %x : !tt.ptr<$T> -> tensor<128x1x!tt.ptr<$T>>
    %a1 = tt.addptr %a0, %rows : tensor<128x1x!tt.ptr<$T>>, tensor<128x1xi32>
    %a2 = tt.broadcast %a1 : tensor<128x1x!tt.ptr<$T>> -> tensor<128x32x!tt.ptr<$T>>
    %a3 = tt.broadcast %k_last : tensor<1x32xi32> -> tensor<128x32xi32>
    %a4 = tt.addptr %a2, %a3 : tensor<128x32x!tt.ptr<$T>>, tensor<128x32xi32>
    %a = tt.load %a4 : tensor<128x32x!tt.ptr<$T>>
    %b0 = tt.splat %y : !tt.ptr<$T> -> tensor<32x1x!tt.ptr<$T>>
    %b1 = tt.addptr %b0, %k_first : tensor<32x1x!tt.ptr<$T>>, tensor<32x1xi32>
    %b2 = tt.broadcast %b1 : tensor<32x1x!tt.ptr<$T>> -> tensor<32x128x!tt.ptr<$T>>
    %b3 = tt.broadcast %columns : tensor<1x128xi32> -> tensor<32x128xi32>
    %b4 = tt.addptr %b2, %b3 : tensor<32x128x!tt.ptr<$T>>, tensor<32x128xi32>
    %b = tt.load %b4 : tensor<32x128x!tt.ptr<$T>>
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %d = tt.dot %a, %b, %zero, inputPrecision = tf32 : tensor<128x32x$T> * tensor<32x128x$T> -> tensor<128x128xf32>
    %f = tt.reshape %d : tensor<128x128xf32> -> tensor<16384xf32>
    %i = tt.make_range {start = 0 : i32, end = 16384 : i32} : tensor<16384xi32>
    %s = tt.splat %out : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>>
    %p = tt.addptr %s, %i : tensor<16384x!tt.ptr<f32>>, tensor<16384xi32>
    tt.store %p, %f : tensor<16384x!tt.ptr<f32>>
    tt.return
  }
}
)";

TEST(ShiftedRows, AreMultiplied) {
  constexpr int kM = 128, kN = 128, kK = 32;
  for (const Machine& machine : Machines({4}))
    for (const char* type : {"f8E5M2", "f16", "f32"}) {
      // Numbers that tf32 has too.
      Array x = Array::OfFloats(type, Moderate("bf16", kM + kK - 1, 1).Numbers());
      Array y = Array::OfFloats(type, Moderate("bf16", kN + kK - 1, 2).Numbers());
      Array actual("f32", kM * kN), expected = actual;
      const std::vector<double> left = x.Numbers(), right = y.Numbers();
      for (int i = 0; i < kM; ++i)
        for (int j = 0; j < kN; ++j) {
          double sum = 0;
          for (int k = 0; k < kK; ++k) sum += left[i + k] * right[k + j];
          expected.SetFloat(i * kN + j, sum);
        }
      const absl::Status status = RunKernel(machine, Substitute(kShiftedRows, {{"T", type}}), {}, {x, y, actual});
      ASSERT_TRUE(status.ok()) << NameOf(machine) << " " << type << ": " << status;
      EXPECT_TRUE(Agree(actual, expected, 1e-4)) << NameOf(machine) << " " << type;
    }
}

}  // namespace
}  // namespace tritond::conformance
