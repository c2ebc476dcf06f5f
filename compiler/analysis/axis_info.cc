// SPDX-License-Identifier: Apache-2.0
// The fixpoint. Facts start as "not reached" and only ever weaken at the places where values meet. These are block
// arguments, region arguments and results of region operations. They keep the join of all that has flowed in.
// Everything else is recomputed from its operands whenever its block is visited. A loop is visited until its meeting
// places are stable, so the last visit computes every fact from the final ones. Since a fact is a handful of powers of
// two, that is soon.
//
// Functions are visited before those they call, whose arguments join over all calls.
#include "compiler/analysis/axis_info.h"

#include <algorithm>

#include "compiler/analysis/axis_transfer.h"
#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tritond::compiler {
namespace {

using axis::Join;
using axis::ShapeOf;
using axis::StepOf;
using axis::Unknown;
using mlir::Block;
using mlir::FunctionOpInterface;
using mlir::Operation;
using mlir::Region;
using mlir::Value;
using InfoMap = llvm::DenseMap<Value, AxisInfo>;

AxisInfo UnknownOf(mlir::Type type) { return Unknown(ShapeOf(type).size()); }

// What an attribute promises for each of `rank` dimensions; empty if it is absent or of another form.
llvm::SmallVector<int64_t, 2> HintOf(mlir::Attribute attribute, unsigned rank) {
  if (auto integer = llvm::dyn_cast_if_present<mlir::IntegerAttr>(attribute)) {
    return llvm::SmallVector<int64_t, 2>(rank, integer.getInt());
  }
  llvm::SmallVector<int64_t, 2> hint;
  auto dense = llvm::dyn_cast_if_present<mlir::DenseIntElementsAttr>(attribute);
  if (!dense || dense.getNumElements() != rank || dense.getElementType().getIntOrFloatBitWidth() > 64) return hint;
  for (const llvm::APInt& value : dense.getValues<llvm::APInt>()) hint.push_back(value.getSExtValue());
  return hint;
}

constexpr std::pair<llvm::StringLiteral, int64_t AxisDim::*> kHints[] = {{"tt.contiguity", &AxisDim::contiguity},
                                                                         {"tt.divisibility", &AxisDim::divisibility},
                                                                         {"tt.constancy", &AxisDim::constancy}};

// Strengthens `info` by the promises that `attribute_of` finds. Powers of two only; others promise their largest
// factor.
template <typename AttributeOf>
void ApplyHints(AxisInfo& info, AttributeOf attribute_of) {
  for (const auto& [name, fact] : kHints) {
    for (auto [dim, value] : llvm::zip(info.dims, HintOf(attribute_of(name), info.Rank()))) {
      if (value > 0) dim.*fact = std::max(dim.*fact, axis::PowerOfTwoIn(value));
    }
  }
}

struct Assumed {
  int64_t multiple = 1;  // a power of two
  bool non_negative = false;
};

// x >= 0 or x > -1.
bool IsNotBelowZero(mlir::arith::CmpIPredicate predicate, const llvm::APInt& bound) {
  using Predicate = mlir::arith::CmpIPredicate;
  return (predicate == Predicate::sge && bound.isNonNegative()) ||
         (predicate == Predicate::sgt && (bound.isNonNegative() || bound.isAllOnes()));
}

// What an llvm.intr.assume says of a value: (x mod c) == 0, or x >= 0. One in the entry block runs always. One in the
// block that makes the value runs wherever there is that value. So these promises hold wherever the value is used.
void AddAssumption(Operation& op, bool runs_always, llvm::DenseMap<Value, Assumed>& assumed) {
  auto compare = op.getOperand(0).getDefiningOp<mlir::arith::CmpIOp>();
  llvm::APInt bound, divisor;
  if (!compare || !mlir::matchPattern(compare.getRhs(), mlir::m_ConstantInt(&bound))) return;
  auto holds = [&](Value value) { return runs_always || value.getParentBlock() == op.getBlock(); };
  if (IsNotBelowZero(compare.getPredicate(), bound) && holds(compare.getLhs()))
    assumed[compare.getLhs()].non_negative = true;
  Operation* rem = compare.getLhs().getDefiningOp();
  if (compare.getPredicate() != mlir::arith::CmpIPredicate::eq || !bound.isZero() ||
      !llvm::isa_and_present<mlir::arith::RemSIOp, mlir::arith::RemUIOp>(rem) ||
      !mlir::matchPattern(rem->getOperand(1), mlir::m_ConstantInt(&divisor)) || divisor.getBitWidth() > 64)
    return;
  if (!divisor.isZero() && holds(rem->getOperand(0)))
    assumed[rem->getOperand(0)].multiple = axis::PowerOfTwoIn(divisor.getSExtValue());
}

llvm::DenseMap<Value, Assumed> AssumptionsOf(FunctionOpInterface function) {
  llvm::DenseMap<Value, Assumed> assumed;
  Block* entry = &function.getFunctionBody().front();
  function->walk([&](Operation* op) {
    if (op->getName().getStringRef() == "llvm.intr.assume" && op->getNumOperands() != 0)
      AddAssumption(*op, op->getBlock() == entry, assumed);
  });
  return assumed;
}

class Solver final {
 public:
  Solver(mlir::ModuleOp module, AxisInfoAnalysis::LoadMasks masks, InfoMap& infos) : masks_(masks), infos_(infos) {
    FindCalls(module);
  }

