// SPDX-License-Identifier: Apache-2.0
// MFMA and WMMA for the dots whose encodings are amd_mfma and amd_wmma (compiler/ir/matrix_layouts.cc). With w the
// kWidth of the operands, n the elements that the instruction takes from a lane and g the lanes along K:
//
//   w >= n: w / n instructions follow each other, each on n neighbouring registers;
//   w < n:  one instruction takes runs of w registers, which lie w g apart along K.
//
// Either way K is permuted, in both operands alike. A transposed result is the product of the transposed operands,
// which change places. A row of a is to the hardware what a column of b is.
//
// With scales K is not permuted, since a lane gives the scale of 32 neighbours along K. Lane l gives that of row l mod
// m and the (l / m)-th group. Such operands have a kWidth of 16 bytes, as the instruction has its elements of 8 and 4
// bits.
#include "compiler/ir/encodings.h"
#include "compiler/targets/amd/amd_ops.h"
#include "compiler/targets/amd/matrix_instructions.h"
#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;
namespace {

using mlir::Value;

// What the encoding of a dot says of its tiles.
struct Tile {
  int size = 0, version = 0;
  bool transposed = false;
};

std::optional<Tile> TileOf(mlir::Attribute encoding) {
  if (auto mfma = llvm::dyn_cast_or_null<ttg::AmdMfmaEncodingAttr>(encoding)) {
    const auto shape = mfma.getInstrShape();
    if (shape[0] != shape[1]) return std::nullopt;
    return Tile{static_cast<int>(shape[0]), static_cast<int>(mfma.getVersion()), mfma.getIsTransposed()};
  }
  if (auto wmma = llvm::dyn_cast_or_null<ttg::AmdWmmaEncodingAttr>(encoding))
    return Tile{16, static_cast<int>(wmma.getVersion()), wmma.getIsTransposed()};
  return std::nullopt;
}

// The kWidth of operands that both have it and belong to `parent`; 0 otherwise.
int KWidthOf(mlir::Operation* dot, mlir::Attribute parent) {
  unsigned width = 0;
  for (Value operand : dot->getOperands().take_front(2)) {
    auto type = llvm::cast<mlir::RankedTensorType>(operand.getType());
    auto encoding = llvm::dyn_cast_or_null<ttg::DotOperandEncodingAttr>(type.getEncoding());
    if (!encoding || encoding.getParent() != parent) return 0;
    if (width != 0 && width != encoding.getKWidth()) return 0;
    width = encoding.getKWidth();
  }
  return width;
}

// The rows of a column that lane 0 holds, in the order of its registers.
llvm::SmallVector<int> AccumulatorRows(const amd::Architecture& arch, int tile, bool is_double) {
  llvm::SmallVector<int> rows;
  const int groups = arch.lanes / tile, count = tile * tile / arch.lanes;
  if (arch.matrix == amd::MatrixUnit::kWmma1) {
    for (int r = 0; r < count; ++r) rows.push_back(groups * r);
  } else if (amd::HasWmma(arch.matrix)) {
    for (int r = 0; r < count; ++r) rows.push_back(r);
  } else {
    const int run = is_double ? 1 : 4;
    for (int r = 0; r < count; ++r) rows.push_back(r / run * run * groups + r % run);
  }
  return rows;
}

mlir::Type WordType(mlir::OpBuilder& b, char letter) {
  switch (letter) {
    case 'e':
      return b.getF16Type();
    case 'g':
      return b.getBF16Type();
    case 'h':
      return b.getI16Type();
    case 'f':
      return b.getF32Type();
    case 'd':
      return b.getF64Type();
    case 'i':
      return b.getI32Type();
    default:
      return b.getI64Type();
  }
}

Value ToVector(mlir::OpBuilder& b, mlir::Location loc, mlir::ValueRange values) {
  Value vector = LLVM::PoisonOp::create(b, loc, LLVM::getVectorType(values[0].getType(), values.size()));
  for (auto [i, value] : llvm::enumerate(values))
    vector = LLVM::InsertElementOp::create(b, loc, vector, value, EmitI32(b, loc, i));
  return vector;
}

llvm::SmallVector<Value> Elements(mlir::OpBuilder& b, mlir::Location loc, Value vector, size_t count) {
  llvm::SmallVector<Value> elements;
  for (size_t i = 0; i < count; ++i)
    elements.push_back(LLVM::ExtractElementOp::create(b, loc, vector, EmitI32(b, loc, i)));
  return elements;
}

// A lane's part of an operand, as the intrinsic takes it.
Value ToOperand(mlir::OpBuilder& b, mlir::Location loc, const amd::MatrixRow& row, mlir::ValueRange elements) {
  mlir::Type word = WordType(b, row.word), type = row.count == 1 ? word : LLVM::getVectorType(word, row.count);
  if (elements.size() == 1) return elements[0];
  Value vector = ToVector(b, loc, elements);
  return vector.getType() == type ? vector : LLVM::BitcastOp::create(b, loc, type, vector).getResult();
}

// The number of an operand's format (CDNA4 ISA, "Matrix Core", CBSZ and BLGP of the F8F6F4 instructions).
int FormatOf(mlir::Type type) { return amd::NarrowName(type) == llvm::StringRef("fp8") ? 0 : 1; }
int FormatOf(tt::ScaleDotElemType element) {
  return element == tt::ScaleDotElemType::kE4M3 ? 0 : element == tt::ScaleDotElemType::kE5M2 ? 1 : 4;
}

Value Constant(mlir::OpBuilder& b, mlir::Location loc, int bits, int value) {
  return LLVM::ConstantOp::create(b, loc, b.getIntegerType(bits), b.getIntegerAttr(b.getIntegerType(bits), value));
}

// `x` and `y` are of elements of x_type and y_type.
Value EmitProduct(mlir::OpBuilder& b, mlir::Location loc, const amd::MatrixRow& row, const std::string& name,
                  mlir::Type x_type, mlir::Type y_type, Value x, Value y, Value accumulators) {
  auto constant = [&](int bits, int value) { return Constant(b, loc, bits, value); };
  auto no = [&] { return constant(1, 0); };
  auto is_signed = [&] { return LLVM::ConstantOp::create(b, loc, b.getI1Type(), b.getBoolAttr(true)).getResult(); };
  llvm::SmallVector<Value> args;
  switch (row.call) {
    case amd::MatrixCall::kMfma:
      args = {x, y, accumulators, constant(32, 0), constant(32, 0), constant(32, 0)};
      break;
    case amd::MatrixCall::kFormats:
      args = {x,
              y,
              accumulators,
              constant(32, FormatOf(x_type)),
              constant(32, FormatOf(y_type)),
              constant(32, 0),
              constant(32, 0),
              constant(32, 0),
              constant(32, 0)};
      break;
    case amd::MatrixCall::kPlain:
      args = {x, y, accumulators};
      break;
    case amd::MatrixCall::kSigned:
      args = {is_signed(), x, is_signed(), y, accumulators, no()};
      break;
    case amd::MatrixCall::kModifiers:
      args = {no(), x, no(), y, constant(16, 0), accumulators, no(), no()};
      break;
    case amd::MatrixCall::kSumModifier:
      args = {x, y, constant(16, 0), accumulators, no(), no()};
      break;
    case amd::MatrixCall::kSignedKept:
      args = {is_signed(), x, is_signed(), y, accumulators, no(), no(), no()};
      break;
  }
  return EmitIntrinsic(b, loc, "llvm.amdgcn." + name, accumulators.getType(), args);
}

}  // namespace

