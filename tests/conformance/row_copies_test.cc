// SPDX-License-Identifier: Apache-2.0
// Scores whose row and column belong to one document, as FlexAttention's: a loop carries the columns, and loads the
// document of each beside the operands of its products.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr int kSize = 64, kColumns = 4 * kSize;

// The sum of (x y') y over all y of the same document as x, block by block, `step` columns apart.
constexpr char kDocuments[] = R"(module {
  tt.func public @documents(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32},
                            %ids: !tt.ptr<$T> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32},
                            %blocks: i32, %step: i32 {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %width = arith.constant dense<64> : tensor<64x1xi32>
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %along = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %starts = arith.muli %rows, %width : tensor<64x1xi32>
    %all_starts = tt.broadcast %starts : tensor<64x1xi32> -> tensor<64x64xi32>
    %all_along = tt.broadcast %along : tensor<1x64xi32> -> tensor<64x64xi32>
    %offsets = arith.addi %all_starts, %all_along : tensor<64x64xi32>
    %xs = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %xp = tt.addptr %xs, %offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %a = tt.load %xp : tensor<64x64x!tt.ptr<f16>>
    %ids_of_rows = tt.splat %ids : !tt.ptr<$T> -> tensor<64x1x!tt.ptr<$T>>
    %rp = tt.addptr %ids_of_rows, %rows : tensor<64x1x!tt.ptr<$T>>, tensor<64x1xi32>
    %row_ids = tt.load %rp : tensor<64x1x!tt.ptr<$T>>
    %all_row_ids = tt.broadcast %row_ids : tensor<64x1x$T> -> tensor<64x64x$T>
    %ids_of_columns = tt.splat %ids : !tt.ptr<$T> -> tensor<1x64x!tt.ptr<$T>>
    %ys = tt.splat %y : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %moves = tt.splat %step : i32 -> tensor<64xi32>
    %r0:2 = scf.for %i = %c0 to %blocks step %c1 iter_args(%acc = %zero, %at = %r) -> (tensor<64x64xf32>, tensor<64xi32>) : i32 {
      %at_rows = tt.expand_dims %at {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %at_starts = arith.muli %at_rows, %width : tensor<64x1xi32>
      %yp0 = tt.addptr %ys, %at_starts : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
      %yp1 = tt.broadcast %yp0 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
      %yp = tt.addptr %yp1, %all_along : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %b = tt.load %yp : tensor<64x64x!tt.ptr<f16>>
      %bt = tt.trans %b {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
      %s = tt.dot %a, %bt, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %columns = tt.expand_dims %at {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %cp = tt.addptr %ids_of_columns, %columns : tensor<1x64x!tt.ptr<$T>>, tensor<1x64xi32>
      %column_ids = tt.load %cp : tensor<1x64x!tt.ptr<$T>>
      %all_column_ids = tt.broadcast %column_ids : tensor<1x64x$T> -> tensor<64x64x$T>
      %same = arith.cmpi eq, %all_row_ids, %all_column_ids : tensor<64x64x$T>
      %of_document = arith.select %same, %s, %zero : tensor<64x64xi1>, tensor<64x64xf32>
      %p = arith.truncf %of_document : tensor<64x64xf32> to tensor<64x64xf16>
      %d = tt.dot %p, %b, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %next = arith.addi %at, %moves : tensor<64xi32>
      scf.yield %d, %next : tensor<64x64xf32>, tensor<64xi32>
    }
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %op = tt.addptr %os, %offsets : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %op, %r0#0 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
)";

struct Case {
  std::string type;
  int stages;
  Machine machine;
};

class RowCopies : public testing::TestWithParam<Case> {};

TEST_P(RowCopies, TellWhichScoresCount) {
  const Case& c = GetParam();
  Array x("f16", kSize * kSize), y("f16", kColumns * kSize), ids(c.type, kColumns);
  Array actual("f32", kSize * kSize), expected = actual;
  auto x_at = [](int i, int k) { return (i * 7 + k * 3) % 5 - 2; };
  auto y_at = [](int j, int k) { return (j * 5 + k * 11) % 3 - 1; };
  auto id_of = [](int j) { return j * 13 % 11 / 3; };
  for (int i = 0; i < kSize; ++i)
    for (int k = 0; k < kSize; ++k) x.SetFloat(i * kSize + k, x_at(i, k));
  for (int j = 0; j < kColumns; ++j) {
    ids.SetInt(j, id_of(j));
    for (int k = 0; k < kSize; ++k) y.SetFloat(j * kSize + k, y_at(j, k));
  }
  std::vector<double> sums(kSize * kSize);
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kColumns; ++j) {
      if (id_of(i) != id_of(j)) continue;
      int score = 0;
      for (int k = 0; k < kSize; ++k) score += x_at(i, k) * y_at(j, k);
      for (int k = 0; k < kSize; ++k) sums[i * kSize + k] += score * y_at(j, k);
    }
  for (int i = 0; i < kSize * kSize; ++i) expected.SetFloat(i, sums[i]);
  const std::string ir = Substitute(kDocuments, {{"T", c.type}});
  absl::Status status = RunKernel(c.machine, ir, {}, {x, y, ids, actual, kColumns / kSize, kSize},
                                  absl::StrCat(R"("num_stages": )", c.stages));
  ASSERT_TRUE(status.ok()) << status << "\n" << ir;
  EXPECT_TRUE(Agree(actual, expected, 0)) << ir;
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const Machine& machine : Machines({4, 8}))
    for (const char* type : {"i16", "i32", "i64"})
      for (int stages : {2, 3}) cases.push_back({type, stages, machine});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, RowCopies, testing::ValuesIn(Cases()), [](const auto& info) {
  return absl::StrCat(info.param.type, "_", info.param.stages, "_", NameOf(info.param.machine));
});

}  // namespace
}  // namespace tritond::conformance
