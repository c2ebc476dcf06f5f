// SPDX-License-Identifier: Apache-2.0
// Programs of several blocks whose parts depend on each other through memory. The emulated device lets one block run as
// far as it can before the next one, so what comes too early shows.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr int kRows = 64;
constexpr char kDevice[] = "emulated:cuda:90";

// A matrix is turned where it lies: what a block stores another one has loaded.
constexpr char kTurn[] = R"(module {
  tt.func public @turn(%x: !tt.ptr<i32>) {
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %down = arith.constant dense<64> : tensor<64x1xi32>
    %across = arith.constant dense<64> : tensor<1x64xi32>
    %r = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %c = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %r64 = arith.muli %r, %down : tensor<64x1xi32>
    %c64 = arith.muli %c, %across : tensor<1x64xi32>
    %from_r = tt.broadcast %r64 : tensor<64x1xi32> -> tensor<64x64xi32>
    %from_c = tt.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
    %to_r = tt.broadcast %r : tensor<64x1xi32> -> tensor<64x64xi32>
    %to_c = tt.broadcast %c64 : tensor<1x64xi32> -> tensor<64x64xi32>
    %from = arith.addi %from_r, %from_c : tensor<64x64xi32>
    %to = arith.addi %to_r, %to_c : tensor<64x64xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x64x!tt.ptr<i32>>
    %p = tt.addptr %xs, %from : tensor<64x64x!tt.ptr<i32>>, tensor<64x64xi32>
    %q = tt.addptr %xs, %to : tensor<64x64x!tt.ptr<i32>>, tensor<64x64xi32>
    $TURN
    tt.return
  }
}
)";
constexpr char kOnce[] = R"(%v = tt.load %p : tensor<64x64x!tt.ptr<i32>>
    tt.store %q, %v : tensor<64x64x!tt.ptr<i32>>)";
// Three times, and each time one is added.
constexpr char kLoop[] = R"(%one = arith.constant dense<1> : tensor<64x64xi32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    scf.for %n = %c0 to %c3 step %c1 : i32 {
      %v = tt.load %p : tensor<64x64x!tt.ptr<i32>>
      %w = arith.addi %v, %one : tensor<64x64xi32>
      tt.store %q, %w : tensor<64x64x!tt.ptr<i32>>
    })";

std::string Turn(const char* how) { return absl::StrReplaceAll(kTurn, {{"$TURN", how}}); }

Array Numbers() {
  Array numbers("i32", kRows * kRows);
  for (int i = 0; i < kRows * kRows; ++i) numbers.SetInt(i, i);
  return numbers;
}

Array Turned(int added) {
  Array turned = Numbers();
  for (int i = 0; i < kRows * kRows; ++i) turned.SetInt(i, i % kRows * kRows + i / kRows + added);
  return turned;
}

struct Case {
  const char* how;
  int added;
  int blocks;
};

class Clusters : public testing::TestWithParam<Case> {};

TEST_P(Clusters, TurnAMatrixInPlace) {
  Array x = Numbers();
  const std::string options = absl::StrCat("\"num_ctas\": ", GetParam().blocks);
  const absl::Status status = RunKernel({kDevice, kDevice, 4}, Turn(GetParam().how), {1}, {x}, options);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Agree(x, Turned(GetParam().added)));
}

// Else the test above says nothing.
TEST_P(Clusters, AreWrongWithoutTheirBarriers) {
  const Machine machine = {kDevice, kDevice, 4};
  const std::string options = absl::StrCat("\"num_ctas\": ", GetParam().blocks);
  auto kernel = CompileToLlir(machine, Turn(GetParam().how), options);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const std::string with = kernel->text;
  for (const char* half : {"arrive", "wait"})
    absl::StrReplaceAll({{absl::StrCat("call void @llvm.nvvm.barrier.cluster.", half, ".aligned()"), ""}},
                        &kernel->text);
  ASSERT_FALSE(kernel->text == with) << "no barrier";
  Array x = Numbers();
  const absl::Status status = RunLlir(machine, *kernel, {1}, {x});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_FALSE(Agree(x, Turned(GetParam().added)));
}

INSTANTIATE_TEST_SUITE_P(Turns, Clusters,
                         testing::Values(Case{kOnce, 0, 2}, Case{kOnce, 0, 8}, Case{kLoop, 3, 2}, Case{kLoop, 3, 4}),
                         [](const auto& info) {
                           return absl::StrCat(info.param.added, "Added", info.param.blocks, "Blocks");
                         });

// Nobody can have a part of a number: the other block ends at once.
TEST(Clusters, ComputeNumbersInTheFirstBlock) {
  const std::string ir = R"(module {
  tt.func public @alone(%x: !tt.ptr<i32>) {
    %v = tt.load %x : !tt.ptr<i32>
    %w = arith.addi %v, %v : i32
    tt.store %x, %w : !tt.ptr<i32>
    tt.return
  }
}
)";
  Array x = Array::OfInts("i32", {21});
  const absl::Status status = RunKernel({kDevice, kDevice, 1}, ir, {1}, {x}, "\"num_ctas\": 2");
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(x.Int(0), 42);
}

}  // namespace
}  // namespace tritond::conformance
