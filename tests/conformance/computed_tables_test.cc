// SPDX-License-Identifier: Apache-2.0
// What is made of gathered elements and of their neighbours, which the compiler makes in the table. It is also an
// address, which it does not.
#include <cstdint>
#include <string>

#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr int kTable = 16, kCount = 4096;

// y = 3 * table[i] - table[i - 1], and what lies in `rows` at order[i].
constexpr char kNeighbours[] = R"(module {
  tt.func public @neighbours(%table: !tt.ptr<i32>, %order: !tt.ptr<i32>, %at: !tt.ptr<i32>, %rows: !tt.ptr<i32>, %y: !tt.ptr<i32>,
                             %z: !tt.ptr<i32>) {
    %i = tt.make_range {start = 0 : i32, end = 4096 : i32} : tensor<4096xi32>
    %k = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
    %one = arith.constant dense<1> : tensor<4096xi32>
    %three = arith.constant dense<3> : tensor<4096xi32>
    %ts = tt.splat %table : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %tp = tt.addptr %ts, %k : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %t = tt.load %tp : tensor<16x!tt.ptr<i32>>
    %as = tt.splat %at : !tt.ptr<i32> -> tensor<4096x!tt.ptr<i32>>
    %ap = tt.addptr %as, %i : tensor<4096x!tt.ptr<i32>>, tensor<4096xi32>
    %a = tt.load %ap : tensor<4096x!tt.ptr<i32>>
    %before = arith.subi %a, %one : tensor<4096xi32>
    %g = tt.gather %t[%a] {axis = 0 : i32} : (tensor<16xi32>, tensor<4096xi32>) -> tensor<4096xi32>
    %h = tt.gather %t[%before] {axis = 0 : i32} : (tensor<16xi32>, tensor<4096xi32>) -> tensor<4096xi32>
    %g3 = arith.muli %g, %three : tensor<4096xi32>
    %d = arith.subi %g3, %h : tensor<4096xi32>
    %ys = tt.splat %y : !tt.ptr<i32> -> tensor<4096x!tt.ptr<i32>>
    %yp = tt.addptr %ys, %i : tensor<4096x!tt.ptr<i32>>, tensor<4096xi32>
    tt.store %yp, %d : tensor<4096x!tt.ptr<i32>>
    %os = tt.splat %order : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %op = tt.addptr %os, %k : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %o = tt.load %op : tensor<16x!tt.ptr<i32>>
    %w = tt.gather %o[%a] {axis = 0 : i32} : (tensor<16xi32>, tensor<4096xi32>) -> tensor<4096xi32>
    %rs = tt.splat %rows : !tt.ptr<i32> -> tensor<4096x!tt.ptr<i32>>
    %rp = tt.addptr %rs, %w : tensor<4096x!tt.ptr<i32>>, tensor<4096xi32>
    %r = tt.load %rp : tensor<4096x!tt.ptr<i32>>
    %zs = tt.splat %z : !tt.ptr<i32> -> tensor<4096x!tt.ptr<i32>>
    %zp = tt.addptr %zs, %i : tensor<4096x!tt.ptr<i32>>, tensor<4096xi32>
    tt.store %zp, %r : tensor<4096x!tt.ptr<i32>>
    tt.return
  }
}
)";

class ComputedTables : public testing::TestWithParam<Machine> {};

TEST_P(ComputedTables, HaveWhatWasMadeOfEachElement) {
  Array table("i32", kTable), order = table, rows = table, at("i32", kCount), y = at, z = at, expected_y = at,
                              expected_z = at;
  for (int i = 0; i < kTable; ++i) {
    table.SetInt(i, 100 - i * i * 3);
    order.SetInt(i, i * 7 % kTable);
    rows.SetInt(i, 1000 + i * i);
  }
  for (int i = 0; i < kCount; ++i) {
    const int index = 1 + i * 11 % (kTable - 1);
    at.SetInt(i, index);
    expected_y.SetInt(i, 3 * table.Int(index) - table.Int(index - 1));
    expected_z.SetInt(i, rows.Int(order.Int(index)));
  }
  const absl::Status status = RunKernel(GetParam(), kNeighbours, {1, 1, 1}, {table, order, at, rows, y, z});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Agree(y, expected_y));
  EXPECT_TRUE(Agree(z, expected_z));
}

INSTANTIATE_TEST_SUITE_P(Devices, ComputedTables, testing::ValuesIn(Machines({1, 4, 8})),
                         [](const auto& info) { return NameOf(info.param); });

}  // namespace
}  // namespace tritond::conformance
