// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/tied_dimensions.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::ValueRange;

int RankOf(Value value) { return static_cast<int>(BlockShapeOf(value.getType()).size()); }
int64_t SizeOf(Value value, int dimension) { return BlockShapeOf(value.getType())[dimension]; }

// What works on each element by itself: all that it reads and gives has the same shape, or is a scalar.
bool IsElementwise(Operation* op) {
  return op->hasTrait<mlir::OpTrait::Elementwise>() ||
         llvm::isa<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp, tt::AddPtrOp, tt::BitcastOp,
                   tt::IntToPtrOp, tt::PtrToIntOp, tt::FpToFpOp, tt::ClampFOp, tt::PreciseSqrtOp, tt::PreciseDivFOp,
                   tt::MulhiUIOp, tt::ExternElementwiseOp, tt::ElementwiseInlineAsmOp, tt::AdvanceOp, tt::AssertOp>(op);
}

bool IsCopiesOfOne(Value value) {
  mlir::DenseElementsAttr constant;
  return mlir::matchPattern(value, mlir::m_Constant(&constant)) && constant.isSplat();
}

}  // namespace

llvm::ArrayRef<int64_t> BlockShapeOf(mlir::Type type) {
  if (auto pointer = llvm::dyn_cast<tt::PtrType>(type)) type = pointer.getPointeeType();
  if (auto descriptor = llvm::dyn_cast<tt::TensorDescType>(type)) type = descriptor.getBlockType();
  auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getShape() : llvm::ArrayRef<int64_t>();
}

mlir::Type WithBlockShape(mlir::Type type, llvm::ArrayRef<int64_t> shape) {
  if (auto pointer = llvm::dyn_cast<tt::PtrType>(type))
    return tt::PtrType::get(type.getContext(), WithBlockShape(pointer.getPointeeType(), shape),
                            pointer.getAddressSpace());
  if (auto descriptor = llvm::dyn_cast<tt::TensorDescType>(type))
    return tt::TensorDescType::get(type.getContext(), descriptor.getBlockType().clone(shape));
  return llvm::cast<RankedTensorType>(type).clone(shape);
}

Value BlockAccessedBy(Operation* op) {
  return llvm::TypeSwitch<Operation*, Value>(op)
      .Case<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>([](auto access) { return access.getPtr(); })
      .Case<tt::DescriptorLoadOp, tt::DescriptorGatherOp>([](auto load) { return load.getResult(); })
      .Case<tt::DescriptorStoreOp, tt::DescriptorReduceOp, tt::DescriptorScatterOp>(
          [](auto store) { return store.getSrc(); })
      .Default(Value());
}

bool IsGenerated(Value value) {
  Operation* op = value.getDefiningOp();
  if (llvm::isa_and_present<tt::SplatOp, tt::MakeRangeOp>(op) || IsCopiesOfOne(value)) return true;
  return llvm::isa_and_present<tt::ExpandDimsOp, tt::BroadcastOp>(op) && IsGenerated(op->getOperand(0));
}

TiedDimensions::TiedDimensions(tt::FuncOp function) : classes_(0) {
  function.walk([&](Operation* op) {
    for (Value result : op->getResults())
      for (int i = 0; i < RankOf(result); ++i) NodeOf(result, i);
    if (op != function) TieOp(op);
  });
  classes_.compress();
  is_whole_.resize(classes_.getNumClasses());
  groups_.resize(classes_.getNumClasses());
  for (unsigned node : whole_) is_whole_[classes_[node]] = true;
  for (const auto& [member, node] : nodes_) groups_[classes_[node]].push_back(member);
}

unsigned TiedDimensions::NodeOf(Value value, int dimension) {
  auto [it, is_new] = nodes_.insert({{value, dimension}, static_cast<unsigned>(nodes_.size())});
  if (is_new) classes_.grow(nodes_.size());
  return it->second;
}

void TiedDimensions::Tie(Value a, int of_a, Value b, int of_b) { classes_.join(NodeOf(a, of_a), NodeOf(b, of_b)); }

void TiedDimensions::KeepWhole(Value value, int dimension) { whole_.push_back(NodeOf(value, dimension)); }

void TiedDimensions::KeepWhole(Value value) {
  for (int i = 0; i < RankOf(value); ++i) KeepWhole(value, i);
}

void TiedDimensions::TieAll(llvm::ArrayRef<Value> values) {
  Value first;
  for (Value value : values) {
    if (RankOf(value) == 0) continue;
    if (!first) first = value;
    for (int i = 0; i < RankOf(value); ++i) Tie(first, i, value, i);
  }
}

