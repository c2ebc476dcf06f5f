// SPDX-License-Identifier: Apache-2.0
// Encodings as labels of a graph.
//
// A node is a tensor, or a set of tensors that must have one encoding. Such a set is the results of an operation, or a
// loop's iteration argument and its result. An edge leads from an operand to what follows from it: the results of its
// operation, the block argument that it is passed to. Labels travel along edges in both directions:
//
//   1. forward from anchors, operations that keep their encodings: what is computed from a load stays where it was
//      loaded. Where two labels meet, the better one wins and travels on: matrix instructions before memory, then the
//      one under which threads hold fewer copies of the same elements and compute each less often, then the one that
//      more elements are accessed under (each loop around counts eightfold).
//   2. backward from users, for what no anchor reaches: indices, masks, constants. They are made where they are wanted.
//   3. both again, from splits whose operand has a label under which lanes or warps hold the elements of a pair. An
//   exchange then serves the splits after them, too (pair_encoding.h).
//   4. both again, from narrow loads, then from narrow stores and reductions to a scalar that are still without a
//   label:
//      any encoding suits them, so they take part of their neighbours' first. A store keeps its own where that pays for
//      a conversion (store_cost.h). What then has no label keeps its encoding.
//
// Constants, ranges and splats take labels from their users and pass none on: what one branch wants of a constant says
// nothing about another. Users with other labels make it again.
//
// Forward over a broadcast or a join, a label becomes one under which lanes with copies of the operand share what is
// made of it.
//
// A label is accepted only if the operations that make the node can yield it, and threads do not all make the same by
// it, or call long functions for the same, or load the same in a loop again and again. Then every type changes to its
// label, and an edge whose ends disagree gets a conversion. An old conversion is an operation as any other: once both
// its ends have one label, it is gone.
//
//   %v = tt.load %p : …, #load                           %v = tt.load %p : …, #load
//   %w = ttg.convert_layout %v : #load -> #default       %y = arith.addf %v, %v : …, #load
//   %y = arith.addf %w, %w : …, #default           =>    tt.store %q, %y : …, #load
//   %z = ttg.convert_layout %y : #default -> #load
//   tt.store %q, %z : …, #load
#include "compiler/encoding/layout_propagation.h"

#include <vector>

#include "compiler/analysis/axis_info.h"
#include "compiler/encoding/conversion_cost.h"
#include "compiler/encoding/encoding_rules.h"
#include "compiler/encoding/operand_reader.h"
#include "compiler/encoding/pair_encoding.h"
#include "compiler/encoding/store_cost.h"
#include "compiler/ir/encodings.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tritond::compiler {
namespace {

using mlir::Attribute;
using mlir::Operation;
using mlir::OpOperand;
using mlir::RankedTensorType;
using mlir::Value;

// Of a thread, for what other threads make too.
constexpr int64_t kMostCopiedRegisters = 32;
// Of a loop whose length nothing tells.
constexpr double kIterations = 8;

RankedTensorType TensorType(Value value) { return llvm::dyn_cast<RankedTensorType>(value.getType()); }

// The encoding that slices and dot operands derive from.
Attribute BaseOf(Attribute encoding) {
  while (true) {
    if (auto slice = llvm::dyn_cast<ttg::SliceEncodingAttr>(encoding))
      encoding = slice.getParent();
    else if (auto operand = llvm::dyn_cast<ttg::DotOperandEncodingAttr>(encoding))
      encoding = operand.getParent();
    else
      return encoding;
  }
}

void SetEncoding(Value value, Attribute encoding) {
  RankedTensorType type = TensorType(value);
  if (type.getEncoding() == encoding) return;
  auto changed = RankedTensorType::get(type.getShape(), type.getElementType(), encoding);
  value.setType(changed);
  if (auto constant = value.getDefiningOp<mlir::arith::ConstantOp>())
    constant.setValueAttr(llvm::cast<mlir::DenseElementsAttr>(constant.getValue()).reshape(changed));
}

// Where control flow passes an operand to.
class Flows final {
 public:
  explicit Flows(tt::FuncOp func) {
    func.walk([&](Operation* op) {
      if (auto branch = llvm::dyn_cast<mlir::RegionBranchOpInterface>(op)) AddRegions(branch);
      if (auto branch = llvm::dyn_cast<mlir::BranchOpInterface>(op)) AddBlocks(branch);
    });
  }

