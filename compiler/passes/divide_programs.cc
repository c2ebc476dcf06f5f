// SPDX-License-Identifier: Apache-2.0
// Gives each block of a cluster a part of its program. With two blocks,
//
//   %i = tt.make_range 0 to 128              %b = tt.block_in_cluster
//   %p = tt.addptr (tt.splat %x), %i    ->   %i = (tt.make_range 0 to 64) + splat (%b * 64)
//   tt.store %p, %y : 128 pointers           %p = tt.addptr (tt.splat %x), %i
//                                            tt.store %p, %y : 64 pointers
//
// So with rows or columns of products, and all that is tied to them (analysis/tied_dimensions.h). What is not tied to
// them each block computes for itself; the first one stores it. Where a block may read what another one has written, or
// the other way round, all meet before (analysis/cluster_order.h).
//
// A kernel whose tensors nobody can divide stays as it is: its first block computes it.
#include <numeric>

#include "compiler/analysis/cluster_order.h"
#include "compiler/analysis/tied_dimensions.h"
#include "compiler/ir/encodings.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_DIVIDEPROGRAMSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
using llvm::SmallVector;
using mlir::Operation;
using mlir::Value;
using Member = TiedDimensions::Member;

constexpr int64_t kLeastRows = 16;   // of a dot, in a block
constexpr double kLeastShare = 0.5;  // of the work, for blocks to compute the rest once each

double Elements(llvm::ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<>());
}

bool IsDot(Operation* op) { return llvm::isa<tt::DotOp, tt::DotScaledOp>(op); }

bool Writes(Operation* op) {
  return BlockAccessedBy(op) && !llvm::isa<tt::LoadOp, tt::DescriptorLoadOp, tt::DescriptorGatherOp>(op);
}

// Whether each block may execute `op`, on its part or on all of it, or the first one alone.
bool MayBeDivided(Operation* op) {
  if (auto load = llvm::dyn_cast<tt::LoadOp>(op)) return !load.getIsVolatile();
  if (BlockAccessedBy(op) || mlir::isMemoryEffectFree(op)) return true;
  return llvm::isa<tt::FuncOp, tt::AssertOp, tt::GridDependencyWaitOp, tt::GridDependencyLaunchDependentsOp>(op) ||
         (op->hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>() && op->getDialect()->getNamespace() == "scf");
}

// A part for each block, along one group of dimensions.
class Division final {
 public:
  Division(tt::FuncOp function, const std::vector<Member>& group, int blocks) : function_(function), blocks_(blocks) {
    for (const auto& [value, dimension] : group) is_twice_ |= !dimension_.try_emplace(value, dimension).second;
  }

  // Whether all members can be divided, and nothing that one block does alone gives results to the others.
  bool IsPossible();
  // The share of the kernel's work that blocks have in common: of products, else of memory.
  double Share();
  // Of two dimensions of a product, the longer one leaves less to load. If both are as long, columns are divided:
  // matrix units take more rows at once. This grows with what is preferred.
  int64_t Preference();
  // `meetings`: accesses before which the blocks meet.
  void Make(llvm::ArrayRef<Operation*> meetings);

  bool Divides(Value value) const { return value && dimension_.contains(value); }

 private:
  bool HasEnough(Value value, int64_t least) const;
  // Adds to `offset` along `dimension` of `block` where this one's part begins.
  void Move(mlir::OpOperand& offset, Value block, int dimension);
  void Move(mlir::MutableOperandRange offsets, Value block);
  void MoveRange(tt::MakeRangeOp range);
  void DivideHints(Operation* op);
  void DivideOp(Operation* op);
  void LeaveToFirstBlock(Operation* op);

  tt::FuncOp function_;
  const int blocks_;
  bool is_twice_ = false;
  llvm::MapVector<Value, int> dimension_;
  Value rank_;  // of the block
};

bool Division::HasEnough(Value value, int64_t least) const {
  auto it = dimension_.find(value);
  return it == dimension_.end() || BlockShapeOf(value.getType())[it->second] / blocks_ >= least;
}

bool Division::IsPossible() {
  if (is_twice_) return false;
  for (const auto& [value, dimension] : dimension_)
    if (BlockShapeOf(value.getType())[dimension] % blocks_ != 0) return false;
  return !function_
              .walk([&](Operation* op) {
                if (IsDot(op) && !llvm::all_of(op->getOperands(), [&](Value v) { return HasEnough(v, kLeastRows); }))
                  return mlir::WalkResult::interrupt();
                const bool gives_result = Writes(op) && op->getNumResults() > 0 && !op->use_empty();
                return mlir::WalkResult(mlir::failure(gives_result && !Divides(BlockAccessedBy(op))));
              })
              .wasInterrupted();
}

