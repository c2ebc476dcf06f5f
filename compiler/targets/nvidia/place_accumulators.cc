// SPDX-License-Identifier: Apache-2.0
// Dots of nvidia_mma version 5 get a place in tensor memory, and mbarriers that say when they are over:
//
//   %r = scf.for … iter_args(%sum = %zero) {                   %tmem = ttng.tensor_memory_alloc %slot, 128
//     ttng.warp_group_wait buffers %bufs {pending = 0}         ttng.init_barrier %bar, 1
//     %d = ttng.warp_group_dot %a, %b, %sum {in_flight}   ->   %r:2 = scf.for … iter_args(%phase = 0, %adds = false) {
//     scf.yield %d                                               ttng.wait_barrier %bar, %phase ^ 1
//   }                                                            ttg.barrier local
//   %s = ttng.warp_group_wait %r buffers %bufs …                 ttng.tensor_memory_dot %a, %b, %tmem, %bar, %adds
//                                                                scf.yield %phase ^ 1, true
//                                                              }
//                                                              ttng.wait_barrier %bar, %r#0 ^ 1
//                                                              ttng.inval_barrier %bar
//                                                              %s = ttng.tensor_memory_load %tmem
//
// Accumulators that a loop carries from dot to dot stay where they are. Where they begin at zero the first dot does not
// add. Other dots begin with a store of their accumulators unless they are zero, and end with a load.
//
// Each dot has an mbarrier, whose phase ends with the dot: `phase` is the parity of the iteration's. A wait for the dot
// of the iteration before, in the first one, is for a phase that a new mbarrier takes to be over. Between a thread's
// wait and the dot's next turn all threads meet, so that none can miss a phase.
//
// Waits come as overlap_warp_group_dots.cc has placed them. A wait that may leave some dots in flight is one for the
// last dot that it may not. Only dots in the body of a loop stay in flight.
#include "compiler/lowering/zero_constants.h"
#include "compiler/targets/nvidia/dot_buffers.h"
#include "compiler/targets/nvidia/passes.h"
#include "compiler/targets/nvidia/ttng_dialect.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_PLACEACCUMULATORSPASS
#include "compiler/targets/nvidia/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::BlockArgument;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;
using ttng::WarpGroupDotOp;
using ttng::WarpGroupWaitOp;

constexpr int64_t kLeastColumns = 32, kMostColumns = 512;

RankedTensorType TypeOf(WarpGroupDotOp dot) { return llvm::cast<RankedTensorType>(dot.getD().getType()); }

int64_t ColumnsOf(WarpGroupDotOp dot) {
  llvm::ArrayRef<int64_t> shape = TypeOf(dot).getShape();
  return ttng::TensorColumns(shape[0], shape[1]);
}

// The loop that only adds to the accumulators of `dot`, and the number of them among what it carries.
std::optional<unsigned> CarriedAt(WarpGroupDotOp dot) {
  auto accumulators = llvm::dyn_cast<BlockArgument>(dot.getC());
  auto loop = llvm::dyn_cast<ForOp>(dot->getParentOp());
  if (!accumulators || !loop || accumulators.getOwner() != loop.getBody() || accumulators == loop.getInductionVar())
    return std::nullopt;
  if (!accumulators.hasOneUse() || !dot.getD().hasOneUse()) return std::nullopt;
  mlir::OpOperand& use = *dot.getD().use_begin();
  const unsigned index = use.getOperandNumber();
  const bool is_carried =
      use.getOwner() == loop.getBody()->getTerminator() && loop.getRegionIterArg(index) == accumulators;
  return is_carried ? std::optional<unsigned>(index) : std::nullopt;
}

// A dot on its way to tensor memory.
struct Placed {
  WarpGroupDotOp dot;
  std::optional<unsigned> carried;  // among what its loop carries
  bool counts = false;              // for waits: it was in flight
  int64_t column = 0;
  Value barrier = {};
};

// The dots of one kernel.
class KernelDots final {
 public:
  explicit KernelDots(tt::FuncOp function) : function_(function), b_(function.getContext()) {
    function.walk([&](WarpGroupDotOp dot) {
      if (HasTensorMemory(dot)) dots_.push_back({dot, CarriedAt(dot), dot.getInFlight()});
    });
  }

  bool IsEmpty() const { return dots_.empty(); }

