// SPDX-License-Identifier: Apache-2.0
// What the targets say of their matrix instructions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/ttg_dialect.h"
#include "compiler/targets/target.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"

namespace tritond::compiler {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// "16x8x16 f32", with the number of warps where it is not one.
std::vector<std::string> ShapesOf(const std::string& target, const std::string& operands) {
  auto made = FindTarget(target, {});
  if (!made.ok()) return {made.status().ToString()};
  std::vector<std::string> shapes;
  for (const MatrixShape& shape : (*made)->Info().matrix_instructions)
    if (shape.operands == operands)
      shapes.push_back(absl::StrCat(shape.m, "x", shape.n, "x", shape.k, " ", shape.accumulator,
                                    shape.warps > 1 ? absl::StrCat(" ", shape.warps) : ""));
  return shapes;
}

TEST(MatrixInstructions, OfNvidia) {
  EXPECT_THAT(ShapesOf("cuda:80", "f16"), ElementsAre("16x8x16 f32"));
  EXPECT_THAT(ShapesOf("cuda:80", "f8"), IsEmpty());
  EXPECT_THAT(ShapesOf("cuda:90", "f8"), ElementsAre("16x8x32 f32", "64x256x32 f32 4"));
  EXPECT_THAT(ShapesOf("cuda:90", "f64"), ElementsAre("16x8x8 f64"));
  EXPECT_THAT(ShapesOf("cuda:120", "bf16"), ElementsAre("16x8x16 f32"));
  EXPECT_THAT(ShapesOf("cuda:120", "mx"), ElementsAre("16x8x32 f32"));
  EXPECT_THAT(ShapesOf("cuda:120", "nvfp4"), ElementsAre("16x8x64 f32"));
  EXPECT_THAT(ShapesOf("cuda:90", "mx"), IsEmpty());
}

TEST(MatrixInstructions, OfAmd) {
  EXPECT_THAT(ShapesOf("hip:gfx942", "f16"), ElementsAre("32x32x8 f32", "16x16x16 f32"));
  EXPECT_THAT(ShapesOf("hip:gfx950", "bf16"), Contains("32x32x16 f32"));
  EXPECT_THAT(ShapesOf("hip:gfx950", "f8"),
              ElementsAre("32x32x64 f32", "32x32x16 f32", "16x16x128 f32", "16x16x32 f32"));
  EXPECT_THAT(ShapesOf("hip:gfx950", "mx"), ElementsAre("32x32x64 f32", "16x16x128 f32"));
  EXPECT_THAT(ShapesOf("hip:gfx942", "mx"), IsEmpty());
  EXPECT_THAT(ShapesOf("hip:gfx1100", "i8"), ElementsAre("16x16x16 i32"));
}

TEST(MatrixInstructions, OfIntel) {
  EXPECT_THAT(ShapesOf("xpu:pvc", "bf16"), ElementsAre("8x16x16 f32"));
  EXPECT_THAT(ShapesOf("xpu:pvc:32", "bf16"), IsEmpty());
  EXPECT_THAT(ShapesOf("xpu:dg2:8", "bf16"), ElementsAre("8x8x16 f32"));
  EXPECT_THAT(ShapesOf("xpu:dg2:8", "tf32"), IsEmpty());
  EXPECT_THAT(ShapesOf("xpu:dg2", "bf16"), IsEmpty());
}

int64_t ProductsOf(const std::string& target, const std::string& operands, bool reads_buffers) {
  auto made = FindTarget(target, {});
  if (!made.ok()) return -1;
  for (const MatrixShape& shape : (*made)->Info().matrix_instructions)
    if (shape.operands == operands && shape.reads_buffers == reads_buffers) return shape.products;
  return -1;
}

// 312 TFLOP/s of an A100's 108 multiprocessors at 1.41 GHz, 989 of an H200's 132 at 1.83.
TEST(MatrixInstructions, HaveRates) {
  EXPECT_EQ(ProductsOf("cuda:80", "f16", false), 1024);
  EXPECT_EQ(ProductsOf("cuda:90", "f16", true), 2048);
  EXPECT_EQ(ProductsOf("cuda:90", "f8", true), 4096);
  EXPECT_EQ(ProductsOf("cuda:90", "tf32", true), 1024);
  EXPECT_EQ(ProductsOf("cuda:90", "f64", false), 0);
}

// Each element of an accumulator is in one register of one lane.
TEST(MatrixInstructions, HaveTheLayoutsOfTheirAccumulators) {
  mlir::MLIRContext context;
  context.loadDialect<ttg::TTGDialect>();
  mlir::Builder b(&context);
  for (const std::string& target : TargetNames()) {
    auto made = FindTarget(target, {});
    ASSERT_TRUE(made.ok()) << made.status();
    for (const MatrixShape& shape : (*made)->Info().matrix_instructions) {
      const std::string what = absl::StrCat(target, ", ", shape.operands, ": ", shape.encoding);
      mlir::Attribute encoding = mlir::parseAttribute(shape.encoding, &context);
      ASSERT_TRUE(llvm::isa_and_present<ttg::DistributedEncoding>(encoding)) << what;
      const LinearLayout layout =
          ttg::ToLinearLayout(mlir::RankedTensorType::get({shape.m, shape.n}, b.getF32Type(), encoding));
      EXPECT_EQ(layout.InSize("warp"), shape.warps) << what;
      EXPECT_EQ(layout.InSize("lane"), (*made)->Info().lanes) << what;
      EXPECT_TRUE(layout.IsInvertible()) << what;
    }
  }
}

TEST(MatrixInstructions, HostHasNone) { EXPECT_THAT(ShapesOf("host", "f16"), IsEmpty()); }

}  // namespace
}  // namespace tritond::compiler