void TiedDimensions::TieAll(ValueRange a, ValueRange b) {
  for (auto [x, y] : llvm::zip_equal(a, b)) TieAll({x, y});
}

void TiedDimensions::TieOp(Operation* op) {
  if (op->hasTrait<mlir::OpTrait::ConstantLike>()) {
    if (!IsCopiesOfOne(op->getResult(0))) KeepWhole(op->getResult(0));
    return;
  }
  if (llvm::isa<tt::SplatOp, tt::MakeRangeOp, tt::MakeTensorDescOp, tt::MakeTensorPtrOp>(op)) return;
  if (TieShapes(op) || TieBlocks(op) || TieControlFlow(op)) return;
  if (IsElementwise(op)) {
    llvm::SmallVector<Value> values(op->getOperands());
    llvm::append_range(values, op->getResults());
    return TieAll(values);
  }
  for (Value operand : op->getOperands()) KeepWhole(operand);
  for (Value result : op->getResults()) KeepWhole(result);
}

bool TiedDimensions::TieShapes(Operation* op) {
  const auto reduce = [&](auto reduction, bool keeps_axis) {
    const int axis = reduction.getAxis();
    TieAll(llvm::SmallVector<Value>(reduction.getSrcs()));
    const Value source = reduction.getSrcs()[0];
    KeepWhole(source, axis);
    for (Value result : reduction.getResult()) {
      for (int i = 0; i < RankOf(source); ++i) {
        if (i == axis && !keeps_axis) continue;
        Tie(source, i, result, keeps_axis || i < axis ? i : i - 1);
      }
    }
  };
  return llvm::TypeSwitch<Operation*, bool>(op)
      .Case([&](tt::ExpandDimsOp expand) {
        const int axis = expand.getAxis();
        for (int i = 0; i < RankOf(expand.getSrc()); ++i)
          Tie(expand.getSrc(), i, expand.getResult(), i < axis ? i : i + 1);
        return true;
      })
      .Case([&](tt::BroadcastOp broadcast) {
        for (int i = 0; i < RankOf(broadcast.getSrc()); ++i)
          if (SizeOf(broadcast.getSrc(), i) == SizeOf(broadcast.getResult(), i))
            Tie(broadcast.getSrc(), i, broadcast.getResult(), i);
        return true;
      })
      .Case([&](tt::TransOp trans) {
        for (auto [to, from] : llvm::enumerate(trans.getOrder()))
          Tie(trans.getSrc(), from, trans.getResult(), static_cast<int>(to));
        return true;
      })
      .Case([&](tt::JoinOp join) {
        TieAll({join.getLhs(), join.getRhs()});
        for (int i = 0; i < RankOf(join.getLhs()); ++i) Tie(join.getLhs(), i, join.getResult(), i);
        KeepWhole(join.getResult(), RankOf(join.getLhs()));
        return true;
      })
      .Case([&](tt::SplitOp split) {
        TieAll({split.getOutLHS(), split.getOutRHS()});
        for (int i = 0; i < RankOf(split.getOutLHS()); ++i) Tie(split.getSrc(), i, split.getOutLHS(), i);
        KeepWhole(split.getSrc(), RankOf(split.getOutLHS()));
        return true;
      })
      .Case([&](tt::GatherOp gather) {
        const int axis = gather.getAxis();
        TieAll({gather.getIndices(), gather.getResult()});
        for (int i = 0; i < RankOf(gather.getSrc()); ++i)
          if (i != axis) Tie(gather.getSrc(), i, gather.getResult(), i);
        KeepWhole(gather.getSrc(), axis);
        return true;
      })
      .Case([&](tt::ReshapeOp reshape) {
        TieReshape(reshape);
        return true;
      })
      .Case([&](tt::ReduceOp reduction) {
        reduce(reduction, /*keeps_axis=*/false);
        return true;
      })
      .Case([&](tt::ScanOp scan) {
        reduce(scan, /*keeps_axis=*/true);
        return true;
      })
      .Case([&](tt::DotOp dot) {
        TieProduct(dot.getA(), dot.getB(), dot.getC(), dot.getD());
        return true;
      })
      .Case([&](tt::DotScaledOp dot) {
        TieProduct(dot.getA(), dot.getB(), dot.getC(), dot.getD());
        if (dot.getAScale()) {
          Tie(dot.getAScale(), 0, dot.getD(), 0);
          KeepWhole(dot.getAScale(), 1);
        }
        if (dot.getBScale()) {
          Tie(dot.getBScale(), 0, dot.getD(), 1);
          KeepWhole(dot.getBScale(), 1);
        }
        return true;
      })
      .Default(false);
}

