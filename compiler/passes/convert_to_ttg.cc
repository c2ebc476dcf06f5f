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
#include <limits>

#include "compiler/analysis/gather_plan.h"
#include "compiler/encoding/conversion_cost.h"
#include "compiler/encoding/exchange_cost.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/operands.h"
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

// Encodings by shape alone.
class DefaultEncodings final {
 public:
  DefaultEncodings(unsigned num_warps, unsigned threads_per_warp)
      : num_warps_(num_warps), threads_per_warp_(threads_per_warp) {}

  ttg::BlockedEncodingAttr Of(RankedTensorType type) const {
    llvm::SmallVector<unsigned> ones(type.getRank(), 1), order;
    for (unsigned dim = type.getRank(); dim-- > 0;) order.push_back(dim);
    return ttg::BlockedEncodingAttr::ForShape(type.getContext(), type.getShape(), ones, order, num_warps_,
                                              threads_per_warp_);
  }

  // The same of a matrix, with warps over rows first.
  ttg::BlockedEncodingAttr ByRows(RankedTensorType type) const {
    const ttg::BlockedEncodingAttr blocked = Of(type);
    const unsigned lanes = blocked.getThreadsPerWarp()[0];
    const unsigned over_rows = std::clamp<int64_t>(type.getDimSize(0) / lanes, 1, num_warps_);
    const llvm::SmallVector<unsigned> warps = {over_rows, num_warps_ / over_rows};
    return ttg::BlockedEncodingAttr::get(type.getContext(), blocked.getSizePerThread(), blocked.getThreadsPerWarp(),
                                         warps, blocked.getOrder());
  }

 private:
  unsigned num_warps_, threads_per_warp_;
};

// Which matrices warps should hold whole rows of. Memory and dots say how threads hold most matrices. Others are made
// of rows and columns, and reduced, scanned or gathered again. The cost model compares what that takes, and what it
// takes to bring rows and columns that are loaded to their threads, and results to where they are stored. A loop adds
// up results in each thread, which then keeps one for each row of the matrix that it has. Where these are too many,
// warps share the rows, though each of them then needs all columns.
class RowsOfWarps final {
 public:
  RowsOfWarps(mlir::ModuleOp module, const DefaultEncodings& defaults) : defaults_(defaults) {
    module.walk([&](Operation* op) {
      llvm::TypeSwitch<Operation*>(op)
          .Case<tt::ReduceOp, tt::ScanOp, tt::GatherOp>([&](auto) { Add(op, op->getOperand(0).getType()); })
          .Case([&](tt::BroadcastOp broadcast) {
            auto expand = broadcast.getSrc().getDefiningOp<tt::ExpandDimsOp>();
            if (expand && SourceOf(expand.getSrc()).getDefiningOp<tt::LoadOp>()) Add(op, broadcast.getType());
          })
          .Case<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp, tt::DotOp, tt::DotScaledOp>([&](auto) {
            for (Value operand : op->getOperands())
              if (std::optional<Shape> shape = ShapeOf(operand.getType())) elsewhere_.insert(*shape);
          });
    });
  }

  bool Holds(RankedTensorType type) {
    const std::optional<Shape> shape = ShapeOf(type);
    if (!shape || elsewhere_.contains(*shape)) return false;
    auto [entry, is_new] = holds_.try_emplace(*shape, false);
    if (!is_new) return entry->second;
    double by_default = 0, by_rows = 0, kept = 0;
    for (Operation* op : uses_.lookup(*shape)) {
      double times = 1, most = std::numeric_limits<double>::infinity();
      if (op->getParentOfType<mlir::LoopLikeOpInterface>()) {
        times = kIterations;
        if (llvm::isa<tt::ReduceOp>(op)) most = kTrip;
        kept += ResultsOf(op, defaults_.Of(type));
      }
      by_default += times * std::min(most, Cost(op, defaults_.Of(type)));
      by_rows += times * std::min(most, Cost(op, defaults_.ByRows(type)));
    }
    return entry->second = by_rows < by_default || (kept > kMostKept && by_rows < kMostTimes * by_default);
  }