  void Run() {
    for (FunctionOpInterface function : CallersFirst()) VisitFunction(function);
  }

 private:
  void FindCalls(mlir::ModuleOp module) {
    for (auto function : module.getOps<FunctionOpInterface>()) functions_[function.getNameAttr()] = function;
    for (auto& [name, function] : functions_) {
      Operation* caller = function;
      caller->walk([&](mlir::CallOpInterface call) {
        if (FunctionOpInterface callee = CalleeOf(call)) callees_[caller].insert(callee);
      });
      for (Operation* callee : callees_[caller]) ++num_callers_[callee];
    }
  }

  FunctionOpInterface CalleeOf(mlir::CallOpInterface call) {
    auto symbol = llvm::dyn_cast<mlir::SymbolRefAttr>(call.getCallableForCallee());
    return symbol ? functions_.lookup(symbol.getLeafReference()) : FunctionOpInterface();
  }

  // Each function after all that call it; those that call themselves, directly or not, come last.
  llvm::SmallVector<FunctionOpInterface> CallersFirst() {
    llvm::SmallVector<FunctionOpInterface> order;
    llvm::DenseMap<Operation*, int> waiting = num_callers_;
    for (auto& [name, function] : functions_) {
      if (waiting.lookup(function) == 0) order.push_back(function);
    }
    for (size_t i = 0; i < order.size(); ++i) {
      for (Operation* callee : callees_[order[i]]) {
        if (--waiting[callee] == 0) order.push_back(llvm::cast<FunctionOpInterface>(callee));
      }
    }
    for (auto& [name, function] : functions_) {
      if (waiting.lookup(function) == 0) continue;
      order.push_back(function);
      recursive_.insert(function);
    }
    return order;
  }

  void VisitFunction(FunctionOpInterface function) {
    if (function.isExternal()) return;
    Block& entry = function.getFunctionBody().front();
    assumed_ = AssumptionsOf(function);
    // A function that is only called gets what its callers pass; one that may be launched also what its caller
    // promises.
    bool known_calls = num_callers_.lookup(function) != 0 && !recursive_.contains(function);
    bool launched = !function.isPrivate() || !known_calls;
    for (mlir::BlockArgument argument : entry.getArguments()) {
      AxisInfo info = UnknownOf(argument.getType());
      ApplyHints(info, [&](llvm::StringRef name) { return function.getArgAttr(argument.getArgNumber(), name); });
      if (recursive_.contains(function)) info = UnknownOf(argument.getType());
      if (launched) Meet(argument, info);
      // No call was reached: the function does not run.
      if (!infos_.count(argument)) Meet(argument, UnknownOf(argument.getType()));
      Strengthen(argument, infos_[argument]);
    }
    VisitRegion(function.getFunctionBody());
  }

