// SPDX-License-Identifier: Apache-2.0
// The warp-wide matrix instruction mma.sync.m16n8k* (PTX ISA, "Matrix multiply-accumulate operation using mma
// instruction"). Its fragments have one form for all widths. A word of 32 bits holds w = 32 / bits neighbours along K,
// and with g = lane / 4 and t = lane % 4
//
//   a (16 x 8w): words (g, t w), (g + 8, t w), (g, t w + 4w), (g + 8, t w + 4w)
//   b (8w x 8):  words (t w, g), (t w + 4w, g)
//   c (16 x 8):  (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1), a register each; of f16, two in a register
//
// A lane may hold more neighbours along K than a word, kWidth of them. With m = kWidth / w, its 2m words of a row are
// at t kWidth, …, t kWidth + kWidth - w and 4 kWidth further on. Each two words make an instruction, m instructions a
// tile of 8 kWidth elements along K. Both operands have the same elements in the same word, so the sums are right.
//
// Operands of 64 bits fill two registers and have the form of those of 32. Before sm_90 there is m8n8k4 alone for them.
// It is a quarter of m16n8k8, with the registers of one half of the rows and of one half of K. From sm_90 on there is
// also m16n8k16: two of m16n8k8 along K, one after the other in a and b. Half as many instructions wait for their
// accumulators.
//
// Sums of integers that would overflow stay at the greatest or the least number, as in Triton. wgmma's wrap, in Triton
// too.
//
// With block_scale, rows of a and columns of b have scales. Operands are bytes there: numbers of 8 bits, or e2m1. A
// byte of e2m1 holds two where both operands are e2m1 and K is 64. Where K is 32, it holds one, in bits 2 to 5.
#include "compiler/ir/encodings.h"
#include "compiler/targets/nvidia/architecture.h"
#include "compiler/targets/nvidia/matrix_shapes.h"
#include "compiler/targets/nvidia/nvidia_ops.h"
#include "compiler/targets/nvidia/ptx_builder.h"

