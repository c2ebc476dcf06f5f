// SPDX-License-Identifier: Apache-2.0
// Atomic operations on global memory. Integers of 32 and 64 bits and additions of f32 are LLVM's own operations, of the
// scope that the access names. The others are loops around a compare-and-swap of the word that holds the value:
//
//   here:           %begun = load %word
//   again(%seen):   %old = bits of %seen from %shift on          all of them where the value fills the word
//                   %new = %old op %value
//                   %next, %done = cmpxchg %word, %seen, %seen with the bits of %new
//                   br %done, after, again(%next)
#include "compiler/targets/guarded.h"
#include "compiler/targets/intel/intel_ops.h"
#include "compiler/targets/llvm_atomics.h"
#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;
namespace {

using mlir::Value;
using Combine = llvm::function_ref<Value(Value old)>;

constexpr int kWordBits = 32;

// As LLVM's SPIR-V back end names them; none is the whole system.
llvm::StringRef ScopeOf(tt::MemSyncScope scope) {
  switch (scope) {
    case tt::MemSyncScope::kGpu:
      return "device";
    case tt::MemSyncScope::kCta:
      return "workgroup";
    case tt::MemSyncScope::kSys:
      return "";
  }
  return "";
}

// {the value before, whether it was swapped}.
std::pair<Value, Value> EmitSwap(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access, Value ptr,
                                 Value expected, Value desired) {
  Value both = LLVM::AtomicCmpXchgOp::create(b, loc, ptr, expected, desired, OrderingOf(access.semantic),
                                             FailureOrderingOf(access.semantic), ScopeOf(access.scope));
  return {LLVM::ExtractValueOp::create(b, loc, both, 0), LLVM::ExtractValueOp::create(b, loc, both, 1)};
}

// Where a value of fewer bits than a word lies.
struct Place {
  Value ptr;          // of the word
  Value shift, mask;  // of its bits; null: it fills the word
};

Place PlaceOf(mlir::OpBuilder& b, mlir::Location loc, Value ptr, int bits) {
  if (bits >= kWordBits) return {ptr, nullptr, nullptr};
  mlir::Type i64 = b.getI64Type();
  auto wide = [&](int64_t value) { return LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(value)); };
  Value address = LLVM::PtrToIntOp::create(b, loc, i64, ptr);
  Value byte = LLVM::AndOp::create(b, loc, address, wide(kWordBits / 8 - 1));
  Value back = LLVM::SubOp::create(b, loc, wide(0), byte);
  Value word = LLVM::GEPOp::create(b, loc, ptr.getType(), b.getI8Type(), ptr, llvm::ArrayRef<LLVM::GEPArg>{back});
  Value shift = LLVM::ShlOp::create(b, loc, LLVM::TruncOp::create(b, loc, b.getI32Type(), byte), EmitI32(b, loc, 3));
  Value mask = LLVM::ShlOp::create(b, loc, EmitI32(b, loc, (int64_t{1} << bits) - 1), shift);
  return {word, shift, mask};
}

// The loop of above. `bits`: of the value; `combine` takes and returns integers of so many. The value before.
Value EmitLoop(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access, int bits, Combine combine) {
  const Place place = PlaceOf(b, loc, access.ptr, bits);
  mlir::Type word = b.getIntegerType(std::max(bits, kWordBits)), type = b.getIntegerType(bits);
  Value begun = LLVM::LoadOp::create(b, loc, word, place.ptr, word.getIntOrFloatBitWidth() / 8, /*isVolatile=*/true);
  mlir::Block* here = b.getInsertionBlock();
  mlir::Block* after = here->splitBlock(b.getInsertionPoint());
  mlir::Block* again = b.createBlock(after, {word}, {loc});
  b.setInsertionPointToEnd(here);
  LLVM::BrOp::create(b, loc, begun, again);
  b.setInsertionPointToEnd(again);
  Value seen = again->getArgument(0), old = seen;
  if (place.shift) old = LLVM::TruncOp::create(b, loc, type, LLVM::LShrOp::create(b, loc, seen, place.shift));
  Value desired = combine(old);
  if (place.shift) {
    Value others = LLVM::AndOp::create(b, loc, seen, LLVM::XOrOp::create(b, loc, place.mask, EmitI32(b, loc, -1)));
    Value moved = LLVM::ShlOp::create(b, loc, LLVM::ZExtOp::create(b, loc, word, desired), place.shift);
    desired = LLVM::OrOp::create(b, loc, others, moved);
  }
  auto [next, done] = EmitSwap(b, loc, access, place.ptr, seen, desired);
  LLVM::CondBrOp::create(b, loc, done, after, mlir::ValueRange(), again, mlir::ValueRange(next));
  b.setInsertionPointToStart(after);
  return old;
}

