// SPDX-License-Identifier: Apache-2.0
// SPIR-V of ours through a real OpenCL driver, where there is one: a GPU's, or a processor's. A few kernels only, as
// drivers take long to build them. TRITOND_CONFORMANCE_DEVICES=cl:0 runs any program of the suite there.
#include <cmath>
#include <fstream>
#include <iterator>

#include "tests/conformance/run_kernel.h"
#include "workers/device/devices.h"

namespace tritond::conformance {
namespace {

class OpenCl : public testing::Test {
 protected:
  void SetUp() override {
    const auto device = workers::OpenDevice("cl:0");
    if (!device.ok()) GTEST_SKIP() << device.status();
    machine_ = {"cl:0", (*device)->Target(), 4};
  }

  Machine machine_;
};

// Two reductions over all warps, by way of shared memory; scalars and masks.
TEST_F(OpenCl, Softmax) {
  std::ifstream file("examples/softmax.ttir");
  const std::string ir(std::istreambuf_iterator<char>(file), {});
  constexpr int kRows = 3, kColumns = 1000, kStride = 1008;
  Array in = Moderate("f32", kRows * kStride, 1), out("f32", in.size()), expected("f32", in.size());
  for (int row = 0; row < kRows; ++row) {
    double sum = 0;
    for (int i = 0; i < kColumns; ++i) sum += std::exp(in.Float(row * kStride + i));
    for (int i = 0; i < kColumns; ++i)
      expected.SetFloat(row * kStride + i, std::exp(in.Float(row * kStride + i)) / sum);
  }
  const absl::Status status = RunKernel(machine_, ir, {kRows}, {out, in, int32_t{kStride}, int32_t{kColumns}});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Agree(out, expected, 1e-5));
}

// out[n, m] = sum over k of a[m, k] * b[k, n]: a product, and a result that changes its layout.
TEST_F(OpenCl, ProductAndTranspose) {
  constexpr int kSize = 32;
  Array a = Moderate("f16", kSize * kSize, 1), b = Moderate("f16", kSize * kSize, 2);
  Array out("f32", kSize * kSize), expected = out;
  for (int m = 0; m < kSize; ++m)
    for (int n = 0; n < kSize; ++n) {
      double sum = 0;
      for (int k = 0; k < kSize; ++k) sum += a.Float(m * kSize + k) * b.Float(k * kSize + n);
      expected.SetFloat(n * kSize + m, sum);
    }
  const absl::Status status = RunKernel(machine_, R"(module {
  tt.func public @kernel(%a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %out: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
    %ap = tt.addptr %as, %i : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
    %af = tt.load %ap : tensor<1024x!tt.ptr<f16>>
    %x = tt.reshape %af : tensor<1024xf16> -> tensor<32x32xf16>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
    %bp = tt.addptr %bs, %i : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
    %bf = tt.load %bp : tensor<1024x!tt.ptr<f16>>
    %y = tt.reshape %bf : tensor<1024xf16> -> tensor<32x32xf16>
    %d = tt.dot %x, %y, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    %t = tt.trans %d {order = array<i32: 1, 0>} : tensor<32x32xf32> -> tensor<32x32xf32>
    %f = tt.reshape %t : tensor<32x32xf32> -> tensor<1024xf32>
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %op = tt.addptr %os, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    tt.store %op, %f : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
})",
                                        {1}, {a, b, out});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Agree(out, expected, 1e-3));
}

// Every element of every program adds to the same word; out has the sums up to each element.
TEST_F(OpenCl, AtomicsAndScans) {
  Array total = Array::OfInts("i32", {5}), out("i64", 256), expected = out;
  for (int i = 0; i < 256; ++i) expected.SetInt(i, i * (i + 1) / 2);
  const absl::Status status = RunKernel(machine_, R"(module {
  tt.func public @kernel(%total: !tt.ptr<i32>, %out: !tt.ptr<i64>) {
    %all = arith.constant dense<true> : tensor<256xi1>
    %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
    %ts = tt.splat %total : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %old = tt.atomic_rmw add, relaxed, gpu, %ts, %i, %all : (tensor<256x!tt.ptr<i32>>, tensor<256xi32>, tensor<256xi1>) -> tensor<256xi32>
    %wide = arith.extsi %i : tensor<256xi32> to tensor<256xi64>
    %sums = "tt.scan"(%wide) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: i64, %b: i64):
      %c = arith.addi %a, %b : i64
      tt.scan.return %c : i64
    }) : (tensor<256xi64>) -> tensor<256xi64>
    %os = tt.splat %out : !tt.ptr<i64> -> tensor<256x!tt.ptr<i64>>
    %op = tt.addptr %os, %i : tensor<256x!tt.ptr<i64>>, tensor<256xi32>
    tt.store %op, %sums : tensor<256x!tt.ptr<i64>>
    tt.return
  }
})",
                                        {7}, {total, out});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(total.Int(0), 5 + 7 * 255 * 256 / 2);
  EXPECT_TRUE(Agree(out, expected));
}

}  // namespace
}  // namespace tritond::conformance
