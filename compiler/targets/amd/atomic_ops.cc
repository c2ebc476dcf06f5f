// SPDX-License-Identifier: Apache-2.0
// Atomic operations on global memory: LLVM's own, of the scope that the access names. LLVM makes a loop around a
// compare-and-swap where the GPU has no instruction. Which float additions it has depends on the memory that they may
// meet, which optimize.cc says.
#include "compiler/targets/amd/amd_ops.h"
#include "compiler/targets/guarded.h"
#include "compiler/targets/llvm_atomics.h"
#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;
namespace {

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
