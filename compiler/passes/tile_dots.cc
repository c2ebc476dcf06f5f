// SPDX-License-Identifier: Apache-2.0
// Puts a dot that is computed by multiply-adds into a loop over slices of K, which come from shared memory:
//
//   %d = tt.dot %a, %b, %c : tensor<64x32xf32> * tensor<32x64xf32> -> tensor<64x64xf32, #blocked>
//   ->
//   %s = tt.trans (tt.reshape %a)            : tensor<4x64x8xf32>                      K as 4 slices of 8
//   %t = tt.reshape %b                       : tensor<4x8x64xf32>
//   %x = ttg.local_alloc %s ; %y = ttg.local_alloc %t
//   %d = scf.for %i = 0 to 4 iter_args(%sum = %c) {
//     %u = ttg.local_load (ttg.memdesc_index %x[%i]) : tensor<64x8xf32, #dot_op<0, #blocked>>
//     %v = ttg.local_load (ttg.memdesc_index %y[%i]) : tensor<8x64xf32, #dot_op<1, #blocked>>
//     scf.yield (tt.dot %u, %v, %sum)
//   }
//
// Otherwise a thread would hold its rows of a and columns of b with all of K in registers. Its code would be one
// multiply-add after another: thousands, which spill, and take the back end minutes. Operands that are converted to
// these encodings, as on the way from bf16 to f32, go to the buffers as they are before. Slices are as thick as keeps
// the loop's body below a limit. Dots small enough, and those of a matrix unit, stay.
#include "compiler/dots/dot_slices.h"
#include "compiler/dots/matrix_buffers.h"
#include "compiler/ir/encodings.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_TILEDOTSPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

RankedTensorType TypeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

class TiledDot final {
 public:
  TiledDot(tt::DotOp dot, int64_t slice) : dot_(dot), b_(dot), loc_(dot.getLoc()), slice_(slice) {}

  mlir::LogicalResult Rewrite() {
    int rank = TypeOf(dot_.getD()).getRank();
    int64_t count = TypeOf(dot_.getA()).getShape().back() / slice_;
    mlir::FailureOr<Value> a_slices = Slices(dot_.getA(), rank - 1), b_slices = Slices(dot_.getB(), rank - 2);
    if (failed(a_slices) || failed(b_slices)) return mlir::failure();
    auto index = [&](int64_t value) { return mlir::arith::ConstantIntOp::create(b_, loc_, value, 32); };
    auto body = [&](mlir::OpBuilder& b, mlir::Location, Value i, mlir::ValueRange carried) {
      Value x = Load(b, *a_slices, i, TypeOf(dot_.getA())), y = Load(b, *b_slices, i, TypeOf(dot_.getB()));
      Value sum = tt::DotOp::create(b, loc_, carried[0].getType(), x, y, carried[0], dot_.getInputPrecision(),
                                    dot_.getMaxNumImpreciseAcc());
      mlir::scf::YieldOp::create(b, loc_, sum);
    };
    // Accumulators of narrow floats are rounded once, at the end.
    RankedTensorType type = TypeOf(dot_.getD());
    bool narrow = type.getElementType().isF16() || type.getElementType().isBF16();
    Value sum = dot_.getC();
    if (narrow) sum = mlir::arith::ExtFOp::create(b_, loc_, type.clone(b_.getF32Type()), sum);
    sum = mlir::scf::ForOp::create(b_, loc_, index(0), index(count), index(1), sum, body).getResult(0);
    if (narrow) sum = mlir::arith::TruncFOp::create(b_, loc_, type, sum);
    dot_.replaceAllUsesWith(sum);
    dot_.erase();
    return mlir::success();
  }

 private:
  // `operand` as it was before its conversion, which may be followed by operations that take nothing else.
  Value BeforeConversion(Value operand) {
    Operation* op = operand.getDefiningOp();
    if (auto convert = llvm::dyn_cast_or_null<ttg::ConvertLayoutOp>(op)) return convert.getSrc();
    const bool is_widening = op && op->hasTrait<mlir::OpTrait::Elementwise>() && op->getNumOperands() == 1 &&
                             op->getNumResults() == 1 && op->getNumRegions() == 0 && mlir::isMemoryEffectFree(op);
    if (!is_widening || !op->hasOneUse()) return operand;
    Value source = BeforeConversion(op->getOperand(0));
    if (source == op->getOperand(0)) return operand;
    Operation* before = b_.clone(*op);
    before->setOperand(0, source);
    before->getResult(0).setType(TypeOf(operand).cloneWithEncoding(TypeOf(source).getEncoding()));
    return before->getResult(0);
  }