namespace tritond::compiler {
namespace {

using mlir::Value;
using nvidia::Words;
namespace LLVM = mlir::LLVM;

// Words of a lane that an instruction takes; of f64, pairs of them.
constexpr size_t kWordsOfA = 4, kWordsOfB = 2;

// The type as mma spells it; empty: there is no mma for it.
llvm::StringRef MmaType(mlir::Type type, int compute_capability) {
  if (type.isF16()) return "f16";
  if (type.isBF16()) return "bf16";
  if (type.isF32()) return "tf32";
  if (type.isInteger(8)) return "s8";
  if (type.isF64()) return "f64";
  if (compute_capability < nvidia::kFirstWithNarrowDots) return "";
  if (llvm::isa<mlir::Float8E4M3FNType>(type)) return "e4m3";
  if (llvm::isa<mlir::Float8E5M2Type>(type)) return "e5m2";
  return "";
}

std::string Braces(llvm::ArrayRef<std::string> operands) { return "{" + llvm::join(operands, ", ") + "}"; }

// The neighbours along K that a lane holds of both operands, words of `w` elements; nothing where they differ.
std::optional<int> CommonWidth(tt::DotOp dot, int w) {
  std::optional<int> common;
  for (Value operand : {dot.getA(), dot.getB()}) {
    auto encoding = llvm::dyn_cast<ttg::DotOperandEncodingAttr>(
        llvm::cast<mlir::RankedTensorType>(operand.getType()).getEncoding());
    const int width = encoding ? static_cast<int>(encoding.getKWidth()) : w;
    if (width < w || width % w != 0 || common.value_or(width) != width) return std::nullopt;
    common = width;
  }
  return common;
}

// One instruction: `shape` and `types` are its words; operands are registers' values. `scales`: of a and b, or none.
llvm::SmallVector<Value> EmitMma(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef shape, llvm::StringRef types,
                                 mlir::ValueRange a_words, mlir::ValueRange b_words, mlir::ValueRange accumulators,
                                 llvm::ArrayRef<ScaleByte> scales = {}) {
  nvidia::PtxBuilder ptx(b, loc);
  llvm::SmallVector<std::string> d, a, bb;
  for (Value sum : accumulators) d.push_back(ptx.AddOutput(sum.getType()));
  for (Value word : a_words) a.push_back(ptx.AddInput(word));
  for (Value word : b_words) bb.push_back(ptx.AddInput(word));
  std::string selected;
  for (const ScaleByte& scale : scales)
    selected += ", " + ptx.AddInput(scale.word) + ", " + Braces({std::to_string(scale.byte), "0"});
  for (auto [i, sum] : llvm::enumerate(accumulators)) ptx.TieOutput(i, sum);
  std::string text = "mma.sync.aligned." + shape.str() + ".row.col." + types.str();
  text += " " + Braces(d) + ", " + Braces(a) + ", " + Braces(bb) + ", " + Braces(d) + selected + ";";
  return ptx.Emit(text, /*touches_memory=*/false);
}

// m16n8k8 of f64 by m8n8k4: halves of the rows, each over both halves of K.
llvm::SmallVector<Value> EmitF64Quarters(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef types,
                                         mlir::ValueRange a, mlir::ValueRange bb, mlir::ValueRange accumulators) {
  llvm::SmallVector<Value> results(accumulators);
  for (int half = 0; half < 2; ++half) {
    for (int k = 0; k < 2; ++k) {
      auto made = EmitMma(b, loc, "m8n8k4", types, a[2 * k + half], bb[k], llvm::ArrayRef(results).slice(2 * half, 2));
      llvm::copy(made, results.begin() + 2 * half);
    }
  }
  return results;
}

// mma's block_scale.
struct BlockScale {
  const char* kind;
  int scales;        // of a row, one after the other
  const char* type;  // of a scale
  int one;           // its code of 1
};
BlockScale BlockScaleOf(const ScaledInstruction& instruction) {
  if (instruction.group == nvidia::kNarrowScaleGroup) return {"mxf4nvf4", 4, "ue4m3", 0x38};
  if (instruction.tile.k == nvidia::kTileKBytes) return {"mxf8f6f4", 1, "ue8m0", 127};
  return {"mxf4", 2, "ue8m0", 127};
}

llvm::StringRef ScaledType(tt::ScaleDotElemType element) {
  switch (element) {
    case tt::ScaleDotElemType::kE4M3:
      return "e4m3";
    case tt::ScaleDotElemType::kE5M2:
      return "e5m2";
    default:
      return "e2m1";
  }
}

bool IsFp4(tt::ScaleDotElemType element) { return element == tt::ScaleDotElemType::kE2M1; }

// Words of bytes; where these are two e2m1 and shall be one, each two bytes make a word.
llvm::SmallVector<Value> ScaledWords(mlir::OpBuilder& b, mlir::Location loc, mlir::ValueRange bytes, bool spread) {
  if (!spread) return Words(b, loc, bytes);
  const auto constant = [&](int64_t bits) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(static_cast<int32_t>(bits)));
  };
  const auto part = [&](Value x, int shift, int64_t mask) -> Value {
    return LLVM::AndOp::create(b, loc, LLVM::ShlOp::create(b, loc, x, constant(shift)), constant(mask));
  };
  llvm::SmallVector<Value> words;
  for (size_t i = 0; i < bytes.size(); i += 2) {
    Value low = LLVM::ZExtOp::create(b, loc, b.getI32Type(), bytes[i]);
    Value high = LLVM::ZExtOp::create(b, loc, b.getI32Type(), bytes[i + 1]);
    Value both = LLVM::OrOp::create(b, loc, low, LLVM::ShlOp::create(b, loc, high, constant(16)));
    words.push_back(LLVM::OrOp::create(b, loc, part(both, 2, 0x003c003c), part(both, 6, 0x3c003c00)));
  }
  return words;
}

}  // namespace

std::optional<ScaledInstruction> NvidiaOps::FindScaledInstruction(tt::DotScaledOp dot) const {
  auto mma = llvm::dyn_cast_or_null<ttg::NvidiaMmaEncodingAttr>(
      llvm::cast<mlir::RankedTensorType>(dot.getType()).getEncoding());
  if (!mma || mma.getVersionMajor() != 2 || compute_capability_ < nvidia::kFirstWithBlockScales) return std::nullopt;
  const auto k_width = [](Value operand) {
    auto type = llvm::cast<mlir::RankedTensorType>(operand.getType());
    auto encoding = llvm::dyn_cast_or_null<ttg::DotOperandEncodingAttr>(type.getEncoding());
    return encoding ? static_cast<int>(encoding.getKWidth()) : 0;
  };
  ScaledInstruction instruction;
  instruction.a = dot.getAElemType();
  instruction.b = dot.getBElemType();
  const int width_a = k_width(dot.getA()), width_b = k_width(dot.getB());
  const bool is_dense = IsFp4(instruction.a) && IsFp4(instruction.b) && width_a == 4;
  for (auto [element, width] : {std::pair(instruction.a, width_a), {instruction.b, width_b}})
    if (width != (IsFp4(element) && !is_dense ? 2 : 4)) return std::nullopt;
  instruction.group = nvidia::kScaleGroup;
  for (Value scale : {dot.getAScale(), dot.getBScale()})
    if (scale && !tt::ElementOf(scale.getType()).isInteger(8)) instruction.group = nvidia::kNarrowScaleGroup;
  if (instruction.group == nvidia::kNarrowScaleGroup && !is_dense) return std::nullopt;
  MatrixInstruction& tile = instruction.tile;
  tile.m = nvidia::kTileM;
  tile.n = nvidia::kTileN;
  tile.k = is_dense ? 2 * nvidia::kTileKBytes : nvidia::kTileKBytes;
  tile.c = {{0, 0}, {0, 1}, {8, 0}, {8, 1}};
  for (int half = 0; half < 2; ++half) {
    for (int row : {0, 8})
      for (int i = 0; i < width_a; ++i) tile.a.push_back({row, 4 * width_a * half + i});
    for (int i = 0; i < width_b; ++i) tile.b.push_back({4 * width_b * half + i, 0});
  }
  return instruction;
}

