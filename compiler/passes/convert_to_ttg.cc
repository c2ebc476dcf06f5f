// SPDX-License-Identifier: Apache-2.0
// Gives every tensor of a module an encoding, and the module its launch shape.
//
// A tensor's encoding depends on its shape alone: lanes, then warps, spread over the fastest dimensions, one element a
// thread. Of some matrices warps have whole rows (RowsOfWarps). All of it in one block, also where a program has
// several (divide_programs.cc). So all values of one type keep one type, and types are changed in place: results, block
// arguments of every region, function signatures and constants. Later passes choose better encodings; this one only has
// to be right.
//
// Some operations tie the encodings of their operands and results. They are repaired after the walk, with conversions
// to or from the default:
//
//   %e = tt.expand_dims %x {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
// becomes
//   %y = ttg.convert_layout %x : tensor<128xi32, #blocked> -> tensor<128xi32, #ttg.slice<{dim = 1, parent =
//   #blocked1}>> %e = tt.expand_dims %y {axis = 1 : i32} : … -> tensor<128x1xi32, #blocked1>
//
// - broadcast, expand_dims and split convert their operand to what yields the default result;
// - reduce, trans, reshape, join, cat and fp4_to_fp get the result that their operand's encoding yields, converted to
// the default;
// - dot converts a and b to operand encodings of the result's.
//
// The result of cat is its operand's placement with one more register bit, the highest: first all registers of lhs,
// then all of rhs.
#include "compiler/ir/encodings.h"
#include "compiler/passes/passes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_CONVERTTOTTGPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Attribute;
using mlir::LogicalResult;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Type;
using mlir::Value;

RankedTensorType TensorType(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

RankedTensorType WithEncoding(RankedTensorType type, Attribute encoding) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), encoding);
}

bool IsBlockPointer(Type type) {
  auto ptr = llvm::dyn_cast<tt::PtrType>(type);
  return ptr && llvm::isa<RankedTensorType>(ptr.getPointeeType());
}

// Which matrices a warp should hold whole rows of: those that are reduced, scanned or gathered along rows, more often
// than along columns, and of which neither memory nor dots say how threads hold them. A warp then does so by itself.
class RowsOfWarps final {
 public:
  explicit RowsOfWarps(mlir::ModuleOp module) {
    module.walk([&](Operation* op) {
      llvm::TypeSwitch<Operation*>(op)
          .Case<tt::ReduceOp, tt::ScanOp>([&](auto along) { Count(op, along.getAxis()); })
          .Case<tt::GatherOp>([&](auto along) { Count(op, along.getAxis()); })
          .Case<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp, tt::DotOp, tt::DotScaledOp>([&](auto) {
            for (Value operand : op->getOperands())
              if (std::optional<Shape> shape = ShapeOf(operand.getType())) elsewhere_.insert(*shape);
          });
    });
  }

  bool Holds(RankedTensorType type) const {
    const std::optional<Shape> shape = ShapeOf(type);
    return shape && !elsewhere_.contains(*shape) && votes_.lookup(*shape) > 0;
  }

 private:
  using Shape = std::pair<int64_t, int64_t>;
  static constexpr int kIterations = 8;  // of a loop, as a guess

  static std::optional<Shape> ShapeOf(Type type) {
    auto tensor = llvm::dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() != 2) return std::nullopt;
    return Shape(tensor.getDimSize(0), tensor.getDimSize(1));
  }

  void Count(Operation* op, unsigned axis) {
    const std::optional<Shape> shape = ShapeOf(op->getOperand(0).getType());
    if (!shape) return;
    int64_t times = 1;
    for (Operation* at = op; (at = at->getParentOfType<mlir::LoopLikeOpInterface>());) times *= kIterations;
    votes_[*shape] += axis == 1 ? times : -times;
  }

  llvm::DenseMap<Shape, int64_t> votes_;
  llvm::DenseSet<Shape> elsewhere_;
};

// Changes the types of a module in place. Tensors that have an encoding keep it.
class Retyper final {
 public:
  Retyper(mlir::ModuleOp module, unsigned num_warps, unsigned threads_per_warp)
      : rows_(module), num_warps_(num_warps), threads_per_warp_(threads_per_warp) {}

