// SPDX-License-Identifier: Apache-2.0
#include "compiler/lowering/emitter.h"

#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

using mlir::Value;
namespace LLVM = mlir::LLVM;

namespace {

// Runs of bits that follow one another: the first bit and how many.
llvm::SmallVector<std::pair<int, int>> Neighbours(llvm::ArrayRef<int> bits) {
  llvm::SmallVector<std::pair<int, int>> runs;
  for (int bit : bits) {
    if (runs.empty() || runs.back().first + runs.back().second != bit) runs.push_back({bit, 0});
    ++runs.back().second;
  }
  return runs;
}

}  // namespace

void Emitter::StartFunction(mlir::Block* entry, mlir::Location at) {
  scope_ = Scope();
  scope_.entry = entry;
  loc = at;
  // A marker that hoisted code is put before; the function's lowering removes it with FinishFunction's clean-up of
  // unused operations.
  b.setInsertionPointToStart(entry);
  scope_.hoist_anchor = LLVM::UndefOp::create(b, loc, b.getI1Type());
  b.setInsertionPointToEnd(entry);
}

void Emitter::SetHoistPoint() { b.setInsertionPoint(scope_.hoist_anchor); }

std::optional<int64_t> Emitter::ConstantOf(Value value) {
  llvm::APInt constant;
  if (value && mlir::matchPattern(value, mlir::m_ConstantInt(&constant)) && constant.getBitWidth() <= 64)
    return constant.getSExtValue();
  return std::nullopt;
}

Value Emitter::Int(int64_t value, unsigned bits) {
  auto type = b.getIntegerType(bits);
  return Constant(type, mlir::IntegerAttr::get(type, llvm::APInt(bits, static_cast<uint64_t>(value), /*isSigned=*/false,
                                                                 /*implicitTrunc=*/true)));
}

Value Emitter::Constant(mlir::Type type, mlir::Attribute value) {
  Value& cached = scope_.constants[{type, value}];
  if (cached) return cached;
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(scope_.entry);
  return cached = LLVM::ConstantOp::create(b, loc, type, value);
}

Value Emitter::Zero(mlir::Type type) {
  if (llvm::isa<LLVM::LLVMPointerType>(type)) return Hoisted([&] { return LLVM::ZeroOp::create(b, loc, type); });
  return Constant(type, b.getZeroAttr(type));
}

Value Emitter::Poison(mlir::Type type) {
  return Hoisted([&] { return LLVM::PoisonOp::create(b, loc, type); });
}

Value Emitter::Add(Value x, Value y) {
  auto cx = ConstantOf(x), cy = ConstantOf(y);
  if (cx && cy) return Int(*cx + *cy, x.getType().getIntOrFloatBitWidth());
  if (cx == 0) return y;
  if (cy == 0) return x;
  return LLVM::AddOp::create(b, loc, x, y, LLVM::IntegerOverflowFlags::nsw | LLVM::IntegerOverflowFlags::nuw);
}

Value Emitter::Sub(Value x, Value y) {
  if (ConstantOf(y) == 0) return x;
  return LLVM::SubOp::create(b, loc, x, y);
}

Value Emitter::Mul(Value x, Value y) {
  auto cx = ConstantOf(x), cy = ConstantOf(y);
  if (cx && cy) return Int(*cx * *cy, x.getType().getIntOrFloatBitWidth());
  if (cx == 1) return y;
  if (cy == 1) return x;
  if (cx == 0) return x;
  if (cy == 0) return y;
  return LLVM::MulOp::create(b, loc, x, y);
}

Value Emitter::And(Value x, Value y) {
  auto cx = ConstantOf(x), cy = ConstantOf(y);
  if (cx && cy) return Int(*cx & *cy, x.getType().getIntOrFloatBitWidth());
  if (cx == -1) return y;
  if (cy == -1) return x;
  if (cx == 0) return x;
  if (cy == 0) return y;
  return LLVM::AndOp::create(b, loc, x, y);
}

