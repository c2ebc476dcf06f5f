// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies from global to shared memory by cp.async. Where the mask is false nothing is read, and zeros are
// written. A predicate says so: the instruction has one, while ptxas would make it of a number of bytes. There are
// seven predicates, which masked loads need too: beside these the mask stays in a register, as a number of bytes. They
// have no eviction priority: ptxas (12.8 to 13.0) puts its policy, and the uniform part of the address in shared
// memory, into registers that nothing has written.
#include "compiler/targets/llvm_emitters.h"
#include "compiler/targets/nvidia/nvidia_ops.h"
#include "compiler/targets/nvidia/ptx_builder.h"

namespace tritond::compiler {

namespace LLVM = mlir::LLVM;

bool NvidiaOps::AsyncCopy(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                          const SharedDestination& destination) const {
  int element_bits = llvm::isa<LLVM::LLVMPointerType>(access.element) ? 64 : access.element.getIntOrFloatBitWidth();
  int bytes = element_bits / 8 * access.count;
  if (bytes != 4 && bytes != 8 && bytes != 16) return false;
  // What is copied to shared memory is read once: around L1 where the size permits.
  bool through_l1 = bytes != 16 || access.cache == tt::CacheModifier::kCa;
  nvidia::PtxBuilder ptx(b, loc);
  std::string to = ptx.AddInput(LLVM::PtrToIntOp::create(b, loc, b.getI32Type(), destination.ptr));
  std::string from = ptx.AddInput(LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), access.ptr));
  std::string text = std::string("cp.async.") + (through_l1 ? "ca" : "cg") + ".shared.global [" + to + "], [" + from +
                     "], " + std::to_string(bytes);
  if (destination.bytes) {
    text += ", " + ptx.AddInput(destination.bytes);
  } else if (destination.mask && destination.beside_masked_loads) {
    mlir::Value size = LLVM::SelectOp::create(b, loc, destination.mask, EmitI32(b, loc, bytes), EmitI32(b, loc, 0));
    text += ", " + ptx.AddInput(size);
  } else if (destination.mask) {
    mlir::Value yes = LLVM::ConstantOp::create(b, loc, b.getI1Type(), b.getBoolAttr(true));
    text += ", " + ptx.AddPredicate(LLVM::XOrOp::create(b, loc, destination.mask, yes));
  }
  text += ";";
  if (access.predicate) text = "@" + ptx.AddPredicate(access.predicate) + " " + text;
  ptx.Emit(text, /*touches_memory=*/true);
  return true;
}

void NvidiaOps::AsyncCommitGroup(mlir::OpBuilder& b, mlir::Location loc) const {
  EmitIntrinsic(b, loc, "llvm.nvvm.cp.async.commit.group", nullptr, {});
}

void NvidiaOps::AsyncWaitGroup(mlir::OpBuilder& b, mlir::Location loc, int num) const {
  EmitIntrinsic(b, loc, "llvm.nvvm.cp.async.wait.group", nullptr, {EmitI32(b, loc, num)});
}

}  // namespace tritond::compiler
