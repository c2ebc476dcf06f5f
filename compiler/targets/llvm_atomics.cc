// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/llvm_atomics.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;

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

LLVM::AtomicOrdering FailureOrderingOf(tt::MemSemantic semantic) {
  const bool acquires = semantic == tt::MemSemantic::kAcquire || semantic == tt::MemSemantic::kAcqRel;
  return acquires ? LLVM::AtomicOrdering::acquire : LLVM::AtomicOrdering::monotonic;
}

bool IsAtomicWidth(int bits) { return bits == 8 || bits == 16 || bits == 32 || bits == 64; }

}  // namespace tritond::compiler