Value Emitter::Or(Value x, Value y) {
  auto cx = ConstantOf(x), cy = ConstantOf(y);
  if (cx && cy) return Int(*cx | *cy, x.getType().getIntOrFloatBitWidth());
  if (cx == 0) return y;
  if (cy == 0) return x;
  return LLVM::OrOp::create(b, loc, x, y);
}

Value Emitter::Xor(Value x, Value y) {
  auto cx = ConstantOf(x), cy = ConstantOf(y);
  if (cx && cy) return Int(*cx ^ *cy, x.getType().getIntOrFloatBitWidth());
  if (cx == 0) return y;
  if (cy == 0) return x;
  return LLVM::XOrOp::create(b, loc, x, y);
}

Value Emitter::Shl(Value x, int amount) {
  if (amount == 0) return x;
  if (auto c = ConstantOf(x)) return Int(*c << amount, x.getType().getIntOrFloatBitWidth());
  return LLVM::ShlOp::create(b, loc, x, Int(amount, x.getType().getIntOrFloatBitWidth()));
}

Value Emitter::LShr(Value x, int amount) {
  if (amount == 0) return x;
  return LLVM::LShrOp::create(b, loc, x, Int(amount, x.getType().getIntOrFloatBitWidth()));
}

Value Emitter::Select(Value condition, Value x, Value y) {
  if (x == y) return x;
  if (auto c = ConstantOf(condition)) return *c ? x : y;
  return LLVM::SelectOp::create(b, loc, condition, x, y);
}

Value Emitter::Compare(LLVM::ICmpPredicate predicate, Value x, Value y) {
  return LLVM::ICmpOp::create(b, loc, predicate, x, y);
}

Value Emitter::Bitcast(Value x, mlir::Type type) {
  return x.getType() == type ? x : Value(LLVM::BitcastOp::create(b, loc, type, x));
}

Value Emitter::ZExt(Value x, unsigned bits) {
  if (x.getType().getIntOrFloatBitWidth() == bits) return x;
  return LLVM::ZExtOp::create(b, loc, b.getIntegerType(bits), x);
}

Value Emitter::Trunc(Value x, unsigned bits) {
  if (x.getType().getIntOrFloatBitWidth() == bits) return x;
  return LLVM::TruncOp::create(b, loc, b.getIntegerType(bits), x);
}

Value Emitter::PackBits(Value x, llvm::ArrayRef<int> bits) {
  Value packed = Int(0);
  int to = 0;
  for (auto [from, count] : Neighbours(bits)) {
    packed = Or(packed, Shl(And(LShr(x, from), Int((int64_t{1} << count) - 1)), to));
    to += count;
  }
  return packed;
}

Value Emitter::SpreadBits(Value x, llvm::ArrayRef<int> bits) {
  Value spread = Int(0);
  int from = 0;
  for (auto [to, count] : Neighbours(bits)) {
    spread = Or(spread, Shl(And(LShr(x, from), Int((int64_t{1} << count) - 1)), to));
    from += count;
  }
  return spread;
}

Value Emitter::Gep(Value ptr, mlir::Type element, Value index) {
  if (ConstantOf(index) == 0) return ptr;
  return LLVM::GEPOp::create(b, loc, ptr.getType(), element, ptr, llvm::ArrayRef<LLVM::GEPArg>{index});
}

mlir::IntegerType Emitter::IntOf(mlir::Type type) {
  bool is_pointer = llvm::isa<LLVM::LLVMPointerType>(type);
  return b.getIntegerType(is_pointer ? 64 : type.getIntOrFloatBitWidth());
}

Value Emitter::ToInt(Value x) {
  mlir::Type type = IntOf(x.getType());
  if (llvm::isa<LLVM::LLVMPointerType>(x.getType())) return LLVM::PtrToIntOp::create(b, loc, type, x);
  return Bitcast(x, type);
}

Value Emitter::FromInt(Value x, mlir::Type type) {
  if (llvm::isa<LLVM::LLVMPointerType>(type)) return LLVM::IntToPtrOp::create(b, loc, type, x);
  return Bitcast(x, type);
}

}  // namespace tritond::compiler