  mlir::LogicalResult Run() {
    if (!function_.isPublic()) return dots_[0].dot.emitOpError("of nvidia_mma version 5 is not in a kernel");
    for (Placed& placed : dots_)
      if (!MayStayInFlight(placed)) placed.dot.setInFlight(false);
    if (failed(PlaceInColumns())) return mlir::failure();
    llvm::SmallSetVector<Operation*, 4> loops;
    for (Placed& placed : dots_)
      if (llvm::isa<ForOp>(placed.dot->getParentOp())) loops.insert(placed.dot->getParentOp());
    for (Operation* loop : loops) RewriteLoop(llvm::cast<ForOp>(loop));
    for (Placed& placed : dots_)
      if (placed.dot) RewriteAlone(placed);
    EraseWaits();
    return mlir::success();
  }

 private:
  // Accumulators that threads read in its iteration are read after the wait for them.
  static bool MayStayInFlight(const Placed& placed) {
    if (placed.carried) return true;
    WarpGroupDotOp dot = placed.dot;
    return llvm::isa<ForOp>(dot->getParentOp()) && IsZero(dot.getC()) &&
           llvm::all_of(dot->getUsers(), [](Operation* user) { return llvm::isa<WarpGroupWaitOp>(user); });
  }

  // Each has columns of its own. Where there are too few, dots that the loop does not carry end at once and share.
  mlir::LogicalResult PlaceInColumns() {
    int64_t all = 0, kept = 0, largest = 0;
    for (Placed& placed : dots_) {
      all += ColumnsOf(placed.dot);
      if (placed.carried) kept += ColumnsOf(placed.dot);
      if (!placed.carried) largest = std::max(largest, ColumnsOf(placed.dot));
    }
    const bool shares = all > kMostColumns;
    if (shares && kept + largest > kMostColumns)
      return dots_[0].dot.emitOpError() << "and others need " << kept + largest
                                        << " columns of tensor memory, which has " << kMostColumns;
    int64_t next = shares ? largest : 0;
    for (Placed& placed : dots_) {
      if (shares && !placed.carried) {
        placed.dot.setInFlight(false);
        continue;
      }
      placed.column = next;
      next += ColumnsOf(placed.dot);
    }
    Allocate(std::max<int64_t>(kLeastColumns, llvm::PowerOf2Ceil(shares ? kept + largest : all)));
    return mlir::success();
  }

  void Allocate(int64_t columns) {
    b_.setInsertionPointToStart(&function_.getBody().front());
    mlir::Location loc = function_.getLoc();
    Value slot = ttg::LocalAllocOp::create(b_, loc, ttng::PlainBufferType({1}, b_.getI32Type()), Value());
    tensor_memory_ = ttng::TensorMemoryAllocOp::create(b_, loc, slot, columns);
    function_.walk([&](tt::ReturnOp op) {
      b_.setInsertionPoint(op);
      ttng::TensorMemoryDeallocOp::create(b_, op.getLoc(), tensor_memory_, columns);
    });
  }

  Value MakeBarrier(mlir::Location loc) {
    Value barrier = ttg::LocalAllocOp::create(b_, loc, ttng::PlainBufferType({1}, b_.getI64Type()), Value());
    ttng::InitBarrierOp::create(b_, loc, barrier, 1);
    return barrier;
  }

  Value Constant(mlir::Location loc, int64_t value, unsigned bits) {
    return arith::ConstantIntOp::create(b_, loc, value, bits);
  }
  Value OtherPhase(mlir::Location loc, Value phase) {
    return arith::XOrIOp::create(b_, loc, phase, Constant(loc, 1, 32));
  }
  void Wait(mlir::Location loc, Value barrier, Value phase, mlir::ValueRange buffers) {
    ttng::WaitBarrierOp::create(b_, loc, barrier, phase, /*pred=*/Value(), buffers);
  }
  Value AddressOf(const Placed& placed) {
    if (placed.column == 0) return tensor_memory_;
    mlir::Location loc = placed.dot->getLoc();
    return arith::AddIOp::create(b_, loc, tensor_memory_, Constant(loc, placed.column, 32));
  }
  Value Load(const Placed& placed, mlir::Type type) {
    return ttng::TensorMemoryLoadOp::create(b_, placed.dot->getLoc(), type, AddressOf(placed));
  }

