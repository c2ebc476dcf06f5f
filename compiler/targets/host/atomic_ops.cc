// SPDX-License-Identifier: Apache-2.0
// Atomic operations on global memory. Each is a function of its operation, type and ordering: a branch around the
// check and LLVM's atomic instruction, which LLVM turns into a loop around a compare-and-swap where x86 has no
// instruction. Masked-off atomics give zero.
#include "compiler/targets/host/host_ops.h"
#include "compiler/targets/host/runtime.h"
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

bool IsAtomicWidth(int bits) { return bits == 8 || bits == 16 || bits == 32 || bits == 64; }

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
