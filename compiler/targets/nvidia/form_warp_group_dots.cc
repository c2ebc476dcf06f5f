// SPDX-License-Identifier: Apache-2.0
// Dots of nvidia_mma versions 3 and 5 (see accelerate_matmul.cc) become wgmma and tcgen05.mma, which read their
// operands from shared memory by themselves:
//
//   %x = ttg.local_load %m : !ttg.memdesc<128x64xf16, #nvmma> -> tensor<128x64xf16, #dot_op<0, #mma>>
//   %y = ttg.local_load %n : !ttg.memdesc<64x256xf16, #nvmma> -> tensor<64x256xf16, #dot_op<1, #mma>>
//   %d = tt.dot %x, %y, %c
//   ->
//   %d = ttng.warp_group_dot %m, %n, %c
//
// Bytes whose K is not contiguous are turned on their way to that buffer. A thread reads a word of each of four rows,
// and writes four words along K.
//
//   %y = ttg.local_load %n : !ttg.memdesc<64x128xi8, #swizzled> -> tensor<64x128xi8, #dot_op<1, #mma>>
//   ->
//   %t = ttg.local_load %n : … -> tensor<64x128xi8, #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [8, 4], …}>>
//   %m = ttg.local_alloc %t : … -> !ttg.memdesc<64x128xi8, #ttg.nvmma_shared<{transposed = true, …}>>
//
// Until here they are dots as all others, so that layouts and pipelining need to know nothing of it. An operand that is
// not read from a buffer that wgmma can read, or from one that is written before the dot. A stays in registers, b goes
// through a buffer of its own. So does a of tcgen05.mma, which reads no registers.
#include "compiler/dots/matrix_buffers.h"
#include "compiler/dots/outliving_dots.h"
#include "compiler/targets/nvidia/passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_FORMWARPGROUPDOTSPASS
#include "compiler/targets/nvidia/passes.h.inc"

namespace {

using mlir::Operation;
using mlir::Value;

// Sides of a square of bytes whose rows and columns are words; lanes of a warp along K.
constexpr unsigned kSide = 4, kLanesAlongK = 8;

bool MayWriteBuffers(Operation* op) {
  if (mlir::isMemoryEffectFree(op) || llvm::isa<tt::LoadOp, ttg::LocalLoadOp, ttg::LocalAllocOp>(op)) return false;
  if (llvm::isa<tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>(op)) return false;  // to global memory
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

// Threads that hold squares of bytes. The lanes of a warp lie so that they read and write different banks. A warp reads
// 16 bytes of neighbouring groups of four rows, each in another place for the buffer's swizzle. It writes 32 bytes
// along K of four rows.
ttg::BlockedEncodingAttr SquaresOfBytes(mlir::RankedTensorType type, unsigned num_warps, unsigned threads_per_warp) {
  unsigned squares = type.getDimSize(0) / kSide;
  unsigned lanes = std::min(squares, kLanesAlongK), warps = std::min(squares / lanes, num_warps);
  return ttg::BlockedEncodingAttr::get(type.getContext(), {kSide, kSide}, {lanes, threads_per_warp / lanes},
                                       {warps, num_warps / warps}, /*order=*/{0, 1});
}

// `operand`, or as it was read from a buffer with another order of bytes: under an encoding that turns them fast.
Value Turned(tt::DotOp dot, Value operand) {
  auto type = llvm::cast<mlir::RankedTensorType>(operand.getType());
  auto load = operand.getDefiningOp<ttg::LocalLoadOp>();
  if (!load || type.getElementTypeBitWidth() != 8) return operand;
  mlir::OpBuilder b(load);
  auto squares = mlir::RankedTensorType::get(type.getShape(), type.getElementType(),
                                             SquaresOfBytes(type, ttg::NumWarps(dot), ttg::ThreadsPerWarp(dot)));
  return ttg::LocalLoadOp::create(b, load.getLoc(), squares, load.getSrc(), load.getToken());
}

// A new buffer with the operand, K contiguous, which is dimension `k`.
Value BufferWith(mlir::OpBuilder& b, tt::DotOp dot, Value operand, unsigned k) {
  auto type = llvm::cast<mlir::RankedTensorType>(operand.getType());
  mlir::Attribute encoding =
      MatrixBufferEncoding(type, /*order=*/{k, 1 - k}, llvm::cast<ttg::DotOperandEncodingAttr>(type.getEncoding()));
  auto buffer =
      ttg::MemDescType::get(b.getContext(), type.getShape(), type.getElementType(), encoding,
                            ttg::SharedMemorySpaceAttr::get(b.getContext()), /*mutableMemory=*/false, type.getShape());
  return ttg::LocalAllocOp::create(b, dot.getLoc(), buffer, k == 0 ? Turned(dot, operand) : operand);
}

void Rewrite(tt::DotOp dot) {
  auto mma = llvm::dyn_cast_or_null<ttg::NvidiaMmaEncodingAttr>(
      llvm::cast<mlir::RankedTensorType>(dot.getType()).getEncoding());
  if (!mma || mma.getVersionMajor() < 3) return;
  mlir::OpBuilder b(dot);
  Value a = BufferOf(dot.getA(), /*k=*/1, dot), y = BufferOf(dot.getB(), /*k=*/0, dot);
  if (!a && mma.getVersionMajor() == 5) a = BufferWith(b, dot, dot.getA(), /*k=*/1);
  auto made = ttng::WarpGroupDotOp::create(b, dot.getLoc(), dot.getType(), a ? a : dot.getA(),
                                           y ? y : BufferWith(b, dot, dot.getB(), /*k=*/0), dot.getC());
  if (mma.getVersionMajor() == 3 && IsPromoted(dot)) made.setMaxNumImpreciseAcc(dot.getMaxNumImpreciseAcc());
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
