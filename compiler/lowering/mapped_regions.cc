// SPDX-License-Identifier: Apache-2.0
// Operations that apply something of the user's to a few elements at a time. tt.map_elementwise applies a region of
// scalars, tt.elementwise_inline_asm a piece of the target's assembly.
//
// The registers of a thread are taken in groups of `pack`, in order; where they are fewer, the last one fills the
// group. Assembly gets the elements of a group that are narrower than a word packed into words, the first one lowest.
#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler {
namespace {

using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::Value;
namespace LLVM = mlir::LLVM;

// Elements first … first + pack - 1 of an operand.
Values GroupOf(ValueList values, size_t first, size_t pack) {
  Values group;
  for (size_t i = first; i < first + pack; ++i) group.push_back(values[std::min(i, values.size() - 1)]);
  return group;
}

// Calls `apply` for each group with the groups of all operands, and collects its results, `pack` for each result.
LogicalResult ForEachGroup(FunctionLowering& f, mlir::Operation* op, size_t pack,
                           llvm::function_ref<FailureOr<Values>(llvm::ArrayRef<Values>)> apply) {
  size_t registers = 1;
  auto count_of = [&](Value value) { return f.ConvertTypes(value.getType()).size(); };
  for (Value operand : op->getOperands()) registers = std::max(registers, count_of(operand));
  for (Value result : op->getResults()) registers = std::max(registers, count_of(result));
  std::vector<Values> results(op->getNumResults());
  for (size_t first = 0; first < registers; first += pack) {
    llvm::SmallVector<Values> groups;
    for (Value operand : op->getOperands()) groups.push_back(GroupOf(f.Get(operand), first, pack));
    FailureOr<Values> group = apply(groups);
    if (failed(group)) return mlir::failure();
    for (auto [i, result] : llvm::enumerate(results))
      for (size_t k = 0; k < pack && first + k < registers; ++k) result.push_back((*group)[i * pack + k]);
  }
  for (auto [result, values] : llvm::zip(op->getResults(), results)) f.Set(result, values);
  return mlir::success();
}

LogicalResult LowerMapElementwise(FunctionLowering& f, tt::MapElementwiseOp op) {
  return ForEachGroup(f, op, op.getPack(), [&](llvm::ArrayRef<Values> groups) -> FailureOr<Values> {
    Values arguments;
    for (const Values& group : groups) arguments.append(group.begin(), group.end());
    return f.InlineRegion(op.getScalarOp(), arguments);
  });
}

// What a group of `pack` elements of `element` is in assembly: so many values of a type, of `per_value` elements each.
struct AsmOperand {
  mlir::Type type;
  size_t count = 1, per_value = 1;
};

AsmOperand OperandFor(mlir::OpBuilder& b, mlir::Type element, size_t pack) {
  unsigned bits = llvm::isa<LLVM::LLVMPointerType>(element) ? 64 : element.getIntOrFloatBitWidth();
  if (bits >= 32 || pack == 1) {
    mlir::Type type = bits == 16 ? mlir::Type(b.getI16Type()) : element;
    return {bits < 16 ? mlir::Type(b.getI16Type()) : type, pack, 1};
  }
  size_t per_value = 32 / bits;
  return {b.getI32Type(), (pack + per_value - 1) / per_value, per_value};
}

Value Pack(Emitter& e, const AsmOperand& operand, ValueList elements) {
  if (operand.per_value == 1) {
    Value x = elements[0];
    if (x.getType() == operand.type) return x;
    return e.ZExt(e.ToInt(x), 16);
  }
  mlir::Type element = elements[0].getType();
  Value vector = e.Poison(mlir::VectorType::get({static_cast<int64_t>(operand.per_value)}, element));
  for (auto [i, value] : llvm::enumerate(elements))
    vector = LLVM::InsertElementOp::create(e.b, e.loc, vector, value, e.Int(i));
  return e.Bitcast(vector, operand.type);
}

void Unpack(Emitter& e, const AsmOperand& operand, Value value, mlir::Type element, size_t count, Values& results) {
  if (operand.per_value == 1) {
    if (value.getType() != element) value = e.FromInt(e.Trunc(value, element.getIntOrFloatBitWidth()), element);
    results.push_back(value);
    return;
  }
  Value vector = e.Bitcast(value, mlir::VectorType::get({static_cast<int64_t>(operand.per_value)}, element));
  for (size_t i = 0; i < count; ++i) results.push_back(LLVM::ExtractElementOp::create(e.b, e.loc, vector, e.Int(i)));
}

LogicalResult LowerInlineAsm(FunctionLowering& f, tt::ElementwiseInlineAsmOp op) {
  Emitter& e = f.e;
  size_t pack = op.getPackedElement();
  llvm::SmallVector<AsmOperand> results;
  llvm::SmallVector<mlir::Type> elements, types;
  for (mlir::Type type : op.getResultTypes()) {
    elements.push_back(f.ConvertType(tt::ElementOf(type)));
    results.push_back(OperandFor(e.b, elements.back(), pack));
    types.append(results.back().count, results.back().type);
  }
  mlir::Type type = types.empty()       ? mlir::Type()
                    : types.size() == 1 ? types[0]
                                        : LLVM::LLVMStructType::getLiteral(op.getContext(), types);
  return ForEachGroup(f, op, pack, [&](llvm::ArrayRef<Values> groups) -> FailureOr<Values> {
    Values arguments;
    for (const Values& group : groups) {
      AsmOperand operand = OperandFor(e.b, group[0].getType(), pack);
      for (size_t i = 0; i < operand.count; ++i) {
        size_t first = i * operand.per_value, count = std::min(operand.per_value, pack - first);
        arguments.push_back(Pack(e, operand, ValueList(group).slice(first, count)));
      }
    }
    FailureOr<Value> all =
        f.target.InlineAsm(e.b, e.loc, type, arguments, op.getAsmString(), op.getConstraints(), !op.getPure());
    if (failed(all)) return mlir::failure();
    Values unpacked;
    int64_t at = 0;
    for (auto [operand, element] : llvm::zip(results, elements))
      for (size_t i = 0; i < operand.count; ++i, ++at) {
        Value value = types.size() == 1 ? *all : Value(LLVM::ExtractValueOp::create(e.b, e.loc, *all, at));
        Unpack(e, operand, value, element, std::min(operand.per_value, pack - i * operand.per_value), unpacked);
      }
    return unpacked;
  });
}

}  // namespace

void AddMappedRegions(LoweringTable& table) {
  table.Add<tt::MapElementwiseOp>(LowerMapElementwise);
  table.Add<tt::ElementwiseInlineAsmOp>(LowerInlineAsm);
}

}  // namespace tritond::compiler