  // The blocks of `region` in reverse post-order, again while a branch backwards brings news.
  void VisitRegion(Region& region) {
    if (region.hasOneBlock()) {
      VisitBlock(region.front());
      return;
    }
    llvm::ReversePostOrderTraversal<Region*> order(&region);
    llvm::DenseMap<Block*, int> position;
    for (Block* block : order) position.try_emplace(block, position.size());
    for (bool again = true; again;) {
      again = false;
      for (Block* block : order) {
        VisitBlock(*block);
        auto branch = llvm::dyn_cast<mlir::BranchOpInterface>(block->getTerminator());
        for (unsigned i = 0; branch && i < branch->getNumSuccessors(); ++i) {
          Block* target = branch->getSuccessor(i);
          bool news = MeetSuccessor(branch.getSuccessorOperands(i), target);
          again |= news && position[target] <= position[block];
        }
      }
    }
  }

  bool MeetSuccessor(const mlir::SuccessorOperands& operands, Block* target) {
    bool news = false;
    for (unsigned i = 0; i < operands.size(); ++i) {
      mlir::BlockArgument argument = target->getArgument(i);
      news |= operands[i] ? MeetValue(argument, operands[i]) : Meet(argument, UnknownOf(argument.getType()));
    }
    return news;
  }

  void VisitBlock(Block& block) {
    for (Operation& op : block) {
      if (auto branch = llvm::dyn_cast<mlir::RegionBranchOpInterface>(&op)) {
        VisitRegions(branch);
      } else if (auto call = llvm::dyn_cast<mlir::CallOpInterface>(&op)) {
        VisitCall(call);
      } else if (auto start = llvm::dyn_cast<ttg::StartPartitionsOp>(&op)) {
        VisitPartitions(start);
      } else if (op.getNumResults() != 0) {
        VisitPlain(op);
      }
    }
  }

  void VisitPlain(Operation& op) {
    llvm::SmallVector<AxisInfo, 4> operands;
    for (Value operand : op.getOperands()) operands.push_back(Lookup(operand));
    if (llvm::isa<tt::LoadOp>(op) && masks_ == AxisInfoAnalysis::LoadMasks::kIgnored) operands.resize(1);
    std::optional<AxisInfo> info = axis::TransferShape(&op, operands);
    if (!info) info = axis::TransferArithmetic(&op, operands);
    const bool non_negative = axis::IsNonNegative(&op, operands) && !IsHash(op, operands);
    for (Value result : op.getResults()) {
      AxisInfo known = info && op.getNumResults() == 1 ? *info : SplitOrUnknown(op, result, info);
      known.non_negative = non_negative;
      Set(result, std::move(known));
    }
  }

  // Notes the factors of the result on the way.
  bool IsHash(Operation& op, llvm::ArrayRef<AxisInfo> operands) {
    llvm::SmallVector<int> factors;
    for (Value operand : op.getOperands().take_front(operands.size())) factors.push_back(factors_.lookup(operand));
    const int bits = axis::FactorBits(&op, operands, factors);
    if (bits > 0) factors_[op.getResult(0)] = bits;
    return bits > 0 && axis::IsHash(bits, axis::WidthOf(op.getResult(0).getType()));
  }

  // Of operations with several results only tt.split has facts, the same for both.
  static AxisInfo SplitOrUnknown(Operation& op, Value result, const std::optional<AxisInfo>& info) {
    return info && llvm::isa<tt::SplitOp>(op) ? *info : UnknownOf(result.getType());
  }

  void VisitCall(mlir::CallOpInterface call) {
    if (FunctionOpInterface callee = CalleeOf(call); callee && !callee.isExternal() && !recursive_.contains(callee)) {
      Block& entry = callee.getFunctionBody().front();
      for (auto [argument, operand] : llvm::zip(entry.getArguments(), call.getArgOperands())) {
        MeetValue(argument, operand);
      }
    }
    for (Value result : call->getResults()) Set(result, UnknownOf(result.getType()));
  }