  LogicalResult Retype(Operation* op) {
    for (Value result : op->getResults())
      if (failed(Retype(result, op))) return mlir::failure();
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& block : region)
        for (Value argument : block.getArguments())
          if (failed(Retype(argument, op))) return mlir::failure();
    if (auto func = llvm::dyn_cast<tt::FuncOp>(op)) {
      mlir::FunctionType type = func.getFunctionType();
      func.setType(mlir::FunctionType::get(op->getContext(), Encoded(type.getInputs()), Encoded(type.getResults())));
    }
    if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(op)) return RetypeConstant(constant);
    return mlir::success();
  }

 private:
  LogicalResult Retype(Value value, Operation* op) {
    if (IsBlockPointer(value.getType()))
      return op->emitError("block pointers have no encoding; tt-rewrite-tensor-pointer replaces them");
    value.setType(Encoded(value.getType()));
    return mlir::success();
  }

  LogicalResult RetypeConstant(mlir::arith::ConstantOp constant) {
    auto type = llvm::dyn_cast<RankedTensorType>(constant.getType());
    if (!type || constant.getValue().getType() == type) return mlir::success();
    auto elements = llvm::dyn_cast<mlir::DenseElementsAttr>(constant.getValue());
    if (!elements) return constant.emitError("tensor constant has no dense elements");
    constant.setValueAttr(elements.reshape(type));
    return mlir::success();
  }

  llvm::SmallVector<Type> Encoded(llvm::ArrayRef<Type> types) {
    return llvm::map_to_vector(types, [&](Type type) { return Encoded(type); });
  }

  Type Encoded(Type type) {
    auto tensor = llvm::dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getEncoding()) return type;
    RankedTensorType& encoded = encoded_[tensor];
    if (!encoded) {
      llvm::SmallVector<unsigned> ones(tensor.getRank(), 1), order;
      for (unsigned dim = tensor.getRank(); dim-- > 0;) order.push_back(dim);
      encoded = WithEncoding(tensor, ttg::BlockedEncodingAttr::ForShape(type.getContext(), tensor.getShape(), ones,
                                                                        order, num_warps_, threads_per_warp_));
      if (rows_.Holds(tensor)) encoded = WithEncoding(tensor, ByRows(encoded));
    }
    return encoded;
  }

  // The same with warps over rows first.
  Attribute ByRows(RankedTensorType type) const {
    auto blocked = llvm::cast<ttg::BlockedEncodingAttr>(type.getEncoding());
    const unsigned lanes = blocked.getThreadsPerWarp()[0];
    const unsigned over_rows = std::clamp<int64_t>(type.getDimSize(0) / lanes, 1, num_warps_);
    const llvm::SmallVector<unsigned> warps = {over_rows, num_warps_ / over_rows};
    return ttg::BlockedEncodingAttr::get(type.getContext(), blocked.getSizePerThread(), blocked.getThreadsPerWarp(),
                                         warps, blocked.getOrder());
  }

  const RowsOfWarps rows_;
  unsigned num_warps_, threads_per_warp_;
  llvm::DenseMap<RankedTensorType, RankedTensorType> encoded_;
};

void ConvertOperand(mlir::OpOperand& operand, Attribute encoding) {
  RankedTensorType type = TensorType(operand.get());
  if (type.getEncoding() == encoding) return;
  Operation* user = operand.getOwner();
  mlir::OpBuilder builder(user);
  operand.set(ttg::ConvertLayoutOp::create(builder, user->getLoc(), WithEncoding(type, encoding), operand.get()));
}

// Gives `result` another encoding and its users the old one.
void ConvertResult(mlir::OpResult result, Attribute encoding) {
  RankedTensorType type = TensorType(result);
  if (type.getEncoding() == encoding) return;
  Operation* op = result.getOwner();
  mlir::OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  result.setType(WithEncoding(type, encoding));
  auto convert = ttg::ConvertLayoutOp::create(builder, op->getLoc(), type, result);
  result.replaceAllUsesExcept(convert, convert);
}

LogicalResult TieCat(tt::CatOp cat) {
  RankedTensorType half = TensorType(cat.getLhs()), whole = TensorType(cat);
  for (int64_t dim = 0; dim < half.getRank() && whole.getRank() == half.getRank(); ++dim) {
    llvm::SmallVector<int64_t> doubled(half.getShape());
    doubled[dim] *= 2;
    if (whole.getShape() != llvm::ArrayRef(doubled)) continue;
    LinearLayout layout =
        ttg::ToLinearLayout(half) * LinearLayout::Identity1D(2, "register", ttg::DimNames(dim + 1).back());
    ConvertResult(cat->getResult(0), ttg::LinearEncodingAttr::get(cat.getContext(), layout));
    return mlir::success();
  }
  return cat.emitOpError() << "concatenates " << half << " to " << whole << "; one dimension must double";
}

