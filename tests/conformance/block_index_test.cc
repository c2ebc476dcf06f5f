// SPDX-License-Identifier: Apache-2.0
// Blocks whose indices have 64 bits, in tensors whose sizes have 32. They may begin anywhere.
#include <cstdint>
#include <limits>
#include <string>

#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr int kCount = 256, kSize = 100, kTurns = 2;

// Sums up the elements of blocks that begin at `start`, and so much later in each turn. Others count as -1.
constexpr char kBlocks[] = R"(module {
  tt.func public @blocks(%in: !tt.ptr<i32>, %out: !tt.ptr<i32>, %start: i32, %step: i32, %stride: i32, %size: i32, %turns: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<-1> : tensor<256xi32>
    %sums = arith.constant dense<0> : tensor<256xi32>
    %zeros = arith.constant dense<0> : tensor<256xi64>
    %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
    %wide = arith.extsi %i : tensor<256xi32> to tensor<256xi64>
    %strides = arith.extsi %stride : i32 to i64
    %all_strides = tt.splat %strides : i64 -> tensor<256xi64>
    %limit = arith.extsi %size : i32 to i64
    %limits = tt.splat %limit : i64 -> tensor<256xi64>
    %ins = tt.splat %in : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %all = scf.for %t = %c0 to %turns step %c1 iter_args(%sum = %sums) -> (tensor<256xi32>) : i32 {
      %moved = arith.muli %t, %step : i32
      %first = arith.addi %start, %moved : i32
      %first_wide = arith.extsi %first : i32 to i64
      %firsts = tt.splat %first_wide : i64 -> tensor<256xi64>
      %index = arith.addi %firsts, %wide : tensor<256xi64>
      %offset = arith.muli %index, %all_strides : tensor<256xi64>
      %p = tt.addptr %ins, %offset : tensor<256x!tt.ptr<i32>>, tensor<256xi64>
      %low = arith.cmpi sge, %index, %zeros : tensor<256xi64>
      %high = arith.cmpi slt, %index, %limits : tensor<256xi64>
      %mask = arith.andi %low, %high : tensor<256xi1>
      %v = tt.load %p, %mask, %none : tensor<256x!tt.ptr<i32>>
      %next = arith.addi %sum, %v : tensor<256xi32>
      scf.yield %next : tensor<256xi32>
    }
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %to = tt.addptr %outs, %i : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    tt.store %to, %all : tensor<256x!tt.ptr<i32>>
    tt.return
  }
}
)";

class BlockIndex : public testing::TestWithParam<Machine> {};

TEST_P(BlockIndex, IsWithinTheTensorOrNotAccessed) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max(), kLeast = std::numeric_limits<int32_t>::min();
  for (const int32_t start : {0, 7, -20, 90, 99, -256, kMost, kMost - 100, kLeast, kLeast + 5})
    for (const int32_t step : {0, 64})
      for (const int32_t size : {kSize, 1, 0, -5, kLeast})
        for (const int32_t stride : {1, 3}) {
          Array in("i32", int64_t{kSize} * stride), out("i32", kCount), expected = out;
          for (int i = 0; i < kSize * stride; ++i) in.SetInt(i, 1000 + i);
          for (int i = 0; i < kCount; ++i) {
            int64_t sum = 0;
            for (int turn = 0; turn < kTurns; ++turn) {
              const auto first =
                  static_cast<int32_t>(static_cast<uint32_t>(start) + static_cast<uint32_t>(turn * step));
              const int64_t index = int64_t{first} + i;
              sum += index >= 0 && index < size ? 1000 + index * stride : -1;
            }
            expected.SetInt(i, sum);
          }
          absl::Status status = RunKernel(GetParam(), kBlocks, {}, {in, out, start, step, stride, size, kTurns});
          ASSERT_TRUE(status.ok()) << status;
          EXPECT_TRUE(Agree(out, expected)) << start << " " << step << " " << size << " " << stride;
        }
}

INSTANTIATE_TEST_SUITE_P(Machines, BlockIndex, testing::ValuesIn(Machines({4})),
                         [](const auto& info) { return NameOf(info.param); });

}  // namespace
}  // namespace tritond::conformance