  void VisitPartitions(ttg::StartPartitionsOp op) {
    for (Region& region : op.getPartitionRegions()) {
      for (auto [argument, capture] : llvm::zip(region.getArguments(), op.getCaptures())) MeetValue(argument, capture);
      VisitRegion(region);
    }
  }

  void VisitRegions(mlir::RegionBranchOpInterface op) {
    if (auto loop = llvm::dyn_cast<mlir::scf::ForOp>(op.getOperation())) SetInductionVariable(loop);
    llvm::SetVector<Region*> pending;
    llvm::SmallPtrSet<Region*, 2> visited;
    llvm::SmallVector<mlir::RegionSuccessor, 2> successors;
    auto flow = [&](mlir::RegionBranchPoint from, auto operands_to) {
      successors.clear();
      op.getSuccessorRegions(from, successors);
      for (mlir::RegionSuccessor& successor : successors) {
        bool news = false;
        for (auto [input, operand] : llvm::zip(successor.getSuccessorInputs(), operands_to(successor))) {
          news |= MeetValue(input, operand);
        }
        Region* region = successor.getSuccessor();
        if (region && (news || !visited.contains(region))) pending.insert(region);
      }
    };
    flow(mlir::RegionBranchPoint::parent(), [&](auto& to) { return op.getEntrySuccessorOperands(to); });
    while (!pending.empty()) {
      Region* region = pending.pop_back_val();
      if (region->empty()) continue;
      visited.insert(region);
      FillArguments(*region);
      VisitRegion(*region);
      for (Block& block : *region) {
        auto terminator = llvm::dyn_cast<mlir::RegionBranchTerminatorOpInterface>(block.getTerminator());
        if (terminator)
          flow(mlir::RegionBranchPoint(terminator), [&](auto& to) { return terminator.getSuccessorOperands(to); });
      }
    }
    for (Value result : op->getResults()) {
      if (!infos_.count(result)) Meet(result, UnknownOf(result.getType()));
      Strengthen(result, infos_[result]);
    }
  }

  // Arguments that no predecessor feeds, such as the counters of loops that this analysis does not know.
  void FillArguments(Region& region) {
    for (mlir::BlockArgument argument : region.getArguments()) {
      if (!infos_.count(argument)) Meet(argument, UnknownOf(argument.getType()));
    }
  }

  void SetInductionVariable(mlir::scf::ForOp loop) {
    AxisInfo info = Unknown(1);
    info.dims[0].divisibility = std::min(axis::ValueDivisibility(Lookup(loop.getLowerBound()), 1),
                                         axis::ValueDivisibility(Lookup(loop.getStep()), 1));
    info.non_negative = Lookup(loop.getLowerBound()).non_negative;
    Meet(loop.getInductionVar(), info);
  }

  AxisInfo Lookup(Value value) const {
    auto found = infos_.find(value);
    return found == infos_.end() ? UnknownOf(value.getType()) : found->second;
  }

  void Strengthen(Value value, AxisInfo& info) {
    if (Operation* op = value.getDefiningOp()) {
      if (!op->getDiscardableAttrs().empty()) {
        ApplyHints(info, [&](llvm::StringRef name) { return op->getDiscardableAttr(name); });
      }
    }
    if (auto found = assumed_.find(value); found != assumed_.end()) {
      if (info.Rank() == 1) info.dims[0].divisibility = std::max(info.dims[0].divisibility, found->second.multiple);
      info.non_negative |= found->second.non_negative;
    }
    axis::Normalise(info);
  }

  void Set(Value value, AxisInfo info) {
    Strengthen(value, info);
    infos_[value] = std::move(info);
  }

  // Joins `info` into what is known about `value`; true when that changed it.
  bool Meet(Value value, const AxisInfo& info) {
    auto [known, added] = infos_.try_emplace(value, info);
    if (added) return true;
    AxisInfo joined = Join(known->second, info, StepOf(value.getType()));
    axis::Normalise(joined);
    if (joined == known->second) return false;
    known->second = std::move(joined);
    return true;
  }