void TiedDimensions::TieProduct(Value a, Value b, Value c, Value d) {
  const int rank = RankOf(d);
  TieAll({c, d});
  for (int i = 0; i < rank - 2; ++i) {
    Tie(a, i, d, i);
    Tie(b, i, d, i);
  }
  Tie(a, rank - 2, d, rank - 2);
  Tie(b, rank - 1, d, rank - 1);
  KeepWhole(a, rank - 1);
  KeepWhole(b, rank - 2);
}

// Dimensions whose products of sizes are the same, from the last one on, hold the same elements in the same order. So
// the first dimensions of both, which count slowest, can be divided alike.
void TiedDimensions::TieReshape(tt::ReshapeOp op) {
  const Value from = op.getSrc(), to = op.getResult();
  if (op.getAllowReorder()) {
    KeepWhole(from);
    return KeepWhole(to);
  }
  int i = RankOf(from), j = RankOf(to);
  while (i > 0 || j > 0) {
    const int end_i = i, end_j = j;
    int64_t size_i = i > 0 ? SizeOf(from, --i) : 1;
    int64_t size_j = j > 0 ? SizeOf(to, --j) : 1;
    while (size_i != size_j) size_i < size_j ? size_i *= SizeOf(from, --i) : size_j *= SizeOf(to, --j);
    const auto first = [](Value value, int begin, int end) {
      while (begin < end && SizeOf(value, begin) == 1) ++begin;
      return begin;
    };
    const int first_i = first(from, i, end_i), first_j = first(to, j, end_j);
    for (int k = i; k < end_i; ++k)
      if (k != first_i) KeepWhole(from, k);
    for (int k = j; k < end_j; ++k)
      if (k != first_j) KeepWhole(to, k);
    if (first_i < end_i && first_j < end_j) Tie(from, first_i, to, first_j);
  }
}

bool TiedDimensions::TieBlocks(Operation* op) {
  const auto rows = [&](Value descriptor, Value offsets, Value block) {
    Tie(offsets, 0, block, 0);
    Tie(descriptor, 1, block, 1);
    KeepWhole(descriptor, 0);
    return true;
  };
  const auto block = [&](Value descriptor, Value block) {
    if (RankOf(descriptor) == RankOf(block) && BlockShapeOf(descriptor.getType()) == BlockShapeOf(block.getType())) {
      TieAll({descriptor, block});
    } else {
      KeepWhole(descriptor);
      KeepWhole(block);
    }
    return true;
  };
  return llvm::TypeSwitch<Operation*, bool>(op)
      .Case([&](tt::DescriptorLoadOp load) { return block(load.getDesc(), load.getResult()); })
      .Case<tt::DescriptorStoreOp, tt::DescriptorReduceOp>(
          [&](auto store) { return block(store.getDesc(), store.getSrc()); })
      .Case([&](tt::DescriptorGatherOp gather) {
        return rows(gather.getDesc(), gather.getXOffsets(), gather.getResult());
      })
      .Case([&](tt::DescriptorScatterOp scatter) {
        return rows(scatter.getDesc(), scatter.getXOffsets(), scatter.getSrc());
      })
      .Default(false);
}

bool TiedDimensions::TieControlFlow(Operation* op) {
  return llvm::TypeSwitch<Operation*, bool>(op)
      .Case([&](mlir::scf::ForOp loop) {
        TieAll(loop.getInitArgs(), loop.getRegionIterArgs());
        TieAll(loop.getInitArgs(), loop.getYieldedValues());
        TieAll(loop.getInitArgs(), loop.getResults());
        return true;
      })
      .Case([&](mlir::scf::WhileOp loop) {
        TieAll(loop.getInits(), loop.getBeforeArguments());
        TieAll(loop.getInits(), loop.getYieldOp()->getOperands());
        TieAll(loop.getConditionOp().getArgs(), loop.getAfterArguments());
        TieAll(loop.getConditionOp().getArgs(), loop.getResults());
        return true;
      })
      .Case([&](mlir::scf::IfOp branch) {
        if (branch.getNumResults() == 0) return true;
        TieAll(branch.thenYield().getResults(), branch.getResults());
        TieAll(branch.elseYield().getResults(), branch.getResults());
        return true;
      })
      // Their operands are their parents'.
      .Case<mlir::scf::YieldOp, mlir::scf::ConditionOp, tt::ReturnOp>([](auto) { return true; })
      .Default(false);
}

}  // namespace tritond::compiler
