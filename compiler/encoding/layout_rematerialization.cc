// SPDX-License-Identifier: Apache-2.0
// Moves conversions to where they cost least.
//
// There are two ways to have a value under another encoding: convert it, or compute it again. The second needs the
// operands under the encodings that this takes, and so on upwards. The best way to have %v under X is the cheapest of
//
//   Best(v, X) = 0                                                  if it is there already
//              = Conversion(v, X)
//              = Cost(op of v under X) + what it costs to have all operands under the X of each
//
// each weighted by how often its block runs. What several operands are made from is made once. An operation whose only
// user moves away dies, which its copy gets credit for. So a conversion climbs over an extension or a broadcast to the
// smaller tensor, out of a loop, or dissolves in constants and ranges. A value that a loop carries may be carried
// twice, if what it starts from and what it becomes are cheap to have under X. A row of pointers that advances by a
// constant is.
//
//   %w = arith.extf %v : f16 to f32, #a                  %c = ttg.convert_layout %v : f16, #a -> #b
//   %c = ttg.convert_layout %w : f32, #a -> #b     =>    %w = arith.extf %c : f16 to f32, #b
//
// There is a next iteration as long as something moves. An iteration finds what earlier ones have made. The halves of a
// split move together, for what both are made from. If values are parts of one value otherwise, the last ones move
// first. The rest of the other parts is then cheap to compute again.
//
// Copies stand beside their originals, conversions beside the value's definition: what dominated the old conversion
// dominates them. The search visits a bounded number of operations for each conversion, so the pass stays linear.
#include "compiler/encoding/layout_rematerialization.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/analysis/axis_info.h"
#include "compiler/analysis/typical_steps.h"
#include "compiler/encoding/conversion_cost.h"
#include "compiler/encoding/encoding_rules.h"
#include "compiler/encoding/operand_loads.h"
#include "compiler/encoding/operand_reader.h"
#include "compiler/ir/encodings.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tritond::compiler {
namespace {

using mlir::Attribute;
using mlir::Operation;
using mlir::OpOperand;
using mlir::RankedTensorType;
using mlir::Value;

constexpr int kMaxPasses = 4;
constexpr int kMaxVisits = 400;
constexpr int kMaxDepth = 200;
constexpr double kMostJumps = 0.5;      // of elements at one distance
constexpr double kCarriedRegister = 2;  // for a loop to carry one more
constexpr int64_t kAccessBytes = 16;    // that a thread loads at once
// Of a thread, for a row that each warp loads for itself in a loop.
constexpr int64_t kMostRowBytes = 32, kMostRowAccesses = 2;

using Placed = std::pair<Value, Attribute>;

RankedTensorType TensorType(Value value) { return llvm::dyn_cast<RankedTensorType>(value.getType()); }

RankedTensorType WithEncoding(Value value, Attribute encoding) {
  RankedTensorType type = TensorType(value);
  return RankedTensorType::get(type.getShape(), type.getElementType(), encoding);
}

class ConversionMover final {
 public:
  ConversionMover(tt::FuncOp func, CostModel& costs) : func_(func), costs_(costs) {}

  bool Run() {
    llvm::SmallVector<ttg::ConvertLayoutOp> converts;
    func_.walk([&](ttg::ConvertLayoutOp convert) { converts.push_back(convert); });
    bool changed = false;
    for (ttg::ConvertLayoutOp convert : converts) changed |= Move(convert);
    EraseDead();
    return changed;
  }

 private:
  enum class Way { kConvert, kRecompute, kAssumed };  // kAssumed: a loop carries it, which is about to be decided

  struct Choice {
    double cost = 0;  // with all that it is made from
    double own = 0;   // without
    Way way = Way::kConvert;
    std::optional<double> tied_own = std::nullopt;  // of a conversion: `own` if it is computed again at the same cost
    bool Recomputes() const { return way != Way::kConvert; }
  };

  bool Move(ttg::ConvertLayoutOp convert) {
    Value src = convert.getSrc();
    Attribute encoding = convert.getType().getEncoding();
    if (dead_.contains(convert)) return false;
    choices_.clear();
    search_.clear();
    readers_.clear();
    visits_ = 0;
    Choice choice = Best(src, encoding, OnlyUse(src, convert), 0);
    double stay = ConversionCost(src, encoding) * Frequency(convert->getBlock());
    bool leaves_loop = LoopDepth(convert->getBlock()) > LoopDepth(src.getParentBlock());
    if (!leaves_loop && (!choice.Recomputes() || choice.cost >= stay) && !Made(src, encoding)) return false;
    Value moved = Make(src, encoding);
    if (moved == convert.getResult()) return false;
    convert.getResult().replaceAllUsesWith(moved);
    Kill(convert);
    return true;
  }

