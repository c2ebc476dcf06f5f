// SPDX-License-Identifier: Apache-2.0
// The warp-wide matrix instruction mma.sync.m16n8k* (PTX ISA, "Matrix multiply-accumulate operation using mma
// instruction"). Its fragments have one form for all widths: a word of 32 bits holds w = 32 / bits neighbours along K,
// and with g = lane / 4 and t = lane % 4
//
//   a (16 x 8w): words (g, t w), (g + 8, t w), (g, t w + 4w), (g + 8, t w + 4w)
//   b (8w x 8):  words (t w, g), (t w + 4w, g)
//   c (16 x 8):  (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1), a register each
#include "compiler/ir/encodings.h"
#include "compiler/targets/nvidia/nvidia_ops.h"
#include "compiler/targets/nvidia/ptx_builder.h"

namespace tritond::compiler {
namespace {

using mlir::Value;
using nvidia::Words;
namespace LLVM = mlir::LLVM;

// The type as mma spells it; empty: there is no mma for it.
llvm::StringRef MmaType(mlir::Type type, int compute_capability) {
  if (type.isF16()) return "f16";
  if (type.isBF16()) return "bf16";
  if (type.isF32()) return "tf32";
  if (type.isInteger(8)) return "s8";
  if (compute_capability < 89) return "";
  if (llvm::isa<mlir::Float8E4M3FNType>(type)) return "e4m3";
  if (llvm::isa<mlir::Float8E5M2Type>(type)) return "e5m2";
  return "";
}

std::string Braces(llvm::ArrayRef<std::string> operands) { return "{" + llvm::join(operands, ", ") + "}"; }

}  // namespace

std::optional<MatrixInstruction> NvidiaOps::FindMatrixInstruction(tt::DotOp dot) const {
  auto result = llvm::cast<mlir::RankedTensorType>(dot.getType());
  mlir::Type a = tt::ElementOf(dot.getA().getType()), b = tt::ElementOf(dot.getB().getType());
  auto mma = llvm::dyn_cast_or_null<ttg::NvidiaMmaEncodingAttr>(result.getEncoding());
  if (!mma || mma.getVersionMajor() != 2) return std::nullopt;
  llvm::StringRef type_a = MmaType(a, compute_capability_), type_b = MmaType(b, compute_capability_);
  unsigned bits = a.getIntOrFloatBitWidth();
  if (type_a.empty() || type_b.empty() || bits != b.getIntOrFloatBitWidth() || (bits != 8 && a != b))
    return std::nullopt;
  if (a.isInteger(8) != b.isInteger(8)) return std::nullopt;
  int w = 32 / bits;
  MatrixInstruction instruction{16,
                                8,
                                8 * w,
                                {},
                                {},
                                {{0, 0}, {0, 1}, {8, 0}, {8, 1}},
                                llvm::dyn_cast<mlir::FloatType>(a),
                                llvm::dyn_cast<mlir::FloatType>(b)};
  for (int k : {0, 4 * w}) {
    for (int row : {0, 8})
      for (int i = 0; i < w; ++i) instruction.a.push_back({row, k + i});
    for (int i = 0; i < w; ++i) instruction.b.push_back({k + i, 0});
  }
  return instruction;
}

mlir::FailureOr<llvm::SmallVector<Value>> NvidiaOps::MultiplyMatrices(mlir::OpBuilder& b, mlir::Location loc,
                                                                      const MatrixInstruction& instruction,
                                                                      mlir::ValueRange a_elements,
                                                                      mlir::ValueRange b_elements,
                                                                      mlir::ValueRange c_elements) const {
  auto type_of = [&](mlir::FloatType type) {
    return MmaType(type ? mlir::Type(type) : b.getI8Type(), compute_capability_);
  };
  const char* sum = instruction.float_a ? "f32" : "s32";
  nvidia::PtxBuilder ptx(b, loc);
  llvm::SmallVector<std::string> d, a, bb, c;
  for (Value element : c_elements) d.push_back(ptx.AddOutput(element.getType()));
  for (Value word : Words(b, loc, a_elements)) a.push_back(ptx.AddInput(word));
  for (Value word : Words(b, loc, b_elements)) bb.push_back(ptx.AddInput(word));
  for (auto [i, element] : llvm::enumerate(c_elements)) {
    ptx.TieOutput(i, element);
    c.push_back(d[i]);
  }
  std::string text = "mma.sync.aligned.m16n8k" + std::to_string(instruction.k) + ".row.col." + sum + "." +
                     type_of(instruction.float_a).str() + "." + type_of(instruction.float_b).str() + "." + sum;
  text += " " + Braces(d) + ", " + Braces(a) + ", " + Braces(bb) + ", " + Braces(c) + ";";
  return ptx.Emit(text, /*touches_memory=*/false);
}

}  // namespace tritond::compiler