  // Joins what is known about `from` into what is known about `to`; true when that changed it.
  bool MeetValue(Value to, Value from) {
    bool news = Meet(to, Lookup(from));
    if (const int bits = factors_.lookup(from); bits > factors_.lookup(to)) {
      factors_[to] = bits;
      news = true;
    }
    return news;
  }

  const AxisInfoAnalysis::LoadMasks masks_;
  InfoMap& infos_;
  llvm::MapVector<mlir::StringAttr, FunctionOpInterface> functions_;
  llvm::DenseMap<Operation*, llvm::SetVector<Operation*>> callees_;
  llvm::DenseMap<Operation*, int> num_callers_;
  llvm::SmallPtrSet<Operation*, 4> recursive_;
  llvm::DenseMap<Value, Assumed> assumed_;
  llvm::DenseMap<Value, int> factors_;  // axis::FactorBits, where there are some
};

int64_t SizeOf(Value value, unsigned dim) { return ShapeOf(value.getType())[dim]; }

}  // namespace

// A divisibility is one of groups as long as the contiguity. So both are said, also where one was.
void PromiseAxisInfo(Operation* op, AxisInfo info) {
  constexpr int64_t kMost = int64_t{1} << 30;  // of 32 bits
  ApplyHints(info, [&](llvm::StringRef name) { return op->getDiscardableAttr(name); });
  mlir::Builder b(op->getContext());
  for (const auto& [name, fact] : kHints) {
    llvm::SmallVector<int32_t> numbers;
    for (const AxisDim& dim : info.dims) numbers.push_back(static_cast<int32_t>(std::min(dim.*fact, kMost)));
    if (!llvm::all_of(numbers, [](int32_t number) { return number == 1; }))
      op->setAttr(name, b.getI32TensorAttr(numbers));
  }
}

AxisInfoAnalysis::AxisInfoAnalysis(mlir::ModuleOp module, LoadMasks masks) { Solver(module, masks, infos_).Run(); }

AxisInfo AxisInfoAnalysis::Get(Value value) const {
  auto found = infos_.find(value);
  return found == infos_.end() ? UnknownOf(value.getType()) : found->second;
}

int AxisInfoAnalysis::PointerContiguity(Value ptr, unsigned dim) const {
  AxisDim known = Get(ptr).dims[dim];
  int64_t aligned = std::max<int64_t>(1, known.divisibility / StepOf(ptr.getType()));
  return std::min({known.contiguity, aligned, SizeOf(ptr, dim)});
}

int AxisInfoAnalysis::PointerAlignment(Value ptr, unsigned dim) const {
  return std::min(Get(ptr).dims[dim].divisibility, int64_t{1} << 30);
}

int AxisInfoAnalysis::MaskConstancy(Value mask, unsigned dim) const {
  return std::min(Get(mask).dims[dim].constancy, SizeOf(mask, dim));
}

// An index that runs on and a bound that stays, along `dim`: in groups of as many neighbours the comparison changes
// once at most. 1 where it may change more often. An index may equal a value in the middle of a group. An index without
// a sign, or of less than 32 bits, may wrap around there. Groups that begin at multiples of their size are the
// exception. Indices of 32 bits and more do not reach their largest number, which contiguous addresses take for granted
// as well.
int AxisInfoAnalysis::ComparisonSpan(mlir::arith::CmpIOp compare, unsigned dim) const {
  using Predicate = mlir::arith::CmpIPredicate;
  const Predicate predicate = compare.getPredicate();
  if (predicate == Predicate::eq || predicate == Predicate::ne) return 1;
  const bool is_signed = predicate == Predicate::slt || predicate == Predicate::sle || predicate == Predicate::sgt ||
                         predicate == Predicate::sge;
  mlir::Type element = mlir::getElementTypeOrSelf(compare.getLhs().getType());
  const bool may_wrap = !is_signed || element.getIntOrFloatBitWidth() < 32;
  auto span = [&](const AxisDim& index, const AxisDim& bound) {
    const int64_t group = std::min(index.contiguity, bound.constancy);
    return may_wrap ? std::min(group, index.divisibility) : group;
  };
  AxisDim x = Get(compare.getLhs()).dims[dim], y = Get(compare.getRhs()).dims[dim];
  return static_cast<int>(std::min(std::max(span(x, y), span(y, x)), SizeOf(compare, dim)));
}