  void EmitDot(const Placed& placed, Value adds) {
    WarpGroupDotOp dot = placed.dot;
    ttg::BarrierOp::create(b_, dot.getLoc(), "local");
    ttng::TensorMemoryDotOp::create(b_, dot.getLoc(), dot.getA(), dot.getB(), AddressOf(placed), placed.barrier, adds);
  }

  // A dot that adds to what its own threads store; whether it adds.
  Value EmitInitialAccumulators(const Placed& placed) {
    WarpGroupDotOp dot = placed.dot;
    if (IsZero(dot.getC())) return Constant(dot.getLoc(), 0, 1);
    ttng::TensorMemoryStoreOp::create(b_, dot.getLoc(), dot.getC(), AddressOf(placed));
    return Constant(dot.getLoc(), 1, 1);
  }

  // In front of the dot, which is erased; the accumulators are loaded at once.
  void EmitWholeDot(Placed& placed, Value phase) {
    WarpGroupDotOp dot = placed.dot;
    b_.setInsertionPoint(dot);
    EmitDot(placed, EmitInitialAccumulators(placed));
    Wait(dot.getLoc(), placed.barrier, phase, {dot.getA(), dot.getB()});
    dot.replaceAllUsesWith(Load(placed, dot.getType()));
    dot.erase();
    placed.dot = nullptr;
  }

  void RewriteAlone(Placed& placed) {
    mlir::Location loc = placed.dot->getLoc();
    b_.setInsertionPoint(placed.dot);
    placed.barrier = MakeBarrier(loc);
    Operation* next = placed.dot->getNextNode();
    EmitWholeDot(placed, Constant(loc, 0, 32));
    b_.setInsertionPoint(next);
    ttng::InvalBarrierOp::create(b_, loc, placed.barrier);
  }

  void RewriteLoop(ForOp loop);
  void RewriteWaits(mlir::Block& block, llvm::ArrayRef<Placed*> dots, Value phase, Value before);
  Value LoadAfter(const Placed& placed, Value result, Value adds, Value initial);
  void EraseWaits();

  tt::FuncOp function_;
  mlir::IRRewriter b_;
  llvm::SmallVector<Placed> dots_;
  Value tensor_memory_;
};

// The accumulators that a loop has carried; `adds`: whether there was an iteration, null: it does not matter.
Value KernelDots::LoadAfter(const Placed& placed, Value result, Value adds, Value initial) {
  Value accumulators = Load(placed, result.getType());
  return adds ? arith::SelectOp::create(b_, placed.dot->getLoc(), adds, accumulators, initial).getResult()
              : accumulators;
}

