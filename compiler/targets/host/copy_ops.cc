// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies from global to shared memory, of the sizes that a GPU has: 4, 8 and 16 bytes.
#include "compiler/targets/host/host_ops.h"
#include "compiler/targets/host/runtime.h"
#include "compiler/targets/llvm_emitters.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;

bool HostOps::AsyncCopy(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                        const SharedDestination& destination) const {
  int element_bits = llvm::isa<LLVM::LLVMPointerType>(access.element) ? 64 : access.element.getIntOrFloatBitWidth();
  int count = element_bits / 8 * access.count;
  if (count != 4 && count != 8 && count != 16) return false;
  mlir::Type plain = LLVM::LLVMPointerType::get(b.getContext());
  mlir::Value to = LLVM::AddrSpaceCastOp::create(b, loc, plain, destination.ptr), from = access.ptr;
  if (from.getType() != plain) from = LLVM::AddrSpaceCastOp::create(b, loc, plain, from);
  // A thread that does not act copies nothing.
  mlir::Value bytes = EmitI32(b, loc, count), zero = EmitI32(b, loc, 0);
  mlir::Value read = bytes;
  if (destination.bytes) read = destination.bytes;
  if (destination.mask && !destination.bytes) read = LLVM::SelectOp::create(b, loc, destination.mask, bytes, zero);
  if (access.predicate) bytes = LLVM::SelectOp::create(b, loc, access.predicate, bytes, zero);
  host::EmitRuntimeCall(b, loc, host::RuntimeFunction::kAsyncCopy, {to, from, bytes, read});
  return true;
}

void HostOps::AsyncCommitGroup(mlir::OpBuilder& b, mlir::Location loc) const {
  host::EmitRuntimeCall(b, loc, host::RuntimeFunction::kAsyncCommit, {});
}

void HostOps::AsyncWaitGroup(mlir::OpBuilder& b, mlir::Location loc, int num) const {
  host::EmitRuntimeCall(b, loc, host::RuntimeFunction::kAsyncWait, EmitI32(b, loc, num));
}

}  // namespace tritond::compiler