  // Empty for operands that no branch passes on.
  llvm::ArrayRef<Value> Targets(OpOperand& operand) const {
    auto found = targets_.find(&operand);
    return found == targets_.end() ? llvm::ArrayRef<Value>() : found->second;
  }
  bool IsTarget(Value value) const { return is_target_.contains(value); }

 private:
  void AddRegions(mlir::RegionBranchOpInterface branch) {
    llvm::SmallVector<mlir::RegionSuccessor> successors;
    branch.getSuccessorRegions(mlir::RegionBranchPoint::parent(), successors);
    for (mlir::RegionSuccessor& successor : successors)
      Add(branch, branch.getEntrySuccessorOperands(successor), successor.getSuccessorInputs());
    for (mlir::Region& region : branch->getRegions()) {
      successors.clear();
      branch.getSuccessorRegions(region, successors);
      for (mlir::Block& block : region)
        if (auto end = llvm::dyn_cast<mlir::RegionBranchTerminatorOpInterface>(block.getTerminator()))
          for (mlir::RegionSuccessor& successor : successors)
            Add(end, end.getSuccessorOperands(successor), successor.getSuccessorInputs());
    }
  }

  void AddBlocks(mlir::BranchOpInterface branch) {
    for (auto [i, block] : llvm::enumerate(branch->getSuccessors())) {
      mlir::SuccessorOperands operands = branch.getSuccessorOperands(i);
      Add(branch, operands.getForwardedOperands(),
          block->getArguments().drop_front(operands.getProducedOperandCount()));
    }
  }

  void Add(Operation* op, mlir::OperandRange operands, mlir::ValueRange inputs) {
    if (operands.empty()) return;
    unsigned first = operands.getBeginOperandIndex();
    for (auto [i, input] : llvm::enumerate(inputs.take_front(operands.size()))) {
      targets_[&op->getOpOperand(first + i)].push_back(input);
      is_target_.insert(input);
    }
  }

  llvm::DenseMap<OpOperand*, llvm::SmallVector<Value, 2>> targets_;
  llvm::DenseSet<Value> is_target_;
};

class EncodingGraph final {
 public:
  explicit EncodingGraph(tt::FuncOp func) : func_(func), flows_(func) {
    AddNodes();
    AddEdges();
  }

  void Label() {
    Spread(/*forward=*/true);
    for (auto [operand, encoding] : demands_)
      if (!IsWrittenByAll(*operand, encoding)) Offer(NodeOf(operand->get()), encoding);
    Spread(/*forward=*/false);
    for (tt::SplitOp split : splits_) OfferPairs(split);
    for (const std::vector<int>& nodes : {narrow_loads_, uniform_}) {
      for (int node : nodes) Offer(node, nodes_[node].original);
      Spread(/*forward=*/true);
      Spread(/*forward=*/false);
    }
  }

  void Apply() {
    for (auto [value, node] : values_) SetEncoding(value, Encoding(node));
    for (const Edge& edge : edges_)
      if (!llvm::isa<ttg::ConvertLayoutOp>(edge.operand->getOwner())) Convert(*edge.operand, Needed(edge));
    for (auto [operand, encoding] : demands_) Convert(*operand, encoding);
    func_.walk([](ttg::ConvertLayoutOp convert) {
      if (convert.getSrc().getType() != convert.getType()) return;
      convert.replaceAllUsesWith(convert.getSrc());
      convert.erase();
    });
  }

