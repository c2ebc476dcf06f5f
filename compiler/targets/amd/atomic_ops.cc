// SPDX-License-Identifier: Apache-2.0
// Atomic operations on global memory: LLVM's own, of the scope that the access names. LLVM makes a loop around a
// compare-and-swap where the GPU has no instruction; which float additions it has depends on the memory that they may
// meet, which optimize.cc says.
#include "compiler/targets/amd/amd_ops.h"
#include "compiler/targets/guarded.h"
#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;
namespace {

std::optional<LLVM::AtomicBinOp> BinOp(tt::RmwOp op, mlir::Type type) {
  if (op == tt::RmwOp::kXchg) return LLVM::AtomicBinOp::xchg;
  if (op == tt::RmwOp::kFadd && mlir::isa<mlir::FloatType>(type)) return LLVM::AtomicBinOp::fadd;
  if (!mlir::isa<mlir::IntegerType>(type)) return std::nullopt;
  switch (op) {
    case tt::RmwOp::kAnd:
      return LLVM::AtomicBinOp::_and;
    case tt::RmwOp::kOr:
      return LLVM::AtomicBinOp::_or;
    case tt::RmwOp::kXor:
      return LLVM::AtomicBinOp::_xor;
    case tt::RmwOp::kAdd:
      return LLVM::AtomicBinOp::add;
    case tt::RmwOp::kMax:
      return LLVM::AtomicBinOp::max;
    case tt::RmwOp::kMin:
      return LLVM::AtomicBinOp::min;
    case tt::RmwOp::kUmax:
      return LLVM::AtomicBinOp::umax;
    case tt::RmwOp::kUmin:
      return LLVM::AtomicBinOp::umin;
    default:
      return std::nullopt;
  }
}

LLVM::AtomicOrdering OrderingOf(tt::MemSemantic semantic) {
  switch (semantic) {
    case tt::MemSemantic::kRelaxed:
      return LLVM::AtomicOrdering::monotonic;
    case tt::MemSemantic::kAcquire:
      return LLVM::AtomicOrdering::acquire;
    case tt::MemSemantic::kRelease:
      return LLVM::AtomicOrdering::release;
    case tt::MemSemantic::kAcqRel:
      return LLVM::AtomicOrdering::acq_rel;
  }
  return LLVM::AtomicOrdering::acq_rel;
}

// What a compare-and-swap that fails may be: a load.
LLVM::AtomicOrdering FailureOrderingOf(tt::MemSemantic semantic) {
  const bool acquires = semantic == tt::MemSemantic::kAcquire || semantic == tt::MemSemantic::kAcqRel;
  return acquires ? LLVM::AtomicOrdering::acquire : LLVM::AtomicOrdering::monotonic;
}

// "User Guide for AMDGPU Backend", "Memory Scopes"; none is the whole system.
llvm::StringRef ScopeOf(tt::MemSyncScope scope) {
  switch (scope) {
    case tt::MemSyncScope::kGpu:
      return "agent";
    case tt::MemSyncScope::kCta:
      return "workgroup";
    case tt::MemSyncScope::kSys:
      return "";
  }
  return "";
}

bool IsAtomicWidth(int bits) { return bits == 8 || bits == 16 || bits == 32 || bits == 64; }

}  // namespace

mlir::FailureOr<mlir::Value> AmdOps::AtomicRmw(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                               tt::RmwOp op, mlir::Value value) const {
  mlir::Type type = value.getType();
  std::optional<LLVM::AtomicBinOp> bin_op = BinOp(op, type);
  if (!bin_op || !IsAtomicWidth(BitsOf(type)))
    return mlir::emitError(loc) << "no atomic " << tt::stringifyRmwOp(op) << " of " << type << " on " << arch_.name;
  mlir::Value operand = op == tt::RmwOp::kFadd ? value : ToInteger(b, loc, value);
  mlir::Value none = LLVM::PoisonOp::create(b, loc, operand.getType());
  mlir::Value old = EmitGuarded(b, loc, access.predicate, none, [&]() -> mlir::Value {
    return LLVM::AtomicRMWOp::create(b, loc, *bin_op, access.ptr, operand, OrderingOf(access.semantic),
                                     ScopeOf(access.scope));
  });
  return FromInteger(b, loc, type, old);
}

int AmdOps::MaxAtomicAdds(mlir::Type element) const {
  const bool pairs = (element.isF16() && arch_.adds_f16_pair) || (element.isBF16() && arch_.adds_bf16_pair);
  return pairs ? 2 : 1;
}

mlir::FailureOr<llvm::SmallVector<mlir::Value>> AmdOps::AtomicAdds(mlir::OpBuilder& b, mlir::Location loc,
                                                                   const AtomicAccess& access,
                                                                   mlir::ValueRange values) const {
  mlir::Type type = LLVM::getVectorType(values[0].getType(), values.size());
  mlir::Value none = LLVM::PoisonOp::create(b, loc, type), added = none;
  for (auto [i, value] : llvm::enumerate(values))
    added = LLVM::InsertElementOp::create(b, loc, added, value, EmitI32(b, loc, i));
  mlir::Value old = EmitGuarded(b, loc, access.predicate, none, [&]() -> mlir::Value {
    return LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::fadd, access.ptr, added, OrderingOf(access.semantic),
                                     ScopeOf(access.scope));
  });
  llvm::SmallVector<mlir::Value> before;
  for (size_t i = 0; i < values.size(); ++i)
    before.push_back(LLVM::ExtractElementOp::create(b, loc, old, EmitI32(b, loc, i)));
  return before;
}

mlir::FailureOr<mlir::Value> AmdOps::AtomicCas(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                               mlir::Value compare, mlir::Value value) const {
  mlir::Type type = value.getType();
  if (!IsAtomicWidth(BitsOf(type)))
    return mlir::emitError(loc) << "no atomic compare and swap of " << type << " on " << arch_.name;
  mlir::Value expected = ToInteger(b, loc, compare), desired = ToInteger(b, loc, value);
  mlir::Value none = LLVM::PoisonOp::create(b, loc, expected.getType());
  mlir::Value old = EmitGuarded(b, loc, access.predicate, none, [&]() -> mlir::Value {
    mlir::Value pair = LLVM::AtomicCmpXchgOp::create(b, loc, access.ptr, expected, desired, OrderingOf(access.semantic),
                                                     FailureOrderingOf(access.semantic), ScopeOf(access.scope));
    return LLVM::ExtractValueOp::create(b, loc, pair, 0);
  });
  return FromInteger(b, loc, type, old);
}

}  // namespace tritond::compiler