// The sum of floats whose bits `old` and `value` are, as bits; one rounding.
Value EmitSum(mlir::OpBuilder& b, mlir::Location loc, mlir::Type type, Value old, Value value) {
  Value x = FromInteger(b, loc, type, old);
  if (!type.isBF16()) return ToInteger(b, loc, LLVM::FAddOp::create(b, loc, x, value));
  mlir::Type f32 = b.getF32Type();
  Value sum =
      LLVM::FAddOp::create(b, loc, LLVM::FPExtOp::create(b, loc, f32, x), LLVM::FPExtOp::create(b, loc, f32, value));
  return ToInteger(b, loc, LLVM::FPTruncOp::create(b, loc, type, sum));
}

Value EmitCombined(mlir::OpBuilder& b, mlir::Location loc, LLVM::AtomicBinOp op, Value old, Value value) {
  auto select = [&](LLVM::ICmpPredicate predicate) -> Value {
    Value keeps = LLVM::ICmpOp::create(b, loc, predicate, old, value);
    return LLVM::SelectOp::create(b, loc, keeps, old, value);
  };
  switch (op) {
    case LLVM::AtomicBinOp::_and:
      return LLVM::AndOp::create(b, loc, old, value);
    case LLVM::AtomicBinOp::_or:
      return LLVM::OrOp::create(b, loc, old, value);
    case LLVM::AtomicBinOp::_xor:
      return LLVM::XOrOp::create(b, loc, old, value);
    case LLVM::AtomicBinOp::add:
      return LLVM::AddOp::create(b, loc, old, value);
    case LLVM::AtomicBinOp::max:
      return select(LLVM::ICmpPredicate::sgt);
    case LLVM::AtomicBinOp::min:
      return select(LLVM::ICmpPredicate::slt);
    case LLVM::AtomicBinOp::umax:
      return select(LLVM::ICmpPredicate::ugt);
    case LLVM::AtomicBinOp::umin:
      return select(LLVM::ICmpPredicate::ult);
    default:
      return value;  // an exchange
  }
}

}  // namespace

mlir::FailureOr<Value> IntelOps::AtomicRmw(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                           tt::RmwOp op, Value value) const {
  mlir::Type type = value.getType();
  const int bits = BitsOf(type);
  std::optional<LLVM::AtomicBinOp> bin_op = BinOp(op, type);
  if (!bin_op || !IsAtomicWidth(bits) || (type.isF64() && !device_.arch.has_f64))
    return mlir::emitError(loc) << "no atomic " << tt::stringifyRmwOp(op) << " of " << type << " on "
                                << device_.arch.name;
  const bool adds_floats = *bin_op == LLVM::AtomicBinOp::fadd;
  const bool is_native = adds_floats ? type.isF32() : bits >= kWordBits;
  Value operand = adds_floats && is_native ? value : ToInteger(b, loc, value);
  Value none = LLVM::ZeroOp::create(b, loc, operand.getType());
  Value old = EmitGuarded(b, loc, access.predicate, none, [&]() -> Value {
    if (is_native)
      return LLVM::AtomicRMWOp::create(b, loc, *bin_op, access.ptr, operand, OrderingOf(access.semantic),
                                       ScopeOf(access.scope));
    return EmitLoop(b, loc, access, bits, [&](Value before) {
      return adds_floats ? EmitSum(b, loc, type, before, value) : EmitCombined(b, loc, *bin_op, before, operand);
    });
  });
  return FromInteger(b, loc, type, old);
}

mlir::FailureOr<Value> IntelOps::AtomicCas(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                           Value compare, Value value) const {
  mlir::Type type = value.getType();
  const int bits = BitsOf(type);
  if (!IsAtomicWidth(bits))
    return mlir::emitError(loc) << "no atomic compare and swap of " << type << " on " << device_.arch.name;
  Value expected = ToInteger(b, loc, compare), desired = ToInteger(b, loc, value);
  Value none = LLVM::ZeroOp::create(b, loc, expected.getType());
  Value old = EmitGuarded(b, loc, access.predicate, none, [&]() -> Value {
    if (bits >= kWordBits) return EmitSwap(b, loc, access, access.ptr, expected, desired).first;
    // A value that is not the expected one is written as it is: the word may have changed beside it.
    return EmitLoop(b, loc, access, bits, [&](Value before) -> Value {
      Value equal = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, before, expected);
      return LLVM::SelectOp::create(b, loc, equal, desired, before);
    });
  });
  return FromInteger(b, loc, type, old);
}

}  // namespace tritond::compiler
