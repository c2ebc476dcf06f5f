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
// Where threads widen 8-bit floats of both operands, K gets another order in both, which leaves the products as they
// are. Of a group along K the lower pairs of all words come first, and then the upper pairs. So threads read words of
// a, by ldmatrix, where they would read pairs. Of b a thread makes two vectors of 16 bytes for 16 of K. Eight lanes
// that write together have 128 of K and write neighbouring vectors, which lie in different banks. In groups of 16, for
// shorter K, the vectors lie as they did.
//
//   %w = ttg.local_load %m  : … -> tensor<64x128xf8E4M3FN, #a>
//   %x = tt.fp_to_fp %w     : … -> tensor<64x128xf16, #a>
//   ->
//   %w = ttg.local_load %m  : … -> tensor<64x128xf8E4M3FN, #words>
//   %e = tt.fp_to_fp %w     : … -> tensor<64x128xf16, #words>
//   %r = tt.reshape %e      : … -> tensor<64x1x32x2x2xf16>
//   %t = tt.trans %r        : … -> tensor<64x1x2x32x2xf16>
//   %x = tt.reshape %t      : … -> tensor<64x128xf16, #a>
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
constexpr unsigned kByteBits = 8;
// Bytes of a pair, which one instruction widens; of a word; of a vector; of eight lanes' vectors.
constexpr int64_t kPair = 2, kWord = 4, kVector = 16, kVectors = 128;

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

unsigned WidthOf(Value value) { return llvm::cast<mlir::RankedTensorType>(value.getType()).getElementTypeBitWidth(); }

// An operand of 8-bit floats that threads read and widen.
struct WidenedOperand {
  static std::optional<WidenedOperand> Find(Value value) {
    auto widen = value ? value.getDefiningOp<tt::FpToFpOp>() : tt::FpToFpOp();
    auto load = widen ? widen.getSrc().getDefiningOp<ttg::LocalLoadOp>() : ttg::LocalLoadOp();
    if (!load || !widen->hasOneUse() || !load->hasOneUse()) return std::nullopt;
    if (WidthOf(load) != kByteBits || WidthOf(widen) != 2 * kByteBits) return std::nullopt;
    return WidenedOperand{widen, load};
  }

  tt::FpToFpOp widen;
  ttg::LocalLoadOp load;
};

// Another order of the elements along dimension `k`: a reshape to `split`, a transposition, and a reshape back.
struct OrderOfK {
  OrderOfK(mlir::RankedTensorType type, unsigned k) : split(type.getShape()), order({0, 1, 2, 3, 4}) {
    const int64_t size = type.getDimSize(k), group = size % kVectors == 0 ? kVectors : kVector;
    split[k] = size / group;
    const int64_t parts[] = {group / kWord, kWord / kPair, kPair};
    split.insert(split.begin() + k + 1, std::begin(parts), std::end(parts));
    std::swap(order[k + 1], order[k + 2]);
    swapped = split;
    std::swap(swapped[k + 1], swapped[k + 2]);
  }

  // `value` in the other order, under the encoding by which no element moves.
  Value Apply(mlir::OpBuilder& b, Value value, mlir::Attribute encoding = {}) const {
    auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
    auto with = [&](llvm::ArrayRef<int64_t> shape, mlir::Attribute other) {
      return mlir::RankedTensorType::get(shape, type.getElementType(), other);
    };
    mlir::Attribute taken = ttg::ReshapeEncoding(type.getEncoding(), type.getShape(), split);
    mlir::Attribute turned = ttg::TransEncoding(taken, split, order);
    if (!encoding) encoding = ttg::ReshapeEncoding(turned, swapped, type.getShape());
    value = tt::ReshapeOp::create(b, value.getLoc(), with(split, taken), value);
    value = tt::TransOp::create(b, value.getLoc(), with(swapped, turned), value, order);
    return tt::ReshapeOp::create(b, value.getLoc(), with(type.getShape(), encoding), value);
  }

  // The encoding of what becomes a tensor of `type`.
  mlir::Attribute EncodingBefore(mlir::RankedTensorType type) const {
    mlir::Attribute turned = ttg::ReshapeEncoding(type.getEncoding(), type.getShape(), swapped);
    return ttg::ReshapeEncoding(ttg::TransEncoding(turned, swapped, order), split, type.getShape());
  }

  llvm::SmallVector<int64_t> split, swapped;
  llvm::SmallVector<int32_t> order;
};

// Gives K of both operands the order in which threads read words of a, if they widen both.
void OrderK(tt::DotOp dot) {
  auto read = dot.getB().getDefiningOp<ttg::LocalLoadOp>();
  auto buffer = read ? read.getSrc().getDefiningOp<ttg::LocalAllocOp>() : ttg::LocalAllocOp();
  if (!buffer || !buffer->hasOneUse() || !read->hasOneUse()) return;
  std::optional<WidenedOperand> x = WidenedOperand::Find(dot.getA()), y = WidenedOperand::Find(buffer.getSrc());
  if (!x || !y || !ttng::IsReadable(x->load.getSrc().getType(), /*k=*/1)) return;
  mlir::RankedTensorType type = x->load.getType();
  if (ttg::ToLinearLayout(y->load.getType()).NumConsecutive("register", "dim0") < kVector) return;

  const OrderOfK of_a(type, /*k=*/1), of_b(y->load.getType(), /*k=*/0);
  const mlir::Attribute before = of_a.EncodingBefore(type);
  mlir::OpBuilder b(dot.getContext());
  for (Value value : {Value(x->load), Value(x->widen)})
    value.setType(llvm::cast<mlir::RankedTensorType>(value.getType()).cloneWithEncoding(before));
  b.setInsertionPointAfter(x->widen);
  dot.getAMutable().assign(of_a.Apply(b, x->widen, type.getEncoding()));
  b.setInsertionPointAfter(y->widen);
  buffer.getSrcMutable().assign(of_b.Apply(b, y->widen));
}

void Rewrite(tt::DotOp dot) {
  auto mma = llvm::dyn_cast_or_null<ttg::NvidiaMmaEncodingAttr>(
      llvm::cast<mlir::RankedTensorType>(dot.getType()).getEncoding());
  if (!mma || mma.getVersionMajor() < 3) return;
  if (mma.getVersionMajor() == 3) OrderK(dot);
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