LogicalResult TieResults(Operation* op) {
  Attribute encoding = ttg::ResultEncodingFor(op, TensorType(op->getOperand(0)).getEncoding());
  for (mlir::OpResult result : op->getResults()) {
    if (!llvm::isa<RankedTensorType>(result.getType())) continue;  // a reduction to a scalar
    if (!encoding) return op->emitOpError("has an operand encoding that yields no result encoding");
    ConvertResult(result, encoding);
  }
  return mlir::success();
}

// Restores the ties between the encodings of an operation's operands and results.
LogicalResult Tie(Operation* op) {
  return llvm::TypeSwitch<Operation*, LogicalResult>(op)
      .Case<tt::ReduceOp, tt::TransOp, tt::ReshapeOp, tt::JoinOp, ttg::Fp4ToFpOp>(
          [](Operation* tied) { return TieResults(tied); })
      .Case<tt::BroadcastOp, tt::ExpandDimsOp, tt::SplitOp>([](Operation* tied) {
        ConvertOperand(tied->getOpOperand(0),
                       ttg::OperandEncodingFor(tied, TensorType(tied->getResult(0)).getEncoding()));
        return mlir::success();
      })
      .Case([](tt::CatOp cat) { return TieCat(cat); })
      .Case([](tt::DotOp dot) {
        auto parent = llvm::cast<ttg::DistributedEncoding>(TensorType(dot.getC()).getEncoding());
        for (unsigned side : {0, 1})
          if (!llvm::isa<ttg::DotOperandEncodingAttr>(TensorType(dot->getOperand(side)).getEncoding()))
            ConvertOperand(dot->getOpOperand(side),
                           ttg::DotOperandEncodingAttr::get(dot.getContext(), side, parent, /*kWidth=*/0));
        return mlir::success();
      })
      .Default([](Operation*) { return mlir::success(); });
}

struct ConvertToTtgPass final : impl::ConvertToTtgPassBase<ConvertToTtgPass> {
  using ConvertToTtgPassBase::ConvertToTtgPassBase;

  void runOnOperation() override {
    if (failed(CheckLaunch()) || failed(Convert())) signalPassFailure();
  }

 private:
  LogicalResult CheckLaunch() {
    if (num_ctas < 1 || num_ctas > 16 || !llvm::isPowerOf2_32(num_ctas))
      return getOperation().emitError() << "num_ctas = " << num_ctas.getValue() << " is no power of two from 1 to 16";
    if (num_warps < 1 || num_warps > 32 || !llvm::isPowerOf2_32(num_warps))
      return getOperation().emitError() << "num_warps = " << num_warps.getValue() << " is no power of two from 1 to 32";
    if (threads_per_warp < 1 || threads_per_warp > 128 || !llvm::isPowerOf2_32(threads_per_warp))
      return getOperation().emitError() << "threads_per_warp = " << threads_per_warp.getValue()
                                        << " is no power of two from 1 to 128";
    return mlir::success();
  }

  LogicalResult Convert() {
    mlir::ModuleOp module = getOperation();
    mlir::Builder builder(&getContext());
    module->setAttr(ttg::kNumWarpsAttr, builder.getI32IntegerAttr(num_warps));
    module->setAttr(ttg::kNumCtasAttr, builder.getI32IntegerAttr(num_ctas));
    module->setAttr(ttg::kThreadsPerWarpAttr, builder.getI32IntegerAttr(threads_per_warp));
    module->setAttr(ttg::kTargetAttr, builder.getStringAttr(target));
    Retyper retyper(module, num_warps, threads_per_warp);
    auto walk = module.walk([&](Operation* op) { return mlir::WalkResult(retyper.Retype(op)); });
    if (walk.wasInterrupted()) return mlir::failure();
    llvm::SmallVector<Operation*> ops;
    module.walk([&](Operation* op) { ops.push_back(op); });
    for (Operation* op : ops)
      if (failed(Tie(op))) return mlir::failure();
    return mlir::success();
  }
};

}  // namespace
}  // namespace tritond::compiler
