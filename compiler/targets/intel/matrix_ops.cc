// SPDX-License-Identifier: Apache-2.0
// Matrix products. A row of a has 256 bits, which lie side by side in the lanes. Lane n of a sub-group of 16 or 8 holds
//
//   a   f16, bf16, i8: word n of each of 8 rows, of 16 bits or, in sub-groups of 8, of 32 bits; of 16 columns of f16
//   one
//       or two, of 32 of i8 two or four
//       tf32: column n % 8 of a tile of 8 x 8, every second row of it, from row n / 8 on
//   b   column n, in words of 32 bits with two elements of K, four of i8 or one of tf32
//   c   column n
//
// Tiles of 4, 2 and 1 rows are the same with fewer words.
#include "absl/strings/str_cat.h"
#include "compiler/ir/encodings.h"
#include "compiler/targets/intel/builtins.h"
#include "compiler/targets/intel/intel_ops.h"
#include "compiler/targets/intel/matrix_instructions.h"
#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;
namespace {

using mlir::Value;

constexpr intel::MatrixRow kRows[] = {
    {"f16", "intel_sub_group_f16_f16_matrix_mad_k16", 2},
    {"bf16", "intel_sub_group_bf16_bf16_matrix_mad_k16", 2},
    {"tf32", "intel_sub_group_tf32_tf32_matrix_mad_k8", 1},
    {"i8", "intel_sub_group_i8_i8_matrix_mad_k32", 4},
};

llvm::StringRef NameOf(mlir::Type type) {
  if (type.isF16()) return "f16";
  if (type.isBF16()) return "bf16";
  if (type.isTF32()) return "tf32";
  return type.isInteger(8) ? "i8" : "";
}

// One value is no vector.
Value ToVector(mlir::OpBuilder& b, mlir::Location loc, mlir::ValueRange values) {
  if (values.size() == 1) return values[0];
  Value vector = LLVM::PoisonOp::create(b, loc, LLVM::getVectorType(values[0].getType(), values.size()));
  for (auto [i, value] : llvm::enumerate(values))
    vector = LLVM::InsertElementOp::create(b, loc, vector, value, EmitI32(b, loc, i));
  return vector;
}

// Elements, the first in the lowest bits, as words of `bits`.
Value ToWords(mlir::OpBuilder& b, mlir::Location loc, mlir::ValueRange elements, int bits) {
  mlir::Type word = b.getIntegerType(bits);
  const int per_word = bits / BitsOf(elements[0].getType()), count = static_cast<int>(elements.size()) / per_word;
  llvm::SmallVector<Value> words;
  for (int i = 0; i < count; ++i) {
    Value one = ToInteger(b, loc, elements[i * per_word]);
    if (per_word > 1) {
      Value parts = LLVM::PoisonOp::create(b, loc, LLVM::getVectorType(one.getType(), per_word));
      for (int j = 0; j < per_word; ++j)
        parts = LLVM::InsertElementOp::create(b, loc, parts, ToInteger(b, loc, elements[i * per_word + j]),
                                              EmitI32(b, loc, j));
      one = LLVM::BitcastOp::create(b, loc, word, parts);
    }
    words.push_back(one);
  }
  return ToVector(b, loc, words);
}

}  // namespace

const intel::MatrixRow* intel::FindMatrixRow(const Device& device, mlir::Type operand) {
  if (device.lanes != device.arch.matrix_lanes) return nullptr;
  for (const MatrixRow& row : kRows)
    if (row.type == NameOf(operand) && (device.arch.has_tf32 || !operand.isTF32())) return &row;
  return nullptr;
}

mlir::Type intel::MatrixTypeOf(tt::DotOp dot, mlir::Type element) {
  const bool may_round = dot.getInputPrecision() == tt::InputPrecision::kTf32;
  return element.isF32() && may_round ? mlir::FloatTF32Type::get(dot.getContext()) : element;
}