std::optional<MatrixInstruction> AmdOps::FindMatrixInstruction(tt::DotOp dot) const {
  auto type_a = llvm::cast<mlir::RankedTensorType>(dot.getA().getType());
  auto type = llvm::cast<mlir::RankedTensorType>(dot.getType());
  std::optional<Tile> tile = TileOf(type.getEncoding());
  const int width = tile ? KWidthOf(dot, type.getEncoding()) : 0;
  if (width == 0 || arch_.matrix == amd::MatrixUnit::kNone || tile->version != amd::EncodingVersion(arch_.matrix))
    return std::nullopt;
  mlir::Type a = type_a.getElementType();
  mlir::Type b = llvm::cast<mlir::RankedTensorType>(dot.getB().getType()).getElementType();
  const int groups = amd::LanesAlongK(arch_, tile->size);
  const int most = static_cast<int>(type_a.getShape().back()) / groups;
  auto tf32 = mlir::FloatTF32Type::get(dot.getContext());
  if (a.isF32() && b.isF32() && dot.getInputPrecision() == tt::InputPrecision::kTf32 &&
      amd::FindMatrixRow(arch_, tile->size, tf32, tf32, most))
    a = b = tf32;
  const amd::MatrixRow* row = amd::FindMatrixRow(arch_, tile->size, a, b, most);
  if (!row) return std::nullopt;
  const int count = std::max(width, row->per_lane);
  MatrixInstruction instruction;
  instruction.m = instruction.n = tile->size;
  instruction.k = count * groups;
  instruction.float_a = llvm::dyn_cast<mlir::FloatType>(a);
  instruction.float_b = llvm::dyn_cast<mlir::FloatType>(b);
  for (int i = 0; i < count; ++i) {
    const int k = i / width * width * groups + i % width;
    instruction.a.push_back({0, k});
    instruction.b.push_back({k, 0});
  }
  for (int r : AccumulatorRows(arch_, tile->size, a.isF64()))
    instruction.c.push_back(tile->transposed ? std::pair(0, r) : std::pair(r, 0));
  return instruction;
}