  // `dies`: nothing but what moves away uses `value`.
  Choice Best(Value value, Attribute encoding, bool dies, int depth) {
    if (Made(value, encoding)) return {};
    auto known = choices_.find({value, encoding});
    if (known != choices_.end()) return known->second;
    mlir::Block* block = value.getParentBlock();
    const double conversion = ConversionCost(value, encoding) * Frequency(block);
    Choice best{conversion, conversion};
    choices_[{value, encoding}] = best;
    search_.push_back({value, encoding});
    if (++visits_ > kMaxVisits || depth > kMaxDepth) return best;
    std::optional<Choice> recompute = Recomputation(value, encoding, dies, depth);
    if (recompute) recompute->cost = std::max(recompute->cost - SavedByOtherHalf(value, encoding), 0.0);
    if (recompute && recompute->cost < best.cost)
      best = *recompute;
    else if (recompute && recompute->cost == best.cost)
      best.tied_own = recompute->own;
    return choices_[{value, encoding}] = best;
  }

  // The halves of a tensor are had under an encoding together. So this much less is converted if one is.
  double SavedByOtherHalf(Value value, Attribute encoding) {
    auto split = value.getDefiningOp<tt::SplitOp>();
    if (!split) return 0;
    double saved = 0;
    for (Value half : split->getResults()) {
      const bool is_converted = llvm::any_of(half.getUsers(), [&](Operation* user) {
        auto convert = llvm::dyn_cast<ttg::ConvertLayoutOp>(user);
        return convert && convert.getType().getEncoding() == encoding && !dead_.contains(user);
      });
      if (half != value && is_converted) saved += ConversionCost(half, encoding) * Frequency(split->getBlock());
    }
    return saved;
  }

  // What it costs to have all of `wanted`, for which there are choices. What several of them are made from counts once.
  double CostOfAll(llvm::ArrayRef<Placed> wanted) {
    llvm::SmallVector<Choice*> tied;
    const double apart = CostOfAll(wanted, /*breaks_ties=*/false, tied);
    const double shared = CostOfAll(wanted, /*breaks_ties=*/true, tied);
    if (shared >= apart) return apart;
    for (Choice* choice : tied) *choice = {choice->cost, *choice->tied_own, Way::kRecompute, std::nullopt};
    return shared;
  }

  // `breaks_ties`: what costs the same both ways is computed again, since others may share what it is made from. `tied`
  // gets these choices.
  double CostOfAll(llvm::ArrayRef<Placed> wanted, bool breaks_ties, llvm::SmallVectorImpl<Choice*>& tied) {
    double cost = 0;
    llvm::SmallVector<Placed> pending(wanted);
    llvm::DenseSet<Placed> seen;
    while (!pending.empty()) {
      Placed next = pending.pop_back_val();
      auto found = choices_.find(next);
      if (found == choices_.end() || !seen.insert(next).second) continue;
      Choice& choice = found->second;
      const bool is_broken = breaks_ties && choice.tied_own;
      if (is_broken) tied.push_back(&choice);
      cost += is_broken ? *choice.tied_own : choice.own;
      if (is_broken || choice.way == Way::kRecompute) llvm::append_range(pending, MadeFrom(next));
    }
    return cost;
  }

  // What `placed` is computed from, under the encodings that this takes; of operands that can have such.
  llvm::SmallVector<Placed, 4> MadeFrom(const Placed& placed) {
    auto [value, encoding] = placed;
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
      auto loop = llvm::cast<mlir::scf::ForOp>(argument.getOwner()->getParentOp());
      const unsigned index = argument.getArgNumber() - 1;
      return {{loop.getInitArgs()[index], encoding}, {loop.getYieldedValues()[index], encoding}};
    }
    llvm::SmallVector<Placed, 4> operands;
    for (OpOperand& operand : value.getDefiningOp()->getOpOperands()) {
      if (!TensorType(operand.get())) continue;
      if (Attribute needed = TiedOperandEncoding(operand, encoding)) operands.push_back({operand.get(), needed});
    }
    return operands;
  }