  // A buffer with the slices of `operand` along dimension `k`, the number of the slice as first dimension.
  mlir::FailureOr<Value> Slices(Value operand, int k) {
    const RankedTensorType read = TypeOf(operand);
    operand = BeforeConversion(operand);
    RankedTensorType type = TypeOf(operand);
    llvm::SmallVector<int64_t> shape(type.getShape()), sliced(shape);
    sliced[k] = slice_;
    shape[k] /= slice_;
    shape.insert(shape.begin() + k + 1, slice_);
    mlir::Attribute encoding = ttg::ReshapeEncoding(type.getEncoding(), type.getShape(), shape);
    if (!encoding) return dot_.emitOpError("has an operand encoding whose K cannot be split"), mlir::failure();
    Value split =
        tt::ReshapeOp::create(b_, loc_, RankedTensorType::get(shape, type.getElementType(), encoding), operand);
    auto order = llvm::to_vector(llvm::seq<int32_t>(0, shape.size()));
    order.erase(order.begin() + k);
    order.insert(order.begin(), k);
    encoding = ttg::TransEncoding(encoding, shape, order);
    if (!encoding) return dot_.emitOpError("has an operand encoding that cannot be transposed"), mlir::failure();
    mlir::Attribute buffer = BufferEncoding(type, sliced, read);
    sliced.insert(sliced.begin(), shape[k]);
    Value slices =
        tt::TransOp::create(b_, loc_, RankedTensorType::get(sliced, type.getElementType(), encoding), split, order);
    return Value(ttg::LocalAllocOp::create(b_, loc_, BufferType(sliced, buffer, type.getElementType()), slices,
                                           /*alignment=*/mlir::IntegerAttr()));
  }

  // The buffers of slices of `shape`, or of one, in the order in which threads hold `operand`: they store groups.
  static ttg::MemDescType BufferType(llvm::ArrayRef<int64_t> shape, mlir::Attribute encoding, mlir::Type element) {
    return ttg::MemDescType::get(encoding.getContext(), shape, element, encoding,
                                 ttg::SharedMemorySpaceAttr::get(encoding.getContext()), /*mutableMemory=*/false,
                                 shape);
  }
  mlir::Attribute BufferEncoding(RankedTensorType source, llvm::ArrayRef<int64_t> slice, RankedTensorType operand) {
    auto order = OrderInThread(source);
    auto encoding = llvm::cast<ttg::DotOperandEncodingAttr>(operand.getEncoding());
    if (auto made = MatrixBufferEncoding(source.clone(slice), order, encoding)) return made;
    return ttg::SwizzledSharedEncodingAttr::get(dot_.getContext(), 1, 1, 1, order);
  }

  // Slice `i` as an operand of type `whole` but for K.
  Value Load(mlir::OpBuilder& b, Value slices, Value i, RankedTensorType whole) {
    auto type = llvm::cast<ttg::MemDescType>(slices.getType());
    auto shape = type.getShape().drop_front();
    Value slice =
        ttg::MemDescIndexOp::create(b, loc_, BufferType(shape, type.getEncoding(), type.getElementType()), slices, i);
    return ttg::LocalLoadOp::create(b, loc_, RankedTensorType::get(shape, whole.getElementType(), whole.getEncoding()),
                                    slice, /*token=*/Value());
  }

  tt::DotOp dot_;
  mlir::OpBuilder b_;
  mlir::Location loc_;
  int64_t slice_;
};

class TileDotsPass : public impl::TileDotsPassBase<TileDotsPass> {
  void runOnOperation() override {
    llvm::SmallVector<tt::DotOp> dots;
    getOperation().walk([&](tt::DotOp dot) {
      if (llvm::isa_and_present<ttg::BlockedEncodingAttr>(TypeOf(dot.getD()).getEncoding())) dots.push_back(dot);
    });
    for (tt::DotOp dot : dots) {
      int64_t slice = TileThickness(dot);
      if (slice == TypeOf(dot.getA()).getShape().back()) continue;
      if (failed(TiledDot(dot, slice).Rewrite())) return signalPassFailure();
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