std::vector<MatrixShape> intel::MatrixShapesOf(const Device& device) {
  std::vector<MatrixShape> shapes;
  if (device.lanes != device.arch.matrix_lanes) return shapes;
  for (const MatrixRow& row : kRows) {
    const llvm::StringRef type = row.type;
    if (!device.arch.has_tf32 && type == "tf32") continue;
    const std::string encoding =
        absl::StrCat("#ttg.dpas<{repeatCount = ", kMaxTileRows, ", systolicDepth = ", kSystolicDepth,
                     ", executionSize = ", device.lanes, ", opsPerChan = ", row.per_channel,
                     ", threadsPerWarp = ", device.lanes, ", warpsPerCTA = [1, 1], repCluster = [1, 1]}>");
    shapes.push_back({row.type, type == "i8" ? "i32" : "f32", kMaxTileRows, device.lanes, row.depth(), /*warps=*/1,
                      /*reads_buffers=*/false, encoding});
  }
  return shapes;
}

std::optional<MatrixInstruction> IntelOps::FindMatrixInstruction(tt::DotOp dot) const {
  auto type = llvm::cast<mlir::RankedTensorType>(dot.getType());
  auto dpas = llvm::dyn_cast<ttg::DpasEncodingAttr>(type.getEncoding());
  if (!dpas) return std::nullopt;
  const auto type_of = [&](Value value) {
    return intel::MatrixTypeOf(dot, llvm::cast<mlir::RankedTensorType>(value.getType()).getElementType());
  };
  mlir::Type a = type_of(dot.getA()), b = type_of(dot.getB());
  const intel::MatrixRow* row = a == b ? intel::FindMatrixRow(device_, a) : nullptr;
  const int lanes = device_.lanes;
  if (!row || static_cast<int>(dpas.getOpsPerChan()) != row->per_channel ||
      static_cast<int>(dpas.getExecutionSize()) != lanes || static_cast<int>(dpas.getThreadsPerWarp()) != lanes)
    return std::nullopt;
  MatrixInstruction instruction;
  instruction.m = dpas.getRepeatCount();
  instruction.n = lanes;
  instruction.k = row->depth();
  instruction.float_a = llvm::dyn_cast<mlir::FloatType>(a);
  instruction.float_b = llvm::dyn_cast<mlir::FloatType>(b);
  for (int m = 0; m < instruction.m; m += row->RowsOfLanes(lanes))
    for (int k = 0; k < std::max(1, instruction.k / lanes); ++k) instruction.a.push_back({m, k});
  for (int m = 0; m < instruction.m; ++m) instruction.c.push_back({m, 0});
  for (int k = 0; k < instruction.k; ++k) instruction.b.push_back({k, 0});
  return instruction;
}

mlir::FailureOr<llvm::SmallVector<Value>> IntelOps::MultiplyMatrices(mlir::OpBuilder& b, mlir::Location loc,
                                                                     const MatrixInstruction& instruction,
                                                                     mlir::ValueRange a_elements,
                                                                     mlir::ValueRange b_elements,
                                                                     mlir::ValueRange c_elements) const {
  mlir::Type operand = instruction.float_a ? mlir::Type(instruction.float_a) : b.getI8Type();
  const intel::MatrixRow* row = intel::FindMatrixRow(device_, operand);
  if (!row) return mlir::emitError(loc) << device_.arch.name << " has no matrix instruction for " << operand;
  const bool is_tf32 = operand.isTF32();
  Value x = is_tf32 ? ToVector(b, loc, a_elements) : ToWords(b, loc, a_elements, intel::kRowBits / device_.lanes);
  Value y = is_tf32 ? ToVector(b, loc, b_elements) : ToWords(b, loc, b_elements, 32);
  Value accumulators = ToVector(b, loc, c_elements);
  mlir::FailureOr<Value> product =
      intel::EmitBuiltin(b, loc, row->function, accumulators.getType(), {x, y, accumulators}, intel::Effect::kCrossLane,
                         /*is_signed=*/true);
  if (failed(product)) return mlir::failure();
  if (c_elements.size() == 1) return llvm::SmallVector<Value>{*product};
  llvm::SmallVector<Value> results;
  for (size_t i = 0; i < c_elements.size(); ++i)
    results.push_back(LLVM::ExtractElementOp::create(b, loc, *product, EmitI32(b, loc, i)));
  return results;
}

}  // namespace tritond::compiler
