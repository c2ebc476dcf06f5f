// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/matrix_shapes.h"

#include "absl/strings/str_cat.h"

namespace tritond::compiler::nvidia {
namespace {

struct Operand {
  const char* type;
  int bits;
  const char* accumulator;
};
constexpr Operand kOperands[] = {{"f16", 16, "f32"}, {"bf16", 16, "f32"}, {"tf32", 32, "f32"},
                                 {"f64", 64, "f64"}, {"i8", 8, "i32"},    {"f8", 8, "f32"}};

std::string Encoding(int version, int warps, const std::string& shape) {
  return absl::StrCat("#ttg.nvidia_mma<{versionMajor = ", version, ", versionMinor = 0, warpsPerCTA = [", warps,
                      ", 1], instrShape = [", shape, "]}>");
}

}  // namespace

std::vector<MatrixShape> MatrixShapesOf(const Architecture& arch) {
  const int generation = arch.compute_capability;
  std::vector<MatrixShape> shapes;
  for (const Operand& operand : kOperands) {
    if (std::string(operand.type) == "f8" && generation < kFirstWithNarrowDots) continue;
    const bool is_double = operand.bits == 64;
    // Narrower operands go faster; of f64 the rate is another one.
    auto rate = [&](int products) { return is_double ? 0 : products * 16 / operand.bits; };
    // Of f64 two instructions make one of eight along K, where it is not one already.
    const int k = is_double ? 8 : kTileKBytes * 8 / operand.bits;
    shapes.push_back({operand.type, operand.accumulator, kTileM, kTileN, k, 1, false,
                      Encoding(2, 1, absl::StrCat(kTileM, ", ", kTileN)), /*scale_group=*/0, rate(arch.mma_products)});
    if (generation >= kFirstWithWgmma && generation <= kLastWithWgmma && !is_double)
      shapes.push_back({operand.type, operand.accumulator, kGroupTileM, kMaxGroupTileN, k, kWarpsOfGroup, true,
                        Encoding(3, kWarpsOfGroup, absl::StrCat(kTileM, ", ", kMaxGroupTileN, ", ", k)),
                        /*scale_group=*/0, rate(arch.group_products)});
    // Four warps read the accumulators.
    if (generation >= kFirstWithTensorMemory && generation <= kLastWithTensorMemory && !is_double)
      shapes.push_back({operand.type, operand.accumulator, kTensorTileM, kMaxGroupTileN, k, kWarpsOfGroup, true,
                        Encoding(5, kWarpsOfGroup, absl::StrCat(kTensorTileM, ", ", kMaxGroupTileN, ", ", k)),
                        /*scale_group=*/0, rate(arch.group_products)});
  }
  if (generation >= kFirstWithBlockScales) {
    const std::string encoding = Encoding(2, 1, absl::StrCat(kTileM, ", ", kTileN));
    // Of two operands of e2m1 K is twice as long, where the dot's is.
    shapes.push_back({"mx", "f32", kTileM, kTileN, kTileKBytes, 1, false, encoding, kScaleGroup});
    shapes.push_back({"nvfp4", "f32", kTileM, kTileN, 2 * kTileKBytes, 1, false, encoding, kNarrowScaleGroup});
  }
  return shapes;
}

}  // namespace tritond::compiler::nvidia
