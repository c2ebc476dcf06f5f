// SPDX-License-Identifier: Apache-2.0
// Dots of nvidia_mma version 3 (see accelerate_matmul.cc) become wgmma, which reads its operands from shared memory by
// itself:
//
//   %x = ttg.local_load %m : !ttg.memdesc<128x64xf16, #nvmma> -> tensor<128x64xf16, #dot_op<0, #mma>>
//   %y = ttg.local_load %n : !ttg.memdesc<64x256xf16, #nvmma> -> tensor<64x256xf16, #dot_op<1, #mma>>
//   %d = tt.dot %x, %y, %c
//   ->
//   %d = ttng.warp_group_dot %m, %n, %c
//
// Until here they are dots as all others, so that layouts and pipelining need to know nothing of it. An operand that is
// not read from a buffer that wgmma can read, or from one that is written before the dot: a stays in registers, b goes
// through a buffer of its own.
#include "compiler/passes/matrix_buffers.h"
#include "compiler/targets/nvidia/passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_FORMWARPGROUPDOTSPASS
#include "compiler/targets/nvidia/passes.h.inc"

namespace {

using mlir::Operation;
using mlir::Value;

bool MayWriteBuffers(Operation* op) {
  if (mlir::isMemoryEffectFree(op) || llvm::isa<tt::LoadOp, ttg::LocalLoadOp, ttg::LocalAllocOp>(op)) return false;
  auto effects = llvm::dyn_cast<mlir::MemoryEffectOpInterface>(op);
  return !effects || !effects.onlyHasEffect<mlir::MemoryEffects::Read>();
}

// Whether the buffer holds at `dot` what `load` has read.
bool HoldsUntil(ttg::LocalLoadOp load, Operation* dot) {
  if (!load.getSrc().getType().getMutableMemory()) return true;
  if (load->getBlock() != dot->getBlock()) return false;
  for (Operation* op = load->getNextNode(); op != dot; op = op->getNextNode())
    if (MayWriteBuffers(op)) return false;
  return true;
}

// The buffer from which wgmma can read the operand; null: there is none.
Value BufferOf(Value operand, unsigned k, Operation* dot) {
  auto load = operand.getDefiningOp<ttg::LocalLoadOp>();
  return load && ttng::IsReadable(load.getSrc().getType(), k) && HoldsUntil(load, dot) ? load.getSrc() : Value();
}

Value BufferWith(mlir::OpBuilder& b, tt::DotOp dot, Value operand) {
  auto type = llvm::cast<mlir::RankedTensorType>(operand.getType());
  mlir::Attribute encoding =
      MatrixBufferEncoding(type, /*order=*/{0, 1}, llvm::cast<ttg::DotOperandEncodingAttr>(type.getEncoding()));
  auto buffer =
      ttg::MemDescType::get(b.getContext(), type.getShape(), type.getElementType(), encoding,
                            ttg::SharedMemorySpaceAttr::get(b.getContext()), /*mutableMemory=*/false, type.getShape());
  return ttg::LocalAllocOp::create(b, dot.getLoc(), buffer, operand);
}

void Rewrite(tt::DotOp dot) {
  auto mma = llvm::dyn_cast_or_null<ttg::NvidiaMmaEncodingAttr>(
      llvm::cast<mlir::RankedTensorType>(dot.getType()).getEncoding());
  if (!mma || mma.getVersionMajor() != 3) return;
  mlir::OpBuilder b(dot);
  Value a = BufferOf(dot.getA(), /*k=*/1, dot), y = BufferOf(dot.getB(), /*k=*/0, dot);
  auto made = ttng::WarpGroupDotOp::create(b, dot.getLoc(), dot.getType(), a ? a : dot.getA(),
                                           y ? y : BufferWith(b, dot, dot.getB()), dot.getC());
  llvm::SmallVector<Value> operands{dot.getA(), dot.getB()};
  dot.replaceAllUsesWith(made.getD());
  dot.erase();
  for (Value operand : operands)
    if (auto load = operand.getDefiningOp<ttg::LocalLoadOp>(); load && load.use_empty()) load.erase();
}

class FormWarpGroupDotsPass : public impl::FormWarpGroupDotsPassBase<FormWarpGroupDotsPass> {
  void runOnOperation() override {
    llvm::SmallVector<tt::DotOp> dots;
    getOperation().walk([&](tt::DotOp dot) { dots.push_back(dot); });
    for (tt::DotOp dot : dots) Rewrite(dot);
  }
};

}  // namespace
}  // namespace tritond::compiler
