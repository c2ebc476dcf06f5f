// SPDX-License-Identifier: Apache-2.0
// Atomic operations on global memory. Each is a function of its operation, type and ordering: a branch around the
// check and LLVM's atomic instruction. LLVM turns that instruction into a loop around a compare-and-swap where x86 has
// no instruction. Masked-off atomics give zero.
#include "compiler/targets/host/host_ops.h"
#include "compiler/targets/host/runtime.h"
#include "compiler/targets/llvm_atomics.h"
#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;
namespace {

std::string NameOf(llvm::StringRef kind, mlir::Type type, tt::MemSemantic semantic) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "tritond.atomic." << kind << "." << type << "." << tt::stringifyMemSemantic(semantic);
  return text;
}

mlir::Value AlwaysUnless(mlir::OpBuilder& b, mlir::Location loc, mlir::Value predicate) {
  if (predicate) return predicate;
  return LLVM::ConstantOp::create(b, loc, b.getI1Type(), b.getBoolAttr(true));
}

// Calls the function `name`; `act` emits the atomic instruction on the pointer and the operands in `entry`, whose
// arguments are site, predicate, pointer and operands.
mlir::Value CallAtomic(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access, llvm::StringRef name,
                       mlir::ValueRange operands, llvm::function_ref<mlir::Value(mlir::Block* entry)> act) {
  mlir::Type type = operands[0].getType();
  llvm::SmallVector<mlir::Value> args = {AlwaysUnless(b, loc, access.predicate), access.ptr};
  args.append(operands.begin(), operands.end());
  return host::EmitSharedCall(b, loc, name, type, args, [&](mlir::Block* entry) {
    mlir::Value zero = LLVM::ZeroOp::create(b, loc, type);
    mlir::Block* done = host::EmitBranch(b, loc, entry, type, zero, [&] {
      host::EmitCheckAccess(b, loc, entry->getArgument(0), entry->getArgument(2), BitsOf(type) / 8,
                            host::kAtomicAccess);
      return act(entry);
    });
    LLVM::ReturnOp::create(b, loc, done->getArgument(0));
  });
}

}  // namespace

mlir::FailureOr<mlir::Value> HostOps::AtomicRmw(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                                tt::RmwOp op, mlir::Value value) const {
  mlir::Type type = value.getType();
  std::optional<LLVM::AtomicBinOp> bin_op = BinOp(op, type);
  if (!bin_op || !IsAtomicWidth(BitsOf(type))) {
    mlir::emitError(loc) << "no atomic " << tt::stringifyRmwOp(op) << " of " << type << " on the host";
    return mlir::failure();
  }
  mlir::Value operand = op == tt::RmwOp::kFadd ? value : ToInteger(b, loc, value);
  const std::string name = NameOf(tt::stringifyRmwOp(op), operand.getType(), access.semantic);
  mlir::Value old = CallAtomic(b, loc, access, name, operand, [&](mlir::Block* entry) -> mlir::Value {
    return LLVM::AtomicRMWOp::create(b, loc, *bin_op, entry->getArgument(2), entry->getArgument(3),
                                     OrderingOf(access.semantic));
  });
  return FromInteger(b, loc, type, old);
}

mlir::FailureOr<mlir::Value> HostOps::AtomicCas(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                                mlir::Value compare, mlir::Value value) const {
  mlir::Type type = value.getType();
  if (!IsAtomicWidth(BitsOf(type))) {
    mlir::emitError(loc) << "no atomic compare and swap of " << type << " on the host";
    return mlir::failure();
  }
  mlir::Value operands[] = {ToInteger(b, loc, compare), ToInteger(b, loc, value)};
  const std::string name = NameOf("cas", operands[0].getType(), access.semantic);
  mlir::Value old = CallAtomic(b, loc, access, name, operands, [&](mlir::Block* entry) -> mlir::Value {
    mlir::Value pair =
        LLVM::AtomicCmpXchgOp::create(b, loc, entry->getArgument(2), entry->getArgument(3), entry->getArgument(4),
                                      OrderingOf(access.semantic), FailureOrderingOf(access.semantic));
    return LLVM::ExtractValueOp::create(b, loc, pair, 0);
  });
  return FromInteger(b, loc, type, old);
}

}  // namespace tritond::compiler
