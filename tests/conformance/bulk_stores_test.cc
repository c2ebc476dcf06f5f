// SPDX-License-Identifier: Apache-2.0
// Loops over tiles of a product, which descriptors store. Where a device has bulk copies, these take the place of the
// stores. The tensor is what it is with stores, whatever the order in which copies end.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/conformance/persistent_products.h"

namespace tritond::conformance {
namespace {

std::string Options(const PersistentProducts& p, bool has_copies = true) {
  return absl::StrCat("\"num_stages\": ", p.stages, has_copies ? "" : ", \"bulk_copies\": false");
}

bool HasThem(const Machine& machine) { return absl::EndsWith(machine.device, "cuda:90"); }

// How many copies the kernel starts for a tile, a box each.
int CopiesOf(const Machine& machine, const PersistentProducts& p, bool has_copies = true) {
  absl::StatusOr<LlirKernel> kernel = CompileToLlir(machine, TextOf(p), Options(p, has_copies));
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  int count = 0;
  const std::string text = kernel.ok() ? kernel->text : "";
  for (size_t at = 0; (at = text.find("global.shared::cta.bulk_group", at)) != std::string::npos; ++at) ++count;
  return count;
}

class BulkStores : public testing::TestWithParam<std::tuple<Machine, PersistentProducts>> {};

TEST_P(BulkStores, WriteWhatTheProgramStores) {
  const auto& [machine, p] = GetParam();
  Array left = LeftOf(p), right = RightOf(p), result = ResultOf(p);
  absl::Status status = RunKernel(machine, TextOf(p), {}, {left, right, result}, Options(p));
  ASSERT_TRUE(status.ok()) << status << "\n" << TextOf(p);
  EXPECT_TRUE(Agree(result, ExpectedOf(p)));
  // Warps of sixteen rows hold all columns of them, so that any of these tiles can be cut.
  if (HasThem(machine) && machine.num_warps * 16 == p.tile_rows) EXPECT_GT(CopiesOf(machine, p), 0);
}

class BulkStoresOfTheDevice : public testing::Test {
 protected:
  void SetUp() override {
    for (const Machine& machine : Machines({4}))
      if (HasThem(machine)) machine_ = machine;
    if (machine_.device.empty()) GTEST_SKIP() << "no device of compute capability 9.0";
  }

  Machine machine_;
};

TEST_F(BulkStoresOfTheDevice, AreMadeForWholeBlocks) {
  EXPECT_EQ(CopiesOf(machine_, {}), 1);
  EXPECT_EQ(CopiesOf(machine_, {}, /*has_copies=*/false), 0);
}

TEST_F(BulkStoresOfTheDevice, CostNoBlock) {
  PersistentProducts p;
  p.stages = 3;
  EXPECT_EQ(CopiesOf(machine_, p), 0);  // four blocks have 57 KiB each, and 48 are in use
}

TEST_F(BulkStoresOfTheDevice, AreNotMadeToATensorThatIsRead) {
  PersistentProducts p;
  p.reads_result = true;
  EXPECT_EQ(CopiesOf(machine_, p), 0);
}

// Each second iteration stores its product in a branch, and every one stores twice of it.
constexpr char kBranchKernel[] = R"(
module {
  tt.func public @kernel(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %one_time: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %twice: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1 : i64
    %pitch = arith.constant 64 : i64
    %rows = arith.constant 384 : i32
    %size = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %dx = tt.make_tensor_descriptor %x, [%rows, %size], [%pitch, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x64xf16>>
    %dy = tt.make_tensor_descriptor %y, [%size, %size], [%pitch, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x64xf16>>
    %d1 = tt.make_tensor_descriptor %one_time, [%rows, %size], [%pitch, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x64xf16>>
    %d2 = tt.make_tensor_descriptor %twice, [%rows, %size], [%pitch, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x64xf16>>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %row = arith.muli %i, %size : i32
      %a = tt.descriptor_load %dx[%row, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %b = tt.descriptor_load %dy[%c0, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %d = tt.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %h = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xf16>
      %h2 = arith.addf %h, %h : tensor<64x64xf16>
      %odd = arith.andi %i, %c1 : i32
      %is_odd = arith.cmpi ne, %odd, %c0 : i32
      scf.if %is_odd {
        tt.descriptor_store %d1[%row, %c0], %h : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
      }
      tt.descriptor_store %d2[%row, %c0], %h2 : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
    }
    tt.return
  }
}
)";

TEST(BulkStoresOfBranches, AreOverBeforeTheirSlotIsWritten) {
  constexpr int kSize = 64, kBlocks = 6, kElements = kSize * kSize;
  for (const Machine& machine : Machines({4, 8})) {
    Array x("f16", kBlocks * kElements), y("f16", kElements), one_time("f16", kBlocks * kElements);
    for (size_t i = 0; i < x.size(); ++i) x.SetFloat(i, static_cast<int>(i * 7 % 11) - 5);
    for (int i = 0; i < kElements; ++i) y.SetFloat(i, i / kSize == i % kSize);
    for (size_t i = 0; i < one_time.size(); ++i) one_time.SetFloat(i, 0);
    Array twice = one_time, once_expected = one_time, twice_expected = one_time;
    for (size_t i = 0; i < x.size(); ++i) {
      if (i / kElements % 2 == 1) once_expected.SetFloat(i, x.Float(i));
      twice_expected.SetFloat(i, 2 * x.Float(i));
    }
    absl::Status status =
        RunKernel(machine, kBranchKernel, {}, {x, y, one_time, twice, int32_t{kBlocks}}, "\"num_stages\": 4");
    ASSERT_TRUE(status.ok()) << NameOf(machine) << ": " << status;
    EXPECT_TRUE(Agree(one_time, once_expected)) << NameOf(machine);
    EXPECT_TRUE(Agree(twice, twice_expected)) << NameOf(machine);
  }
}

const PersistentProducts kAll[] = {
    {},
    {"f16", "f16", 100, 50, 40},           // a tile wider than the tensor
    {"f16", "f16", 10, 64, 100, 64, 4},    // tiles beyond the tensor
    {"bf16", "bf16", 100, 120, 160, 128},  // rows of two boxes
    {"f16", "f8E4M3FN", 100, 64, 128, 128},
    {"f16", "f16", 100, 128, 128, 128, 3, 4, 1},
    {"f16", "f16", 100, 128, 128, 128, 3, 4, 8},  // halves that overlap
    {"f16", "f32", 100, 128, 128, 128, 3, 4},     // parts that take turns
    {"f16", "f16", 100, 250, 128, 256, 4, 5, 1},  // parts of halves that take turns
    {"f16", "f16", 100, 64, 128, 64, 3, 4, 0, true},
    {"f16", "f16", 100, 64, 0},
    {"bf16", "bf16", 250, 250, 136, 256, 6, 3, 0, false, 128},  // quarters, by two warp groups
};

INSTANTIATE_TEST_SUITE_P(On, BulkStores, testing::Combine(testing::ValuesIn(Machines({4, 8})), testing::ValuesIn(kAll)),
                         [](const auto& info) {
                           return NameOf(std::get<0>(info.param)) + "_" + NameOf(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace tritond::conformance