 private:
  using Shape = std::pair<int64_t, int64_t>;
  static constexpr double kIterations = 8;  // of a loop, as a guess
  // What a reduction in a loop takes at most: it goes to the end of the loop, or its axis to registers.
  static constexpr double kTrip = 2 * kBarrier;
  // Words of a thread for results of a loop's reductions, which it adds up for all iterations.
  static constexpr double kMostKept = 96;
  // As often as by default, for warps to be given what they keep fewer words for.
  static constexpr double kMostTimes = 2;

  static std::optional<Shape> ShapeOf(Type type) {
    auto tensor = llvm::dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() != 2) return std::nullopt;
    return Shape(tensor.getDimSize(0), tensor.getDimSize(1));
  }

  void Add(Operation* op, Type type) {
    if (std::optional<Shape> shape = ShapeOf(type)) uses_[*shape].push_back(op);
  }

  // Of a reduction, that a thread has if the matrix has `encoding`.
  static double ResultsOf(Operation* op, ttg::BlockedEncodingAttr encoding) {
    auto reduce = llvm::dyn_cast<tt::ReduceOp>(op);
    if (!reduce) return 0;
    const auto slice = ttg::SliceEncodingAttr::get(op->getContext(), reduce.getAxis(), encoding);
    auto type = llvm::cast<RankedTensorType>(reduce.getResult()[0].getType());
    const int registers = ttg::ToLinearLayout(WithEncoding(type, slice)).InSize("register");
    return static_cast<double>(registers) * reduce.getNumResults();
  }

  double Cost(Operation* op, ttg::BlockedEncodingAttr encoding) {
    auto layout_of = [&](Type type) {
      return ttg::ToLinearLayout(WithEncoding(llvm::cast<RankedTensorType>(type), encoding));
    };
    return llvm::TypeSwitch<Operation*, double>(op)
        .Case([&](tt::ReduceOp reduce) {
          const auto slice = ttg::SliceEncodingAttr::get(op->getContext(), reduce.getAxis(), encoding);
          double cost = ReductionCost(reduce, layout_of(reduce.InputType()));
          for (Value result : reduce.getResult()) {
            auto type = llvm::cast<RankedTensorType>(result.getType());
            cost += costs_.Conversion(WithEncoding(type, slice), defaults_.Of(type));
          }
          return cost;
        })
        .Case([&](tt::ScanOp scan) { return ScanCost(scan, layout_of(scan.getSrcs()[0].getType())); })
        .Case([&](tt::GatherOp gather) {
          return PlanGather(gather, layout_of(gather.getSrc().getType()), layout_of(gather.getType())).slots;
        })
        .Case([&](tt::BroadcastOp broadcast) {
          auto expand = broadcast.getSrc().getDefiningOp<tt::ExpandDimsOp>();
          auto type = llvm::cast<RankedTensorType>(expand.getSrc().getType());
          const auto slice = ttg::SliceEncodingAttr::get(op->getContext(), expand.getAxis(), encoding);
          return costs_.Conversion(WithEncoding(type, defaults_.Of(type)), slice);
        });
  }

  const DefaultEncodings defaults_;
  CostModel costs_;
  llvm::DenseMap<Shape, llvm::SmallVector<Operation*>> uses_;
  llvm::DenseSet<Shape> elsewhere_;
  llvm::DenseMap<Shape, bool> holds_;
};

// Changes the types of a module in place. Tensors that have an encoding keep it.
class Retyper final {
 public:
  Retyper(mlir::ModuleOp module, const DefaultEncodings& defaults) : defaults_(defaults), rows_(module, defaults) {
    // While no tensor has an encoding.
    module.walk([&](Operation* op) {
      for (Type type : op->getResultTypes())
        if (auto tensor = llvm::dyn_cast<RankedTensorType>(type); tensor && !tensor.getEncoding()) rows_.Holds(tensor);
    });
  }

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
    if (!encoded) encoded = WithEncoding(tensor, rows_.Holds(tensor) ? defaults_.ByRows(tensor) : defaults_.Of(tensor));
    return encoded;
  }

  const DefaultEncodings defaults_;
  RowsOfWarps rows_;
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
    Retyper retyper(module, DefaultEncodings(num_warps, threads_per_warp));
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