 private:
  struct Node {
    RankedTensorType type;  // of one of its tensors
    Attribute original;
    Operation* loop;  // that makes or carries it
    Attribute label{};
    bool settled = false;  // labelled in an earlier step
    llvm::SmallVector<int, 4> in{}, out{};
  };
  struct Edge {
    OpOperand* operand;
    int from, to;
    bool tied;  // by the rule of the operand's owner; otherwise both ends have one encoding
  };
  using Rank = std::tuple<bool, int64_t, int64_t>;

  void AddNodes() {
    func_.walk<mlir::WalkOrder::PreOrder>([&](Operation* op) {
      for (Value result : op->getResults()) AddValue(result);
      for (mlir::Region& region : op->getRegions())
        for (mlir::Block& block : region)
          for (Value argument : block.getArguments()) AddValue(argument);
    });
    func_.walk([&](Operation* op) {
      if (EncodingRuleOf(op) == EncodingRule::kTied)
        for (Value result : op->getResults().drop_front(std::min(1u, op->getNumResults())))
          Unite(op->getResult(0), result);
      for (OpOperand& operand : op->getOpOperands()) {
        llvm::ArrayRef<Value> targets = flows_.Targets(operand);
        for (size_t i = 1; i < targets.size(); ++i) Unite(targets[0], targets[i]);
      }
    });
  }

  void AddValue(Value value) {
    RankedTensorType type = TensorType(value);
    if (!type || !type.getEncoding()) return;
    mlir::Region* region = value.getParentRegion();
    auto loop = value.getDefiningOp<mlir::LoopLikeOpInterface>();
    if (!loop) loop = region->getParentOfType<mlir::LoopLikeOpInterface>();
    values_.insert({value, NewNode(type, type.getEncoding(), loop)});
  }

  int NewNode(RankedTensorType type, Attribute original, Operation* loop = nullptr) {
    nodes_.push_back({type, original, loop});
    parents_.push_back(parents_.size());
    return nodes_.size() - 1;
  }

  int Find(int node) {
    while (parents_[node] != node) node = parents_[node] = parents_[parents_[node]];
    return node;
  }

  // The node of a value, -1 for scalars.
  int NodeOf(Value value) {
    auto found = values_.find(value);
    return found == values_.end() ? -1 : Find(found->second);
  }

  void Unite(Value a, Value b) {
    int first = NodeOf(a), second = NodeOf(b);
    if (first >= 0 && second >= 0) parents_[std::max(first, second)] = std::min(first, second);
  }

  void AddEdges() {
    Anchor(func_);
    func_.walk([&](Operation* op) {
      if (op == func_.getOperation()) return;
      has_calls_ |= llvm::isa<tt::ExternElementwiseOp>(op);
      EncodingRule rule = EncodingRuleOf(op);
      int uniform = -1;
      for (OpOperand& operand : op->getOpOperands()) {
        int from = NodeOf(operand.get());
        if (from < 0) continue;
        llvm::ArrayRef<Value> targets = flows_.Targets(operand);
        if (!targets.empty()) {
          AddEdge(operand, from, NodeOf(targets[0]), false);
        } else if (rule == EncodingRule::kFixed) {
          demands_.push_back({&operand, nodes_[from].original});
        } else if (rule == EncodingRule::kTied && !TakesAnyEncoding(operand)) {
          AddEdge(operand, from, NodeOf(op->getResult(0)), true);
        } else if (rule == EncodingRule::kUniform) {
          if (uniform < 0) uniform_.push_back(uniform = NewNode(nodes_[from].type, nodes_[from].original));
          if (auto store = llvm::dyn_cast<tt::StoreOp>(op)) stores_[uniform] = store;
          AddEdge(operand, from, uniform, false);
        }
      }
      if (auto split = llvm::dyn_cast<tt::SplitOp>(op)) splits_.push_back(split);
      if (rule == EncodingRule::kTied && llvm::isa<tt::LoadOp>(op) && NodeOf(op->getResult(0)) >= 0)
        narrow_loads_.push_back(NodeOf(op->getResult(0)));
      if (rule == EncodingRule::kFixed) Anchor(op);
      if (rule == EncodingRule::kFree && op->getNumResults() == 1) free_.insert(NodeOf(op->getResult(0)));
    });
  }