double Division::Share() {
  double dots[2] = {0, 0}, accesses[2] = {0, 0};
  function_.walk([&](Operation* op) {
    if (IsDot(op)) {
      const auto a = BlockShapeOf(op->getOperand(0).getType());
      dots[Divides(op->getResult(0))] +=
          Elements(BlockShapeOf(op->getResult(0).getType())) * static_cast<double>(a.back());
    } else if (Value block = BlockAccessedBy(op)) {
      accesses[Divides(block)] += Elements(BlockShapeOf(block.getType()));
    }
  });
  const double* work = dots[0] + dots[1] > 0 ? dots : accesses;
  return work[1] == 0 ? 0 : work[1] / (work[0] + work[1]);
}

int64_t Division::Preference() {
  int64_t preference = 0;
  function_.walk([&](Operation* op) {
    Value value = IsDot(op) ? op->getResult(0) : BlockAccessedBy(op);
    if (!Divides(value)) return;
    const auto shape = BlockShapeOf(value.getType());
    const int dimension = dimension_.find(value)->second;
    const bool is_last = dimension + 1 == static_cast<int>(shape.size());
    preference = std::max(preference, 2 * shape[dimension] + (is_last ? 1 : 0));
  });
  return preference;
}

void Division::Move(mlir::OpOperand& offset, Value block, int dimension) {
  if (!Divides(block) || dimension_.find(block)->second != dimension) return;
  Operation* op = offset.getOwner();
  mlir::OpBuilder b(op);
  Value size = arith::ConstantIntOp::create(b, op->getLoc(), BlockShapeOf(block.getType())[dimension], 32);
  Value part = arith::MulIOp::create(b, op->getLoc(), rank_, size);
  offset.set(arith::AddIOp::create(b, op->getLoc(), offset.get(), part));
}

void Division::Move(mlir::MutableOperandRange offsets, Value block) {
  for (unsigned i = 0; i < offsets.size(); ++i) Move(offsets[i], block, static_cast<int>(i));
}

void Division::MoveRange(tt::MakeRangeOp range) {
  auto type = llvm::cast<mlir::RankedTensorType>(range.getType());
  range.setEnd(range.getStart() + type.getNumElements());
  mlir::OpBuilder b(range->getContext());
  b.setInsertionPointAfter(range);
  Value size = arith::ConstantIntOp::create(b, range.getLoc(), type.getNumElements(), 32);
  Value part = arith::MulIOp::create(b, range.getLoc(), rank_, size);
  Value parts = tt::SplatOp::create(b, range.getLoc(), type, part);
  Value moved = arith::AddIOp::create(b, range.getLoc(), range, parts);
  range.getResult().replaceAllUsesExcept(moved, moved.getDefiningOp());
}

// What a hint says of more neighbours than a part has, it says of those of the part.
void Division::DivideHints(Operation* op) {
  const Value result = op->getResult(0);
  const int dimension = dimension_.find(result)->second;
  const int64_t part = BlockShapeOf(result.getType())[dimension];
  auto runs = op->getAttrOfType<mlir::DenseIntElementsAttr>("tt.contiguity");
  for (llvm::StringRef name : {"tt.contiguity", "tt.constancy", "tt.divisibility"}) {
    auto hint = op->getAttrOfType<mlir::DenseIntElementsAttr>(name);
    if (!hint || hint.getNumElements() <= dimension) continue;
    SmallVector<int32_t> numbers;
    for (llvm::APInt number : hint.getValues<llvm::APInt>())
      numbers.push_back(static_cast<int32_t>(number.getSExtValue()));
    int32_t& number = numbers[dimension];
    const bool is_cut = runs && runs.getValues<llvm::APInt>()[dimension].getSExtValue() > part;
    if (name != "tt.divisibility")
      number = static_cast<int32_t>(std::min<int64_t>(number, part));
    else if (is_cut)
      number = static_cast<int32_t>(std::gcd<int64_t>(number, part));
    op->setAttr(name, mlir::DenseIntElementsAttr::get(hint.getType(), llvm::ArrayRef<int32_t>(numbers)));
  }
}

void Division::DivideOp(Operation* op) {
  if (op->getNumResults() == 1 && Divides(op->getResult(0))) DivideHints(op);
  llvm::TypeSwitch<Operation*>(op)
      .Case([&](tt::MakeRangeOp range) {
        if (Divides(range)) MoveRange(range);
      })
      .Case([&](arith::ConstantOp constant) {
        if (!Divides(constant)) return;
        auto value = llvm::cast<mlir::DenseElementsAttr>(constant.getValue());
        constant.setValueAttr(value.resizeSplat(llvm::cast<mlir::ShapedType>(constant.getType())));
      })
      .Case([&](tt::MakeTensorPtrOp pointer) { Move(pointer.getOffsetsMutable(), pointer); })
      .Case([&](tt::DescriptorLoadOp load) { Move(load.getIndicesMutable(), load); })
      .Case<tt::DescriptorStoreOp, tt::DescriptorReduceOp>(
          [&](auto store) { Move(store.getIndicesMutable(), store.getSrc()); })
      .Case<tt::DescriptorGatherOp, tt::DescriptorScatterOp>(
          [&](auto rows) { Move(rows.getYOffsetMutable(), BlockAccessedBy(rows), 1); });
  if (Writes(op) && !Divides(BlockAccessedBy(op))) LeaveToFirstBlock(op);
}

