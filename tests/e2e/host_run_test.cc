// SPDX-License-Identifier: Apache-2.0
// The host target's code on the host device: whole kernels, compiled and run, with threads that meet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "compiler/driver/compile.h"
#include "workers/device/devices.h"

namespace tritond {
namespace {

using testing::HasSubstr;
using workers::Argument;
using workers::Buffer;

std::string Example(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream("examples/" + name + ".ttir").rdbuf();
  return text.str();
}

// A target, and the warps of a program.
struct Machine {
  std::string target;
  int num_warps;
};

class HostRun : public testing::TestWithParam<Machine> {
 protected:
  void SetUp() override {
    auto device = workers::OpenDevice("host");
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
  }

  absl::StatusOr<std::unique_ptr<workers::Kernel>> Load(const std::string& ir) {
    static compiler::Compiler* warm = compiler::Compiler::Create().release();
    compiler::CompileRequest request;
    request.ir = ir;
    request.target = GetParam().target;
    request.options = {{"num_warps", GetParam().num_warps}};
    request.outputs = {compiler::Stage::kBinary};
    compiler::CompileResult result = warm->Compile(request);
    if (!result.status.ok()) return result.status;
    auto info = workers::ParseKernelInfo(result.metadata.dump());
    if (!info.ok()) return info.status();
    return device_->Load(result.artifacts[0].bytes, *info);
  }

  absl::Status Run(const std::string& ir, workers::Grid grid, const std::vector<Argument>& arguments) {
    auto kernel = Load(ir);
    return kernel.ok() ? device_->Launch(**kernel, grid, arguments) : kernel.status();
  }

  Buffer Upload(const std::vector<float>& values) {
    auto buffer = device_->Allocate(values.size() * sizeof(float));
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    const char* bytes = reinterpret_cast<const char*>(values.data());
    EXPECT_TRUE(device_->CopyIn(*buffer, 0, absl::MakeSpan(bytes, values.size() * sizeof(float))).ok());
    return *std::move(buffer);
  }

  std::vector<float> Download(const Buffer& buffer) {
    std::vector<float> values(buffer.size() / sizeof(float));
    EXPECT_TRUE(
        device_->CopyOut(buffer, 0, absl::MakeSpan(reinterpret_cast<char*>(values.data()), buffer.size())).ok());
    return values;
  }

  std::unique_ptr<workers::Device> device_;
};

std::vector<float> Numbers(int count) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i) values[i] = std::sin(0.37f * i) * 3;
  return values;
}

TEST_P(HostRun, SoftmaxOfRows) {
  constexpr int kRows = 3, kStride = 1008, kColumns = 1000;
  const std::vector<float> x = Numbers(kRows * kStride);
  const Buffer in = Upload(x), out = Upload(std::vector<float>(x.size(), -1));
  const absl::Status status = Run(Example("softmax"), {kRows},
                                  {Argument::Pointer(out), Argument::Pointer(in), Argument::Scalar<int32_t>(kStride),
                                   Argument::Scalar<int32_t>(kColumns)});
  ASSERT_TRUE(status.ok()) << status;
  const std::vector<float> y = Download(out);
  for (int row = 0; row < kRows; ++row) {
    double sum = 0;
    for (int i = 0; i < kColumns; ++i) sum += std::exp(double{x[row * kStride + i]});
    for (int i = 0; i < kStride; ++i) {
      const double expected = i < kColumns ? std::exp(double{x[row * kStride + i]}) / sum : -1;
      ASSERT_NEAR(y[row * kStride + i], expected, 1e-6) << "row " << row << ", column " << i;
    }
  }
}

constexpr char kPrefixSum[] = R"(module {
  tt.func public @prefix_sum(%in: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
    %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
    %ins = tt.splat %in : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %from = tt.addptr %ins, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %x = tt.load %from : tensor<512x!tt.ptr<f32>>
    %sum = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.scan.return %s : f32
    }) : (tensor<512xf32>) -> tensor<512xf32>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %to = tt.addptr %outs, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    tt.store %to, %sum : tensor<512x!tt.ptr<f32>>
    tt.return
  }
}
)";