  void AddEdge(OpOperand& operand, int from, int to, bool tied) {
    nodes_[from].out.push_back(edges_.size());
    nodes_[to].in.push_back(edges_.size());
    edges_.push_back({&operand, from, to, tied});
  }

  // Results, and block arguments that no known control flow feeds, keep their encodings.
  void Anchor(Operation* op) {
    llvm::SmallVector<Value> kept(op->getResults());
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& block : region) llvm::append_range(kept, block.getArguments());
    Value voter;
    for (Value value : kept) {
      int node = NodeOf(value);
      if (node < 0 || flows_.IsTarget(value)) continue;
      nodes_[node].label = nodes_[node].original;
      nodes_[node].settled = true;
      if (!voter) voter = value;
    }
    for (OpOperand& operand : op->getOpOperands())
      if (!voter && NodeOf(operand.get()) >= 0 && flows_.Targets(operand).empty()) voter = operand.get();
    if (voter && op != func_.getOperation()) Vote(voter, op);
  }

  void Vote(Value value, Operation* op) {
    int64_t weight = int64_t{1} << (3 * std::min(LoopDepth(op->getBlock()), 6));
    votes_[BaseOf(nodes_[NodeOf(value)].original)] += weight * TensorType(value).getNumElements();
  }

  Rank RankOf(const Node& node, Attribute label) {
    Attribute base = BaseOf(label);
    auto votes = votes_.find(base);
    return {!llvm::isa<ttg::BlockedEncodingAttr, ttg::LinearEncodingAttr>(base), -Copies(node.type, label),
            votes == votes_.end() ? 0 : votes->second};
  }

  // How often a thread holds more elements than it has to. Not of tensors with less elements than threads, of which
  // there are always copies.
  int64_t Copies(RankedTensorType type, Attribute label) {
    return IsNarrow(type) ? 1 : costs_.Registers(type, label) * Threads() / type.getNumElements();
  }

  int64_t Threads() { return int64_t{ttg::NumWarps(func_)} * ttg::ThreadsPerWarp(func_); }
  bool IsNarrow(RankedTensorType type) { return type.getNumElements() < Threads(); }

  // Whether each thread would make far more of the tensor than its share: a conversion costs less than that.
  bool CopiesMuch(const Node& node, Attribute label) {
    const int64_t more = costs_.Registers(node.type, label) - costs_.Registers(node.type, node.original);
    return more > kMostCopiedRegisters && Copies(node.type, label) > Copies(node.type, node.original);
  }

  // Whether threads would call a function for elements that others call it for, too, and that takes more than a
  // conversion. The call may be on the way to the node, where no label has come yet. Other operations are short.
  bool CopiesCalls(int index, Attribute label) {
    RankedTensorType type = nodes_[index].type;
    const Attribute own = nodes_[index].original;
    if (!has_calls_ || Copies(type, label) <= Copies(type, own)) return false;
    double longest = 0;
    llvm::SetVector<int> made;
    made.insert(index);
    for (size_t next = 0; next < made.size(); ++next) {
      for (int in : nodes_[made[next]].in) {
        const Edge& edge = edges_[in];
        const Node& from = nodes_[edge.from];
        if (!edge.tied) continue;
        if (auto call = llvm::dyn_cast<tt::ExternElementwiseOp>(edge.operand->getOwner()))
          longest = std::max(longest, CostModel::ElementCost(call).value_or(0));
        if (!from.label && from.type.getShape() == type.getShape()) made.insert(edge.from);
      }
    }
    const int64_t more = costs_.Registers(type, label) - costs_.Registers(type, own);
    return static_cast<double>(more) * longest > costs_.Conversion(type.cloneWithEncoding(own), label);
  }