void Division::LeaveToFirstBlock(Operation* op) {
  mlir::OpBuilder b(op);
  Value zero = arith::ConstantIntOp::create(b, op->getLoc(), 0, 32);
  Value is_first = arith::CmpIOp::create(b, op->getLoc(), arith::CmpIPredicate::eq, rank_, zero);
  auto branch = scf::IfOp::create(b, op->getLoc(), is_first, /*withElseRegion=*/false);
  op->moveBefore(branch.thenYield());
}

void Division::Make(llvm::ArrayRef<Operation*> meetings) {
  SmallVector<Operation*> ops;
  function_.walk([&](Operation* op) { ops.push_back(op); });
  mlir::OpBuilder b = mlir::OpBuilder::atBlockBegin(&function_.getBody().front());
  rank_ = tt::BlockInClusterOp::create(b, function_.getLoc(), b.getI32Type());
  for (Operation* op : meetings) {
    b.setInsertionPoint(op);
    tt::ClusterBarrierOp::create(b, op->getLoc());
  }
  for (const auto& [value, dimension] : dimension_) {
    SmallVector<int64_t> shape(BlockShapeOf(value.getType()));
    shape[dimension] /= blocks_;
    Value(value).setType(WithBlockShape(value.getType(), shape));
  }
  for (Operation* op : ops) DivideOp(op);
  mlir::Block& entry = function_.getBody().front();
  function_.setType(b.getFunctionType(entry.getArgumentTypes(), {}));
}

// Of values that take next to nothing, each user gets its own. So they tie nobody to others.
void SeparateGenerated(tt::FuncOp function) {
  SmallVector<Operation*> ops;
  function.walk([&](Operation* op) { ops.push_back(op); });
  for (Operation* op : llvm::reverse(ops)) {
    if (op->getNumResults() != 1 || BlockShapeOf(op->getResult(0).getType()).empty() || !IsGenerated(op->getResult(0)))
      continue;
    for (mlir::OpOperand& use : llvm::make_early_inc_range(llvm::drop_begin(op->getUses()))) {
      mlir::OpBuilder b(op);
      use.set(b.clone(*op)->getResult(0));
    }
  }
}

bool MayBeDivided(tt::FuncOp function) {
  return function.isPublic() && !function.isExternal() && function.getNumResults() == 0 &&
         llvm::hasSingleElement(function.getBody()) &&
         !function.walk([](Operation* op) { return mlir::WalkResult(mlir::success(MayBeDivided(op))); })
              .wasInterrupted();
}

// Partitions run apart, so they do not meet another block together.
bool HasPartitions(tt::FuncOp function) {
  return function
      .walk([](scf::ForOp loop) { return mlir::WalkResult(mlir::failure(loop->hasAttr("tt.warp_specialize"))); })
      .wasInterrupted();
}

bool DivideProgram(tt::FuncOp function, int blocks) {
  if (!MayBeDivided(function)) return false;
  SeparateGenerated(function);
  const TiedDimensions dimensions(function);
  std::optional<Division> best;
  for (unsigned i = 0; i < dimensions.groups().size(); ++i) {
    if (!dimensions.MayDivide(i)) continue;
    Division division(function, dimensions.groups()[i], blocks);
    if (!division.IsPossible() || division.Share() <= kLeastShare) continue;
    if (!best || std::pair(division.Share(), division.Preference()) > std::pair(best->Share(), best->Preference()))
      best.emplace(std::move(division));
  }
  if (!best) return false;
  const SmallVector<Operation*> meetings =
      AccessesBehindOtherBlocks(function, [&](Operation* op) { return best->Divides(BlockAccessedBy(op)); });
  if (!meetings.empty() && HasPartitions(function)) return false;
  best->Make(meetings);
  return true;
}

struct DivideProgramsPass final : impl::DivideProgramsPassBase<DivideProgramsPass> {
  using DivideProgramsPassBase::DivideProgramsPassBase;
  void runOnOperation() override {
    if (blocks == 1) return;
    SmallVector<tt::FuncOp> kernels;
    for (auto function : getOperation().getOps<tt::FuncOp>())
      if (function.isPublic()) kernels.push_back(function);
    if (kernels.size() == 1 && DivideProgram(kernels.front(), blocks))
      getOperation()->setAttr(ttg::kDividedAttr, mlir::UnitAttr::get(&getContext()));
  }
};

}  // namespace
}  // namespace tritond::compiler