void KernelDots::RewriteLoop(ForOp loop) {
  mlir::Location loc = loop.getLoc();
  llvm::SmallVector<Placed*> dots, carried;
  for (Placed& placed : dots_)
    if (placed.dot && placed.dot->getParentOp() == loop) dots.push_back(&placed);
  llvm::sort(dots, [](Placed* x, Placed* y) { return x->dot->isBeforeInBlock(y->dot); });
  llvm::copy_if(dots, std::back_inserter(carried), [](Placed* placed) { return placed->carried.has_value(); });
  b_.setInsertionPoint(loop);
  for (Placed* placed : dots) placed->barrier = MakeBarrier(loc);
  llvm::SmallVector<bool> begin_at_zero;
  for (Placed* placed : carried) {
    Value initial = loop.getInitArgs()[*placed->carried];
    begin_at_zero.push_back(IsZero(initial));
    if (!begin_at_zero.back()) ttng::TensorMemoryStoreOp::create(b_, loc, initial, AddressOf(*placed));
  }
  auto yields = [](mlir::OpBuilder& inner, mlir::Location at, llvm::ArrayRef<BlockArgument> arguments) {
    Value one = arith::ConstantIntOp::create(inner, at, 1, 32);
    return llvm::SmallVector<Value>{arith::XOrIOp::create(inner, at, arguments[0], one),
                                    arith::ConstantIntOp::create(inner, at, 1, 1)};
  };
  const llvm::SmallVector<Value> inits = {Constant(loc, 0, 32), Constant(loc, 0, 1)};
  loop = llvm::cast<ForOp>(
      (*loop.replaceWithAdditionalYields(b_, inits, /*replaceInitOperandUsesInLoop=*/false, yields)).getOperation());
  Value phase = loop.getRegionIterArgs().take_back(2)[0], adds = loop.getRegionIterArgs().back();
  b_.setInsertionPointToStart(loop.getBody());
  RewriteWaits(*loop.getBody(), dots, phase, OtherPhase(loc, phase));

  // After the loop: what is in flight ends, then the accumulators are read.
  b_.setInsertionPointAfter(loop);
  Value last = OtherPhase(loc, loop.getResults().take_back(2)[0]), any = loop.getResults().back();
  for (Placed* placed : dots)
    if (placed->dot.getInFlight()) Wait(loc, placed->barrier, last, {});
  for (Placed* placed : dots) ttng::InvalBarrierOp::create(b_, loc, placed->barrier);
  for (auto [placed, from_zero] : llvm::zip(carried, begin_at_zero)) {
    Value result = loop.getResult(*placed->carried), initial = loop.getInitArgs()[*placed->carried];
    if (result.use_empty()) continue;
    Value accumulators = LoadAfter(*placed, result, from_zero ? any : Value(), initial);
    result.replaceAllUsesWith(accumulators);
  }

  mlir::OpBuilder::InsertionGuard guard(b_);
  for (Placed* placed : dots) {
    WarpGroupDotOp dot = placed->dot;
    if (!placed->carried && !dot.getInFlight()) {
      EmitWholeDot(*placed, phase);
      continue;
    }
    b_.setInsertionPoint(dot);
    if (!placed->carried) {
      EmitDot(*placed, EmitInitialAccumulators(*placed));
    } else {
      auto* const at = llvm::find(carried, placed);
      EmitDot(*placed, begin_at_zero[at - carried.begin()] ? adds : Constant(loc, 1, 1));
      if (!dot.getInFlight()) Wait(loc, placed->barrier, phase, {dot.getA(), dot.getB()});
      // What the loop carries is what it began with.
      dot.getD().replaceAllUsesWith(dot.getC());
    }
    dot.erase();
    placed->dot = nullptr;
  }
}

// The waits of a loop's body. `phase`: of this iteration; `before`: of the one before.
void KernelDots::RewriteWaits(mlir::Block& block, llvm::ArrayRef<Placed*> dots, Value phase, Value before) {
  // What ends at once now counted when the waits were placed.
  llvm::SmallVector<Placed*> in_flight;
  llvm::copy_if(dots, std::back_inserter(in_flight), [](Placed* placed) { return placed->counts; });
  for (auto wait : llvm::make_early_inc_range(block.getOps<WarpGroupWaitOp>())) {
    // Of the dots in the order in which they were issued before the wait, the last one that may not go on.
    const size_t issued = llvm::count_if(in_flight, [&](Placed* each) { return each->dot->isBeforeInBlock(wait); });
    const size_t pending = wait.getPending();
    b_.setInsertionPoint(wait);
    if (pending < in_flight.size()) {
      const bool is_earlier = pending >= issued;
      const size_t index = is_earlier ? in_flight.size() + issued - 1 - pending : issued - 1 - pending;
      if (in_flight[index]->dot.getInFlight())
        Wait(wait.getLoc(), in_flight[index]->barrier, is_earlier ? before : phase, wait.getBuffers());
    }
    for (auto [accumulators, ended] : llvm::zip(wait.getAccumulators(), wait.getResults())) {
      auto* const placed = llvm::find_if(in_flight, [own = accumulators](Placed* each) {
        return !each->carried && each->dot.getInFlight() && each->dot.getD() == own;
      });
      ended.replaceAllUsesWith(placed == in_flight.end() ? accumulators : Load(**placed, ended.getType()));
    }
    wait.erase();
  }
}

// Those that are left wait for dots that have ended.
void KernelDots::EraseWaits() {
  function_.walk([](WarpGroupWaitOp wait) {
    for (auto [accumulators, ended] : llvm::zip(wait.getAccumulators(), wait.getResults()))
      ended.replaceAllUsesWith(accumulators);
    wait.erase();
  });
}

class PlaceAccumulatorsPass : public impl::PlaceAccumulatorsPassBase<PlaceAccumulatorsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<tt::FuncOp>()) {
      KernelDots dots(function);
      if (dots.IsEmpty()) continue;
      if (failed(dots.Run())) return signalPassFailure();
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