  std::optional<Choice> Recomputation(Value value, Attribute encoding, bool dies, int depth) {
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) return Carriage(argument, encoding, depth);
    Operation* op = value.getDefiningOp();
    std::optional<double> element = op ? CostModel::ElementCost(op) : std::nullopt;
    if (!element || (!MayRetype(op, encoding) && RowAccesses(op, encoding) == 0)) return std::nullopt;
    RankedTensorType type = TensorType(value);
    const OperandReader reader = ReaderOfPlaced({value, encoding});
    if (*element > 0 && IsComputedOnce(op, reader)) return std::nullopt;
    double own = ElementCost(op, *element, encoding) * Computed(op, encoding);
    if (dies) own -= CostOf(op, *element);
    own *= Frequency(op->getBlock());
    llvm::SmallVector<Placed, 4> operands = MadeFrom({value, encoding});
    auto is_tensor = [](Value operand) { return TensorType(operand) != nullptr; };
    if (static_cast<int64_t>(operands.size()) != llvm::count_if(op->getOperands(), is_tensor)) return std::nullopt;
    if (reader != OperandReader::kThread && llvm::isa<tt::TransOp, tt::ReshapeOp, tt::JoinOp, tt::SplitOp>(op))
      for (const Placed& operand : operands) readers_.try_emplace(operand, reader);
    double cost = own;
    for (auto [operand, needed] : operands) cost += Best(operand, needed, dies && OnlyUse(operand), depth + 1).cost;
    if (operands.size() > 1) cost = own + CostOfAll(operands);
    return Choice{cost, own, Way::kRecompute};
  }

  // How often a thread computes `op`. Registers of one element get it from one instruction, but for loads.
  double Computed(Operation* op, Attribute encoding) {
    RankedTensorType type = TensorType(op->getResult(0));
    return static_cast<double>(llvm::isa<tt::LoadOp>(op) ? costs_.Registers(type, encoding)
                                                         : costs_.Elements(type, encoding));
  }

  // Carrying the value through its loop a second time: the copy of what the loop yields starts from the copy.
  std::optional<Choice> Carriage(mlir::BlockArgument argument, Attribute encoding, int depth) {
    auto loop = llvm::dyn_cast<mlir::scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument.getArgNumber() == 0) return std::nullopt;
    unsigned index = argument.getArgNumber() - 1;
    size_t before = search_.size();
    const Choice convert = std::exchange(choices_[{argument, encoding}], Choice{0, 0, Way::kAssumed});
    const double own = costs_.Registers(TensorType(argument), encoding) * kCarriedRegister;
    Best(loop.getInitArgs()[index], encoding, false, depth + 1);
    Best(loop.getYieldedValues()[index], encoding, false, depth + 1);
    const double cost = own + CostOfAll(MadeFrom({argument, encoding}));
    if (cost < convert.cost) return Choice{cost, own, Way::kRecompute};
    // Choices made on the assumption that it is there fall with it.
    for (const Placed& placed : llvm::ArrayRef(search_).drop_front(before)) choices_.erase(placed);
    search_.resize(before);
    return std::nullopt;
  }

  // Threads that load more elements of one dimension than before do so one by one, where these are no neighbours.
  double ElementCost(Operation* op, double element, Attribute encoding) {
    auto load = llvm::dyn_cast<tt::LoadOp>(op);
    RankedTensorType type = TensorType(op->getResult(0));
    if (const int64_t accesses = RowAccesses(op, encoding); accesses > 0)
      return costs_.RowAccess(type, encoding) * static_cast<double>(accesses) /
             static_cast<double>(costs_.Registers(type, encoding));
    if (!load || type.getRank() != 1 || costs_.Registers(type, encoding) <= costs_.Registers(type, type.getEncoding()))
      return element;
    if (!strides_) FindStrides();
    const double stride = strides_->lookup(op);
    return stride == 0 ? element : std::max(element, costs_.StridedElement(type, encoding, stride));
  }

  // How many accesses a thread needs for a row that a loop loads, if each warp loads what its threads have under
  // `encoding`. That saves the loop barriers, at which warps wait for each other. 0: that takes too many registers or
  // accesses, the elements are not beside each other, or a dot's copies may bring the row.
  int64_t RowAccesses(Operation* op, Attribute encoding) {
    auto load = llvm::dyn_cast<tt::LoadOp>(op);
    RankedTensorType type = load ? TensorType(load.getResult()) : RankedTensorType();
    if (!type || type.getRank() != 1 || !type.getElementType().isIntOrFloat()) return 0;
    if (!IsWideAccess(load) || load.getIsVolatile() || !IsInLoopWithoutDots(load)) return 0;
    const int64_t bytes = std::max(8u, type.getElementTypeBitWidth()) / 8;
    const int64_t registers = costs_.Registers(type, encoding);
    if (registers * bytes > kMostRowBytes) return 0;
    if (!axes_) axes_.emplace(func_->getParentOfType<mlir::ModuleOp>());
    if (axes_->Get(load.getPtr()).dims[0].contiguity < type.getDimSize(0)) return 0;
    int64_t together = std::min(
        {costs_.Neighbours(type, encoding), kAccessBytes / bytes, int64_t{axes_->PointerContiguity(load.getPtr(), 0)}});
    if (load.getMask()) together = std::min(together, int64_t{axes_->MaskSpan(load.getMask(), 0)});
    const int64_t accesses = registers / together;
    return accesses <= kMostRowAccesses ? accesses : 0;
  }

  static bool IsInLoopWithoutDots(Operation* op) {
    auto loop = op->getParentOfType<mlir::LoopLikeOpInterface>();
    return loop && !loop->walk([](Operation* inner) {
                          return llvm::isa<tt::DotOp, tt::DotScaledOp>(inner) ? mlir::WalkResult::interrupt()
                                                                              : mlir::WalkResult::advance();
                        })
                        .wasInterrupted();
  }

  // In bytes, of loads of one dimension whose elements are no neighbours and lie at one distance from each other.
  void FindStrides() {
    strides_.emplace();
    const AxisInfoAnalysis axes(func_->getParentOfType<mlir::ModuleOp>(), AxisInfoAnalysis::LoadMasks::kIgnored);
    func_.walk([&](tt::LoadOp load) {
      RankedTensorType type = TensorType(load.getResult());
      if (!type || type.getRank() != 1 || !type.getElementType().isIntOrFloat()) return;
      const Step step = TypicalSteps(load.getPtr(), axes)[0];
      const double bytes = std::max(8u, type.getElementTypeBitWidth()) / 8.0;
      if (step.jumps < kMostJumps && std::abs(step.size) > 1) (*strides_)[load] = std::abs(step.size) * bytes;
    });
  }

  // What goes when `op` dies. A wide load is cheap for its elements.
  double CostOf(Operation* op, double element) {
    if (auto convert = llvm::dyn_cast<ttg::ConvertLayoutOp>(op))
      return ConversionCost(convert.getSrc(), convert.getType().getEncoding());
    RankedTensorType type = TensorType(op->getResult(0));
    return llvm::isa<tt::LoadOp>(op) ? element : element * Computed(op, type.getEncoding());
  }

  // Operands become such by a change of shape, too, and have other encodings before it.
  OperandReader ReaderOfPlaced(const Placed& placed) {
    auto found = readers_.find(placed);
    return found != readers_.end() ? found->second
                                   : ReaderOf(TensorType(placed.first).cloneWithEncoding(placed.second));
  }

  // Whether `op` is to be computed where its operands are loaded. What multiply-adds read may only become wider on its
  // way from there.
  static bool IsComputedOnce(Operation* op, OperandReader reader) {
    if (reader == OperandReader::kUnit) return true;
    return reader == OperandReader::kMultiplyAdds && !llvm::isa<tt::LoadOp>(op) && !Widens(op);
  }

  static bool Widens(Operation* op) {
    if (!llvm::isa<mlir::CastOpInterface>(op)) return false;
    mlir::Type from = tt::ElementOf(op->getOperand(0).getType()), to = tt::ElementOf(op->getResult(0).getType());
    return from.isIntOrFloat() && to.isIntOrFloat() && from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth();
  }

  static bool MayRetype(Operation* op, Attribute encoding) {
    if (auto load = llvm::dyn_cast<tt::LoadOp>(op)) return CostModel::MayLoadUnder(load, encoding);
    EncodingRule rule = EncodingRuleOf(op);
    return rule == EncodingRule::kTied || rule == EncodingRule::kFree;
  }

  double ConversionCost(Value value, Attribute encoding) {
    // A load in a loop that feeds a dot becomes an asynchronous copy to shared memory, which the dot or its threads
    // read.
    auto load = value.getDefiningOp<tt::LoadOp>();
    auto has_parts = [&] {
      return llvm::any_of(load->getUsers(), llvm::IsaPred<tt::ReshapeOp>) && OperandBytes(load) > 0;
    };
    bool streams = load && LoopDepth(value.getParentBlock()) > 0 &&
                   (llvm::isa<ttg::DotOperandEncodingAttr>(encoding) || has_parts());
    return streams ? costs_.Read(TensorType(value), encoding) : costs_.Conversion(TensorType(value), encoding);
  }

  double Frequency(mlir::Block* block) {
    auto [entry, is_new] = frequencies_.try_emplace(block, 1);
    if (!is_new) return entry->second;
    double frequency = 1;
    for (Operation* op = block->getParentOp(); op; op = op->getParentOp()) {
      if (llvm::isa<mlir::LoopLikeOpInterface>(op)) frequency *= 8;
      if (llvm::isa<mlir::scf::IfOp>(op)) frequency /= 2;
    }
    return entry->second = frequency;
  }

  bool LiveUse(Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation* user) { return !dead_.contains(user); });
  }

  // Nothing but `user` uses a result of the operation that makes `value`.
  bool OnlyUse(Value value, Operation* user) {
    Operation* op = value.getDefiningOp();
    return op && llvm::all_of(op->getUsers(), [&](Operation* other) { return other == user || dead_.contains(other); });
  }

  // One live operation uses all results of the one that makes `value`, each converted or not.
  bool OnlyUse(Value value) {
    Operation* op = value.getDefiningOp();
    if (!op) return false;
    Operation* only = nullptr;
    for (Operation* user : op->getUsers()) {
      if (dead_.contains(user)) continue;
      while (llvm::isa<ttg::ConvertLayoutOp>(user) && user->hasOneUse()) user = *user->user_begin();
      if (only && user != only) return false;
      only = user;
    }
    return true;
  }

  // `value` under `encoding` if that is there; available wherever `value` is.
  Value Made(Value value, Attribute encoding) {
    if (TensorType(value).getEncoding() == encoding) return value;
    auto made = made_.find({value, encoding});
    if (made == made_.end()) return {};
    Operation* op = made->second.getDefiningOp();
    return op && dead_.contains(op) ? Value() : made->second;
  }

  // The same, made as chosen if it is not.
  Value Make(Value value, Attribute encoding) {
    if (Value made = Made(value, encoding)) return made;
    mlir::OpBuilder builder(func_.getContext());
    builder.setInsertionPointAfterValue(value);
    auto choice = choices_.find({value, encoding});
    if (choice == choices_.end() || !choice->second.Recomputes())
      return made_[{value, encoding}] =
                 ttg::ConvertLayoutOp::create(builder, value.getLoc(), WithEncoding(value, encoding), value);
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) return Carry(argument, encoding);
    return Recompute(value, encoding, builder);
  }

  // Adds to the argument's loop a copy of it under `encoding`.
  Value Carry(mlir::BlockArgument argument, Attribute encoding) {
    mlir::Block* body = argument.getOwner();
    unsigned index = argument.getArgNumber() - 1;
    Value init = Make(llvm::cast<mlir::scf::ForOp>(body->getParentOp()).getInitArgs()[index], encoding);
    auto old_loop = llvm::cast<mlir::scf::ForOp>(body->getParentOp());
    llvm::SmallVector<Value> inits(old_loop.getInitArgs());
    unsigned added = inits.size();
    inits.push_back(init);
    mlir::OpBuilder builder(old_loop);
    auto loop = mlir::scf::ForOp::create(builder, old_loop.getLoc(), old_loop.getLowerBound(), old_loop.getUpperBound(),
                                         old_loop.getStep(), inits);
    loop->setDiscardableAttrs(old_loop->getDiscardableAttrDictionary());
    loop.getRegion().takeBody(old_loop.getRegion());
    Retire(old_loop, loop);
    Value copy = body->addArgument(init.getType(), argument.getLoc());
    made_[{argument, encoding}] = copy;
    // The copy yields itself for a moment: what it really yields may be made from it.
    Operation* yield = body->getTerminator();
    yield->insertOperands(added, copy);
    yield->setOperand(added, Make(yield->getOperand(index), encoding));
    return copy;
  }

  // `loop`, with more results, takes the place of `old_loop`, which is erased with the dead. It has neither operands
  // nor a body any more, so that no analysis may find it.
  void Retire(mlir::scf::ForOp old_loop, mlir::scf::ForOp loop) {
    llvm::DenseMap<Value, Value> renamed;
    for (auto [from, to] : llvm::zip(old_loop.getResults(), loop.getResults())) renamed[from] = to;
    old_loop.replaceAllUsesWith(loop.getResults().take_front(old_loop.getNumResults()));
    old_loop->dropAllReferences();
    old_loop->remove();
    dead_.insert(old_loop);
    llvm::SmallVector<std::pair<Placed, Value>> moved;
    for (auto& [placed, value] : made_) {
      if (Value to = renamed.lookup(value)) value = to;
      if (Value to = renamed.lookup(placed.first)) moved.push_back({{to, placed.second}, value});
    }
    for (auto& [placed, value] : moved) made_[placed] = value;
  }

  Value Recompute(Value value, Attribute encoding, mlir::OpBuilder& builder) {
    Operation* op = value.getDefiningOp();
    if (llvm::isa<ttg::ConvertLayoutOp>(op)) return made_[{value, encoding}] = Make(op->getOperand(0), encoding);
    mlir::IRMapping mapping;
    for (OpOperand& operand : op->getOpOperands())
      if (TensorType(operand.get()))
        mapping.map(operand.get(), Make(operand.get(), TiedOperandEncoding(operand, encoding)));
    Operation* copy = builder.clone(*op, mapping);
    for (auto [result, copied] : llvm::zip(op->getResults(), copy->getResults())) {
      copied.setType(WithEncoding(result, encoding));
      made_[{result, encoding}] = copied;
    }
    if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(copy))
      constant.setValueAttr(llvm::cast<mlir::DenseElementsAttr>(constant.getValue())
                                .reshape(llvm::cast<RankedTensorType>(constant.getType())));
    return made_[{value, encoding}];
  }

  // Marks an unused operation and what it alone used.
  void Kill(Operation* op) {
    llvm::SmallVector<Operation*> work{op};
    while (!work.empty()) {
      Operation* next = work.pop_back_val();
      if (!dead_.insert(next)) continue;
      for (Value operand : next->getOperands()) {
        Operation* def = operand.getDefiningOp();
        if (def && mlir::wouldOpBeTriviallyDead(def) &&
            llvm::none_of(def->getResults(), [&](Value result) { return LiveUse(result); }))
          work.push_back(def);
      }
    }
  }

  void EraseDead() {
    auto dies = [&](Value value) {
      Operation* op = value.getDefiningOp();
      for (op = op ? op : value.getParentBlock()->getParentOp(); op; op = op->getParentOp())
        if (dead_.contains(op)) return true;
      return false;
    };
    for (auto [placed, value] : made_)
      if (dies(placed.first) || dies(value)) made_.erase(placed);
    for (Operation* op : dead_) op->dropAllUses();
    for (Operation* op : dead_) op->erase();
    dead_.clear();
    frequencies_.clear();
    strides_.reset();
    axes_.reset();
  }

  tt::FuncOp func_;
  CostModel& costs_;
  llvm::DenseMap<Placed, Choice> choices_;         // for the conversion at hand
  std::vector<Placed> search_;                     // their keys in the order they were reached
  llvm::DenseMap<Placed, OperandReader> readers_;  // for the conversion at hand, too
  llvm::DenseMap<Placed, Value> made_;
  llvm::DenseMap<mlir::Block*, double> frequencies_;
  std::optional<llvm::DenseMap<Operation*, double>> strides_;  // once it is asked for
  std::optional<AxisInfoAnalysis> axes_;                       // the same
  llvm::SetVector<Operation*> dead_;
  int visits_ = 0;
};

}  // namespace

void MoveConversions(tt::FuncOp func) {
  CostModel costs;
  ConversionMover mover(func, costs);
  for (int iteration = 0; iteration < kMaxPasses && mover.Run(); ++iteration) continue;
}

}  // namespace tritond::compiler