mlir::FailureOr<llvm::SmallVector<Value>> NvidiaOps::MultiplyScaled(mlir::OpBuilder& b, mlir::Location loc,
                                                                    const ScaledInstruction& instruction,
                                                                    mlir::ValueRange a_bytes, mlir::ValueRange b_bytes,
                                                                    mlir::ValueRange c_elements, ScaleByte a_scale,
                                                                    ScaleByte b_scale) const {
  const BlockScale block = BlockScaleOf(instruction);
  for (ScaleByte* scale : {&a_scale, &b_scale})
    if (!scale->word)
      scale->word = LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(0x01010101 * block.one));
  const bool spread = instruction.tile.k == nvidia::kTileKBytes;
  const std::string types =
      std::string("kind::") + block.kind + ".block_scale.scale_vec::" + std::to_string(block.scales) + "X.f32." +
      ScaledType(instruction.a).str() + "." + ScaledType(instruction.b).str() + ".f32." + block.type;
  return EmitMma(b, loc, "m16n8k" + std::to_string(instruction.tile.k), types,
                 ScaledWords(b, loc, a_bytes, spread && IsFp4(instruction.a)),
                 ScaledWords(b, loc, b_bytes, spread && IsFp4(instruction.b)), c_elements, {a_scale, b_scale});
}

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
  const int w = nvidia::WordElements(bits);
  const std::optional<int> width = CommonWidth(dot, w);
  if (!width) return std::nullopt;
  const bool is_long = bits == 64 && compute_capability_ >= nvidia::kFirstWithLargeF64Dots &&
                       llvm::cast<mlir::RankedTensorType>(dot.getA().getType()).getShape().back() % 16 == 0;
  MatrixInstruction instruction{16,
                                8,
                                is_long ? 16 : 8 * *width,
                                {},
                                {},
                                {{0, 0}, {0, 1}, {8, 0}, {8, 1}},
                                llvm::dyn_cast<mlir::FloatType>(a),
                                llvm::dyn_cast<mlir::FloatType>(b)};
  instruction.adds_to_f16 = mma.AddsToResult(a, result.getElementType()) && result.getElementType().isF16();
  for (int step = 0; step < instruction.k; step += 4 * *width) {
    for (int k = step; k < step + *width; k += w) {
      for (int row : {0, 8})
        for (int i = 0; i < w; ++i) instruction.a.push_back({row, k + i});
      for (int i = 0; i < w; ++i) instruction.b.push_back({k + i, 0});
    }
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
  const bool is_double = instruction.float_a && instruction.float_a.isF64();
  const bool is_half = instruction.adds_to_f16;
  const std::string sum = is_double ? "f64" : is_half ? "f16" : instruction.float_a ? "f32" : "s32";
  const std::string types = (instruction.float_a ? "" : "satfinite.") + sum + "." + type_of(instruction.float_a).str() +
                            "." + type_of(instruction.float_b).str() + "." + sum;
  if (is_double && compute_capability_ < nvidia::kFirstWithLargeF64Dots)
    return EmitF64Quarters(b, loc, types, a_elements, b_elements, c_elements);
  const auto shape = [](int k) { return "m16n8k" + std::to_string(k); };
  if (is_double) return EmitMma(b, loc, shape(instruction.k), types, a_elements, b_elements, c_elements);
  const llvm::SmallVector<Value> a = Words(b, loc, a_elements), bb = Words(b, loc, b_elements);
  llvm::SmallVector<Value> sums = is_half ? Words(b, loc, c_elements) : llvm::SmallVector<Value>(c_elements);
  const int k = instruction.k * kWordsOfB / static_cast<int>(bb.size());
  for (size_t word = 0; word < bb.size(); word += kWordsOfB)
    sums = EmitMma(b, loc, shape(k), types, llvm::ArrayRef(a).slice(2 * word, kWordsOfA),
                   llvm::ArrayRef(bb).slice(word, kWordsOfB), sums);
  return is_half ? nvidia::ElementsOfWords(b, loc, sums, b.getF16Type()) : sums;
}

}  // namespace tritond::compiler
