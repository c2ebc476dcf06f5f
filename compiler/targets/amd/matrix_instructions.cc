// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/amd/matrix_instructions.h"

#include "absl/strings/str_cat.h"

namespace tritond::compiler::amd {
namespace {

constexpr MatrixUnit kM2 = MatrixUnit::kMfma2, kM3 = MatrixUnit::kMfma3, kM4 = MatrixUnit::kMfma4,
                     kW1 = MatrixUnit::kWmma1, kW2 = MatrixUnit::kWmma2, kW3 = MatrixUnit::kWmma3;
constexpr MatrixCall kMfma = MatrixCall::kMfma, kFormats = MatrixCall::kFormats, kPlain = MatrixCall::kPlain,
                     kSigned = MatrixCall::kSigned, kModifiers = MatrixCall::kModifiers,
                     kSumModifier = MatrixCall::kSumModifier, kSignedKept = MatrixCall::kSignedKept;

// Of equal tile and kind, those that take more elements come first.
constexpr MatrixRow kRows[] = {
    {kM4, kM4, 32, "f16", 8, 8, 'e', kMfma, "mfma.f32.32x32x16.f16"},
    {kM2, kM4, 32, "f16", 4, 4, 'e', kMfma, "mfma.f32.32x32x8f16"},
    {kM4, kM4, 16, "f16", 8, 8, 'e', kMfma, "mfma.f32.16x16x32.f16"},
    {kM2, kM4, 16, "f16", 4, 4, 'e', kMfma, "mfma.f32.16x16x16f16"},
    {kM4, kM4, 32, "bf16", 8, 8, 'g', kMfma, "mfma.f32.32x32x16.bf16"},
    {kM2, kM4, 32, "bf16", 4, 4, 'h', kMfma, "mfma.f32.32x32x8bf16.1k"},
    {kM4, kM4, 16, "bf16", 8, 8, 'g', kMfma, "mfma.f32.16x16x32.bf16"},
    {kM2, kM4, 16, "bf16", 4, 4, 'h', kMfma, "mfma.f32.16x16x16bf16.1k"},
    {kM2, kM4, 32, "f32", 1, 1, 'f', kMfma, "mfma.f32.32x32x2f32"},
    {kM2, kM4, 16, "f32", 1, 1, 'f', kMfma, "mfma.f32.16x16x4f32"},
    {kM3, kM3, 32, "tf32", 2, 2, 'f', kMfma, "mfma.f32.32x32x4.xf32"},
    {kM3, kM3, 16, "tf32", 2, 2, 'f', kMfma, "mfma.f32.16x16x8.xf32"},
    {kM2, kM4, 16, "f64", 1, 1, 'd', kMfma, "mfma.f64.16x16x4f64"},
    {kM4, kM4, 32, "i8", 16, 4, 'i', kMfma, "mfma.i32.32x32x32.i8"},
    {kM3, kM4, 32, "i8", 8, 1, 'l', kMfma, "mfma.i32.32x32x16.i8"},
    {kM2, kM2, 32, "i8", 4, 1, 'i', kMfma, "mfma.i32.32x32x8i8"},
    {kM4, kM4, 16, "i8", 16, 4, 'i', kMfma, "mfma.i32.16x16x64.i8"},
    {kM3, kM4, 16, "i8", 8, 1, 'l', kMfma, "mfma.i32.16x16x32.i8"},
    {kM2, kM2, 16, "i8", 4, 1, 'i', kMfma, "mfma.i32.16x16x16i8"},
    {kM4, kM4, 32, "f8", 32, 8, 'i', kFormats, "mfma.scale.f32.32x32x64.f8f6f4"},
    {kM3, kM4, 32, "f8", 8, 1, 'l', kMfma, "mfma.f32.32x32x16"},
    {kM4, kM4, 16, "f8", 32, 8, 'i', kFormats, "mfma.scale.f32.16x16x128.f8f6f4"},
    {kM3, kM4, 16, "f8", 8, 1, 'l', kMfma, "mfma.f32.16x16x32"},
    {kW1, kW1, 16, "f16", 16, 16, 'e', kPlain, "wmma.f32.16x16x16.f16"},
    {kW1, kW1, 16, "bf16", 16, 16, 'h', kPlain, "wmma.f32.16x16x16.bf16"},
    {kW1, kW1, 16, "i8", 16, 4, 'i', kSigned, "wmma.i32.16x16x16.iu8"},
    {kW2, kW2, 16, "f16", 8, 8, 'e', kPlain, "wmma.f32.16x16x16.f16"},
    {kW2, kW2, 16, "bf16", 8, 8, 'h', kPlain, "wmma.f32.16x16x16.bf16"},
    {kW2, kW2, 16, "i8", 8, 2, 'i', kSigned, "wmma.i32.16x16x16.iu8"},
    {kW2, kW2, 16, "f8", 8, 2, 'i', kPlain, "wmma.f32.16x16x16"},
    {kW3, kW3, 16, "f16", 16, 16, 'e', kModifiers, "wmma.f32.16x16x32.f16"},
    {kW3, kW3, 16, "bf16", 16, 16, 'g', kModifiers, "wmma.f32.16x16x32.bf16"},
    {kW3, kW3, 16, "f32", 2, 2, 'f', kModifiers, "wmma.f32.16x16x4.f32"},
    {kW3, kW3, 16, "i8", 32, 8, 'i', kSignedKept, "wmma.i32.16x16x64.iu8"},
    {kW3, kW3, 16, "f8", 32, 8, 'i', kSumModifier, "wmma.f32.16x16x64"},
};

llvm::StringRef KindOf(const Architecture& arch, mlir::Type type) {
  if (type.isF16()) return "f16";
  if (type.isBF16()) return "bf16";
  if (type.isF32()) return "f32";
  if (type.isTF32()) return "tf32";
  if (type.isF64()) return "f64";
  if (type.isInteger(8)) return "i8";
  return IsNarrowFloat(arch, type) ? "f8" : "";
}

}  // namespace

const MatrixRow* FindMatrixRow(const Architecture& arch, int tile, mlir::Type a, mlir::Type b, int most_per_lane) {
  const llvm::StringRef kind = KindOf(arch, a);
  if (kind.empty() || kind != KindOf(arch, b)) return nullptr;
  for (const MatrixRow& row : kRows) {
    const bool is_there = arch.matrix >= row.first && arch.matrix <= row.last;
    if (is_there && row.tile == tile && row.kind == kind && row.per_lane <= most_per_lane) return &row;
  }
  return nullptr;
}

const MatrixRow* FindScaledRow(const Architecture& arch, int tile) {
  for (const MatrixRow& row : kRows)
    if (row.call == MatrixCall::kFormats && arch.matrix >= row.first && arch.matrix <= row.last && row.tile == tile)
      return &row;
  return nullptr;
}

namespace {

std::string EncodingOf(const Architecture& arch, const MatrixRow& row, int k) {
  const int version = EncodingVersion(arch.matrix);
  const std::string warps = "warpsPerCTA = [1, 1]", shape = absl::StrCat(row.tile, ", ", row.tile);
  if (!HasMfma(arch.matrix))
    return absl::StrCat("#ttg.amd_wmma<{version = ", version, ", isTranspose = ", version > 1 ? "true" : "false", ", ",
                        warps, ", instrShape = [", shape, ", ", k, "]}>");
  const bool is_double = llvm::StringRef(row.kind) == "f64";
  return absl::StrCat("#ttg.amd_mfma<{version = ", version, ", ", warps, ", instrShape = [", shape,
                      "], isTransposed = ", is_double ? "false, elementBitWidth = 64}>" : "true}>");
}

}  // namespace

std::vector<MatrixShape> MatrixShapesOf(const Architecture& arch) {
  std::vector<MatrixShape> shapes;
  for (const MatrixRow& row : kRows) {
    if (arch.matrix < row.first || arch.matrix > row.last) continue;
    const llvm::StringRef kind = row.kind;
    const int k = row.per_lane * LanesAlongK(arch, row.tile);
    shapes.push_back({row.kind,
                      kind == "i8"    ? "i32"
                      : kind == "f64" ? "f64"
                                      : "f32",
                      row.tile, row.tile, k, /*warps=*/1, /*reads_buffers=*/false, EncodingOf(arch, row, k)});
    if (row.call == MatrixCall::kFormats)
      shapes.push_back({"mx", "f32", row.tile, row.tile, k, /*warps=*/1, /*reads_buffers=*/false,
                        EncodingOf(arch, row, k), kScaleGroup});
  }
  return shapes;
}

int LanesAlongK(const Architecture& arch, int tile) {
  // Both halves of a wave give the same in the first WMMA.
  return arch.matrix == MatrixUnit::kWmma1 ? 1 : arch.lanes / tile;
}

bool IsNarrowFloat(const Architecture& arch, mlir::Type type) {
  switch (arch.narrow_floats) {
    case NarrowFloats::kNone:
      return false;
    case NarrowFloats::kFnuz:
      return llvm::isa<mlir::Float8E4M3FNUZType, mlir::Float8E5M2FNUZType>(type);
    case NarrowFloats::kOcp:
      return llvm::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(type);
  }
  return false;
}

const char* NarrowName(mlir::Type type) {
  return llvm::isa<mlir::Float8E4M3FNUZType, mlir::Float8E4M3FNType>(type) ? "fp8" : "bf8";
}

}  // namespace tritond::compiler::amd