  // Whether the operand of a dot comes through shared memory, into which several threads would each write an element
  // that each has computed.
  bool IsWrittenByAll(OpOperand& operand, Attribute label) {
    return ReaderOf(TensorType(operand.get()).cloneWithEncoding(label)) != OperandReader::kThread &&
           Copies(TensorType(operand.get()), label) > 1;
  }

  bool CanYield(int node, Attribute label) {
    return !CopiesMuch(nodes_[node], label) && !CopiesCalls(node, label) && !MultipliesLoads(nodes_[node], label) &&
           llvm::all_of(nodes_[node].in, [&](int index) {
             const Edge& edge = edges_[index];
             if (!edge.tied) return true;
             const Attribute operand = TiedOperandEncoding(*edge.operand, label);
             return operand && !CopiesMuch(nodes_[edge.from], operand) && !CopiesCalls(edge.from, operand) &&
                    SuitsReduction(edge, operand, label);
           });
  }

  // Where the result of a reduction is in all threads alike, that says nothing about its operand. Few elements are
  // spread over lanes then, unless these exchange more than a thread does by itself.
  bool SuitsReduction(const Edge& edge, Attribute operand, Attribute label) {
    auto reduce = llvm::dyn_cast<tt::ReduceOp>(edge.operand->getOwner());
    const Node& from = nodes_[edge.from];
    if (!reduce || !IsNarrow(from.type)) return true;
    const Attribute spread = TiedResultEncoding(*edge.operand, from.original);
    auto result = llvm::cast<RankedTensorType>(reduce.getResult()[0].getType()).cloneWithEncoding(spread);
    auto cost = [&](Attribute encoding) {
      return costs_.Elements(from.type, encoding) + costs_.Reduction(reduce, encoding);
    };
    return costs_.Conversion(result, label) > 0 || cost(operand) <= cost(from.original);
  }

  void Offer(int index, Attribute label) {
    Node& node = nodes_[index];
    if (node.settled || !label || node.label == label) return;
    if (node.label && !(RankOf(node, node.label) < RankOf(node, label))) return;
    if (!CanYield(index, label) || !SuitsStore(index, label)) return;
    node.label = label;
    work_.push_back(index);
  }

  // A narrow store takes any label, unless a conversion to its own encoding costs less than what the label does to it.
  // Not in a loop, in each iteration of which the warps would wait for each other.
  bool SuitsStore(int index, Attribute label) {
    auto found = stores_.find(index);
    const Attribute own = nodes_[index].original;
    if (found == stores_.end() || label == own || LoopDepth(found->second->getBlock()) > 0) return true;
    if (!axes_) axes_.emplace(func_->getParentOfType<mlir::ModuleOp>());
    RankedTensorType type = TensorType(found->second.getValue());
    auto labelled = RankedTensorType::get(type.getShape(), type.getElementType(), label);
    return StoreCost(found->second, label, *axes_) <=
           StoreCost(found->second, own, *axes_) + costs_.Conversion(labelled, own);
  }

  // From the operand's label to the results, which nothing else gives one.
  void OfferPairs(tt::SplitOp split) {
    const int from = NodeOf(split.getSrc()), to = NodeOf(split.getOutLHS());
    if (from < 0 || to < 0 || !nodes_[from].label || nodes_[to].label) return;
    Offer(to, PairEncoding(split, nodes_[from].label));
    if (!nodes_[to].label) return;
    Spread(/*forward=*/true);
    Spread(/*forward=*/false);
  }