mlir::FailureOr<llvm::SmallVector<Value>> AmdOps::MultiplyMatrices(mlir::OpBuilder& b, mlir::Location loc,
                                                                   const MatrixInstruction& instruction,
                                                                   mlir::ValueRange a_elements,
                                                                   mlir::ValueRange b_elements,
                                                                   mlir::ValueRange c_elements) const {
  mlir::Type x_type = instruction.float_a ? mlir::Type(instruction.float_a) : b.getI8Type();
  mlir::Type y_type = instruction.float_b ? mlir::Type(instruction.float_b) : b.getI8Type();
  const size_t count = a_elements.size();
  const amd::MatrixRow* row = amd::FindMatrixRow(arch_, instruction.m, x_type, y_type, count);
  if (!row)
    return mlir::emitError(loc) << arch_.name << " has no matrix instruction for " << x_type << " and " << y_type;
  mlir::ValueRange x = a_elements, y = b_elements;
  if (instruction.c[1].first == 0) {  // transposed
    std::swap(x, y);
    std::swap(x_type, y_type);
  }
  std::string name = row->name;
  if (row->kind == llvm::StringRef("f8") && row->call != amd::MatrixCall::kFormats)
    name += std::string(".") + amd::NarrowName(x_type) + "." + amd::NarrowName(y_type);
  Value accumulators = ToVector(b, loc, c_elements);
  for (size_t first = 0; first < count; first += row->per_lane) {
    Value x_part = ToOperand(b, loc, *row, x.slice(first, row->per_lane));
    Value y_part = ToOperand(b, loc, *row, y.slice(first, row->per_lane));
    accumulators = EmitProduct(b, loc, *row, name, x_type, y_type, x_part, y_part, accumulators);
  }
  return Elements(b, loc, accumulators, c_elements.size());
}

std::optional<ScaledInstruction> AmdOps::FindScaledInstruction(tt::DotScaledOp dot) const {
  auto type = llvm::cast<mlir::RankedTensorType>(dot.getType());
  const std::optional<Tile> tile = TileOf(type.getEncoding());
  if (!tile || tile->version != amd::EncodingVersion(arch_.matrix)) return std::nullopt;
  const amd::MatrixRow* row = amd::FindScaledRow(arch_, tile->size);
  if (!row || KWidthOf(dot, type.getEncoding()) != amd::kScaledRun) return std::nullopt;
  const int groups = amd::LanesAlongK(arch_, tile->size);
  ScaledInstruction instruction;
  instruction.group = amd::kScaleGroup;
  instruction.a = dot.getAElemType();
  instruction.b = dot.getBElemType();
  instruction.tile.m = instruction.tile.n = tile->size;
  instruction.tile.k = row->per_lane * groups;
  const auto bytes = [&](tt::ScaleDotElemType element) {
    return element == tt::ScaleDotElemType::kE2M1 ? row->per_lane / 2 : row->per_lane;
  };
  const auto at = [&](int i) { return i / amd::kScaledRun * amd::kScaledRun * groups + i % amd::kScaledRun; };
  for (int i = 0; i < bytes(instruction.a); ++i) instruction.tile.a.push_back({0, at(i)});
  for (int i = 0; i < bytes(instruction.b); ++i) instruction.tile.b.push_back({at(i), 0});
  for (int r : AccumulatorRows(arch_, tile->size, /*is_double=*/false))
    instruction.tile.c.push_back(tile->transposed ? std::pair(0, r) : std::pair(r, 0));
  return instruction;
}

mlir::FailureOr<llvm::SmallVector<Value>> AmdOps::MultiplyScaled(mlir::OpBuilder& b, mlir::Location loc,
                                                                 const ScaledInstruction& instruction,
                                                                 mlir::ValueRange a_bytes, mlir::ValueRange b_bytes,
                                                                 mlir::ValueRange c_elements, ScaleByte a_scale,
                                                                 ScaleByte b_scale) const {
  constexpr int kOne = 127;  // an exponent
  const auto words = [&](mlir::ValueRange bytes) -> Value {
    mlir::Type type = LLVM::getVectorType(b.getI32Type(), bytes.size() / 4);
    return LLVM::BitcastOp::create(b, loc, type, ToVector(b, loc, bytes));
  };
  struct Side {
    Value words;
    int format;
    ScaleByte scale;
  };
  Side x = {words(a_bytes), FormatOf(instruction.a), a_scale}, y = {words(b_bytes), FormatOf(instruction.b), b_scale};
  if (instruction.tile.c[1].first == 0) std::swap(x, y);  // transposed
  for (Side* side : {&x, &y})
    if (!side->scale.word) side->scale.word = Constant(b, loc, 32, kOne);
  Value accumulators = ToVector(b, loc, c_elements);
  const amd::MatrixRow* row = amd::FindScaledRow(arch_, instruction.tile.m);
  accumulators = EmitIntrinsic(
      b, loc, std::string("llvm.amdgcn.") + row->name, accumulators.getType(),
      {x.words, y.words, accumulators, Constant(b, loc, 32, x.format), Constant(b, loc, 32, y.format),
       Constant(b, loc, 32, x.scale.byte), x.scale.word, Constant(b, loc, 32, y.scale.byte), y.scale.word});
  return Elements(b, loc, accumulators, c_elements.size());
}

}  // namespace tritond::compiler