TEST_P(HostRun, PrefixSum) {
  std::vector<float> x(512);
  for (int i = 0; i < 512; ++i) x[i] = i % 7;
  const Buffer in = Upload(x), out = Upload(std::vector<float>(512));
  const absl::Status status = Run(kPrefixSum, {}, {Argument::Pointer(in), Argument::Pointer(out)});
  ASSERT_TRUE(status.ok()) << status;
  float sum = 0;
  const std::vector<float> y = Download(out);
  for (int i = 0; i < 512; ++i) ASSERT_EQ(y[i], sum += x[i]) << i;
}

constexpr char kProduct[] = R"(module {
  tt.func public @product(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %size = arith.constant dense<32> : tensor<32x1xi32>
    %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %rows = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %row_starts = arith.muli %rows, %size : tensor<32x1xi32>
    %columns = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %r = tt.broadcast %row_starts : tensor<32x1xi32> -> tensor<32x32xi32>
    %k = tt.broadcast %columns : tensor<1x32xi32> -> tensor<32x32xi32>
    %offsets = arith.addi %r, %k : tensor<32x32xi32>
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %pa = tt.addptr %as, %offsets : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    %bs = tt.splat %b : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %pb = tt.addptr %bs, %offsets : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    %cs = tt.splat %c : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %pc = tt.addptr %cs, %offsets : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    %x = tt.load %pa : tensor<32x32x!tt.ptr<f32>>
    %y = tt.load %pb : tensor<32x32x!tt.ptr<f32>>
    %t = tt.trans %y {order = array<i32: 1, 0>} : tensor<32x32xf32> -> tensor<32x32xf32>
    %z = tt.dot %x, %t, %zero : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
    tt.store %pc, %z : tensor<32x32x!tt.ptr<f32>>
    tt.return
  }
}
)";

TEST_P(HostRun, ProductWithATransposedMatrix) {
  std::vector<float> a(1024), b(1024);
  for (int i = 0; i < 1024; ++i) a[i] = i % 11 - 5, b[i] = i % 13 - 6;
  const Buffer in_a = Upload(a), in_b = Upload(b), out = Upload(std::vector<float>(1024));
  const absl::Status status =
      Run(kProduct, {}, {Argument::Pointer(in_a), Argument::Pointer(in_b), Argument::Pointer(out)});
  ASSERT_TRUE(status.ok()) << status;
  const std::vector<float> c = Download(out);
  for (int i = 0; i < 32; ++i) {
    for (int j = 0; j < 32; ++j) {
      float sum = 0;
      for (int k = 0; k < 32; ++k) sum += a[32 * i + k] * b[32 * j + k];
      ASSERT_EQ(c[32 * i + j], sum) << i << ", " << j;
    }
  }
}

TEST_P(HostRun, AnAccessBeyondTheBufferIsAnErrorWithItsPlace) {
  const Buffer in = Upload(std::vector<float>(512)), out = Upload(std::vector<float>(500));
  const absl::Status status = Run(kPrefixSum, {}, {Argument::Pointer(in), Argument::Pointer(out)});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("ttir:14:5"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("prefix_sum"));
}

TEST_P(HostRun, AnAddressThatIsLessAlignedThanPromisedIsAnErrorWithItsPlace) {
  const Buffer matrix = Upload(std::vector<float>(1028));
  const absl::Status status =
      Run(kProduct, {}, {Argument::Pointer(matrix, 4), Argument::Pointer(matrix), Argument::Pointer(matrix)});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("misaligned address: 16 bytes"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("ttir:18:10"));
}

INSTANTIATE_TEST_SUITE_P(Machines, HostRun,
                         testing::Values(Machine{"host", 1}, Machine{"host", 4}, Machine{"host:64", 2}),
                         [](const auto& info) {
                           std::string target = info.param.target == "host" ? "Host" : "Host64";
                           return absl::StrCat(target, "With", info.param.num_warps, "Warps");
                         });

}  // namespace
}  // namespace tritond