// Whether numbers are compared with another one that few of them equal. Truth values are numbers, too: those are short,
// or compared with zero.
static bool SeldomFails(mlir::arith::CmpIOp compare) {
  constexpr unsigned kNumberBits = 32;
  if (compare.getPredicate() != mlir::arith::CmpIPredicate::ne) return false;
  mlir::Type element = mlir::getElementTypeOrSelf(compare.getLhs().getType());
  return element.getIntOrFloatBitWidth() >= kNumberBits &&
         !llvm::any_of(compare->getOperands(), [](Value x) { return mlir::matchPattern(x, mlir::m_Zero()); });
}

// The neighbours along `dim` that are compared with one value.
int AxisInfoAnalysis::SharedSpan(mlir::arith::CmpIOp compare, unsigned dim) const {
  const int64_t x = Get(compare.getLhs()).dims[dim].constancy, y = Get(compare.getRhs()).dims[dim].constancy;
  return static_cast<int>(std::min(std::max(x, y), SizeOf(compare, dim)));
}

int AxisInfoAnalysis::SpanOf(Value mask, unsigned dim, bool is_likely) const {
  int constancy = MaskConstancy(mask, dim), size = SizeOf(mask, dim);
  Operation* made = mask.getDefiningOp();
  if (!made) return constancy;
  auto span_of = [&](Value source, unsigned along) { return SpanOf(source, along, is_likely); };
  int span = llvm::TypeSwitch<Operation*, int>(made)
                 .Case([&](ttg::ConvertLayoutOp convert) { return span_of(convert.getSrc(), dim); })
                 .Case([&](tt::BlockMaskOp block) { return span_of(block.getMask(), dim); })
                 .Case([&](tt::BroadcastOp broadcast) {
                   return SizeOf(broadcast.getSrc(), dim) == size ? span_of(broadcast.getSrc(), dim) : size;
                 })
                 .Case([&](tt::ExpandDimsOp expand) {
                   return dim == expand.getAxis() ? 1 : span_of(expand.getSrc(), dim - (dim > expand.getAxis()));
                 })
                 .Case([&](mlir::arith::AndIOp both) {
                   return std::min(span_of(both.getLhs(), dim), span_of(both.getRhs(), dim));
                 })
                 .Case([&](mlir::arith::CmpIOp compare) {
                   return is_likely && SeldomFails(compare) ? SharedSpan(compare, dim) : ComparisonSpan(compare, dim);
                 })
                 .Default([](Operation*) { return 1; });
  return std::max(constancy, span);
}

int AxisInfoAnalysis::MaskSpan(Value mask, unsigned dim) const { return SpanOf(mask, dim, /*is_likely=*/false); }

int AxisInfoAnalysis::MaskLikelySpan(Value mask, unsigned dim) const { return SpanOf(mask, dim, /*is_likely=*/true); }

int AxisInfoAnalysis::MaskTurns(Value mask, unsigned dim, int group) const {
  if (MaskConstancy(mask, dim) >= group) return 0;
  return llvm::TypeSwitch<Operation*, int>(mask.getDefiningOp())
      .Case([&](ttg::ConvertLayoutOp convert) { return MaskTurns(convert.getSrc(), dim, group); })
      .Case([&](tt::BlockMaskOp block) { return MaskTurns(block.getMask(), dim, group); })
      .Case([&](tt::BroadcastOp broadcast) { return MaskTurns(broadcast.getSrc(), dim, group); })
      .Case([&](tt::ExpandDimsOp expand) { return MaskTurns(expand.getSrc(), dim - (dim > expand.getAxis()), group); })
      .Case([&](mlir::arith::AndIOp both) {
        return MaskTurns(both.getLhs(), dim, group) + MaskTurns(both.getRhs(), dim, group);
      })
      .Default([](Operation*) { return 1; });
}

}  // namespace tritond::compiler