  // Whether a loop makes the node of tensors of its shape alone, of which threads would load more under the label. To
  // convert what comes out of the loop once costs less.
  bool MultipliesLoads(const Node& node, Attribute label) {
    RankedTensorType type = node.type;
    const int64_t more = costs_.Registers(type, label) - costs_.Registers(type, node.original);
    if (!node.loop || more <= 0) return false;
    double loads = 0;
    const mlir::WalkResult walked = node.loop->walk([&](Operation* op) {
      for (Value result : op->getResults())
        if (RankedTensorType made = TensorType(result); made && made.getShape() != type.getShape())
          return mlir::WalkResult::interrupt();
      auto load = llvm::dyn_cast<tt::LoadOp>(op);
      if (load && TensorType(load.getResult()) && EncodingRuleOf(op) == EncodingRule::kTied)
        loads += kIterations * CostModel::ElementCost(op).value_or(0) * static_cast<double>(more);
      return mlir::WalkResult::advance();
    });
    return !walked.wasInterrupted() && loads > costs_.Conversion(type.cloneWithEncoding(node.original), label);
  }

  void OfferAlong(const Edge& edge, bool forward) {
    Attribute label = nodes_[forward ? edge.from : edge.to].label;
    if (!edge.tied) return Offer(forward ? edge.to : edge.from, label);
    if (forward && label && llvm::isa<tt::BroadcastOp, tt::JoinOp>(edge.operand->getOwner()))
      label = SharedEncoding(edge.operand->getOwner(), label);
    if (forward)
      Offer(edge.to, TiedResultEncoding(*edge.operand, label));
    else
      Offer(edge.from, TiedOperandEncoding(*edge.operand, label));
  }

  // Spreads labels from all labelled nodes to those that had none before.
  void Spread(bool forward) {
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].label && nodes_[i].settled) work_.push_back(i);
    for (size_t next = 0; next < work_.size(); ++next) {
      int index = work_[next];
      if (forward && free_.contains(index)) continue;
      for (int edge : forward ? nodes_[index].out : nodes_[index].in) OfferAlong(edges_[edge], forward);
    }
    work_.clear();
    for (Node& node : nodes_) node.settled |= node.label != Attribute();
  }

  Attribute Encoding(int node) {
    const Node& found = nodes_[Find(node)];
    return found.label ? found.label : found.original;
  }

  // The encoding under which the operand of an edge must arrive.
  Attribute Needed(const Edge& edge) {
    Attribute have = Encoding(edge.from), yields = Encoding(edge.to);
    if (!edge.tied) return yields;
    if (AreTied(*edge.operand, have, yields)) return have;
    Attribute needed = TiedOperandEncoding(*edge.operand, yields);
    return needed ? needed : nodes_[edge.from].original;
  }

  void Convert(OpOperand& operand, Attribute encoding) {
    RankedTensorType type = TensorType(operand.get());
    if (type.getEncoding() == encoding) return;
    Operation* user = operand.getOwner();
    mlir::OpBuilder builder(user);
    auto wanted = RankedTensorType::get(type.getShape(), type.getElementType(), encoding);
    operand.set(ttg::ConvertLayoutOp::create(builder, operand.get().getLoc(), wanted, operand.get()));
  }

  tt::FuncOp func_;
  Flows flows_;
  llvm::MapVector<Value, int> values_;
  std::vector<int> parents_;  // of nodes, for their union; an operation's own nodes are never united
  CostModel costs_;
  std::vector<Node> nodes_;
  bool has_calls_ = false;  // of functions
  std::vector<Edge> edges_;
  std::vector<std::pair<OpOperand*, Attribute>> demands_;
  std::vector<tt::SplitOp> splits_;
  std::vector<int> narrow_loads_, uniform_;  // nodes to start from when nothing else reaches them
  llvm::DenseMap<int, tt::StoreOp> stores_;  // of nodes of narrow stores
  llvm::DenseSet<int> free_;                 // nodes that each user may make for itself
  std::optional<AxisInfoAnalysis> axes_;     // once it is asked for
  std::vector<int> work_;
  llvm::DenseMap<Attribute, int64_t> votes_;
};

}  // namespace

void PropagateEncodings(tt::FuncOp func) {
  EncodingGraph graph(func);
  graph.Label();
  graph.Apply();
}

}  // namespace tritond::compiler
