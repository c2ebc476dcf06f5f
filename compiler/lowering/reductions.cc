// SPDX-License-Identifier: Apache-2.0
// tt.reduce: a tree in each thread, a butterfly in each warp, then shared memory across warps.
//
// A reducible layout (IsReducible) has bases that move along the axis alone or not along it at all. It splits every
// coordinate in two. Registers, lanes and warps that move along the axis hold parts of one result, the others hold
// different results.
//   1. Registers of one result are combined in a few chains of neighbours, and these pairwise. A link of a chain adds a
//      product to a sum, which is one instruction; two products take an instruction more. Chains need no more than
//      four to keep a warp busy, and no value waits long for its turn.
//   2. For each lane bit on the axis, lanes exchange their partial results (xor shuffle) and combine; where several
//      results make it cheaper, they share the work (layout/lane_reduction.h). Or the last lane of each group alone
//      combines, and all take its result in the end, where the target moves lanes faster so.
//   3. Where W warps hold parts, each writes its partial results to scratch; after a barrier every thread reads the W
//      partials of its results and combines them. Accesses are vectors: of results where a thread holds neighbouring
//      ones (slot warp * results + result), else of the partials of one result (slot result * W + warp). With the
//      latter, lanes that hold several results each would be so many words apart, and meet in few banks.
// All threads that hold copies of a result then hold the same bits: every step combines in one order in all of them.
// Operands with several values (argmax) travel as tuples.
#include "compiler/analysis/scratch.h"
#include "compiler/layout/lane_reduction.h"
#include "compiler/lowering/lane_maps.h"
#include "compiler/lowering/shared_access.h"

namespace tritond::compiler {
namespace {

using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;

// The partial result of every operand, for one result element.
using Tuple = Values;

constexpr int kVectorBits = 128;  // of one access

// An addition is there after four cycles.
constexpr size_t kMostChains = 4, kLeastLinks = 4;

class Reduction {
 public:
  Reduction(FunctionLowering& f, tt::ReduceOp op)
      : f_(f),
        op_(op),
        layout_(f.LayoutOf(op.InputType())),
        axis_(ttg::DimNames(op.InputType().getRank())[op.getAxis()]) {
    for (const std::string& name : ttg::DimNames(op.InputType().getRank()))
      if (name != axis_) others_.push_back(name);
    for (const std::string& name : others_) other_views_.push_back(name);
  }

  LogicalResult Lower() {
    if (!IsReducible(layout_, op_.getAxis()))
      return op_.emitOpError(
          "has an encoding that mixes the axis with other dimensions; ttg-untangle-axis converts it");
    if (failed(ReduceRegisters()) || failed(ReduceLanes()) || failed(ReduceWarps())) return mlir::failure();
    return SetResults();
  }

 private:
  FailureOr<Tuple> Combine(const Tuple& x, const Tuple& y) {
    Values arguments(x);
    arguments.append(y);
    return f_.InlineRegion(op_.getCombineOp(), arguments);
  }

  LogicalResult ReduceRegisters() {
    // Registers that differ by a free bit hold one element: only the first counts.
    int copies = 0;
    for (auto [dim, mask] : llvm::zip(layout_.InDims(), layout_.FreeVariableMasks()))
      if (dim.name == "register") copies = mask;
    LinearLayout kept = layout_.Sublayout({"register"}, other_views_);
    llvm::SmallVector<llvm::SmallVector<Tuple>> parts;
    for (int r = 0; r < layout_.InSize("register"); ++r) {
      if (r & copies) continue;
      Coordinates at = kept.ApplyNamed({{"register", r}});
      auto it = llvm::find(results_at_, at);
      size_t index = it - results_at_.begin();
      if (it == results_at_.end()) results_at_.push_back(at), parts.emplace_back();
      Tuple tuple;
      for (Value src : op_.getSrcs()) tuple.push_back(f_.Get(src)[r]);
      parts[index].push_back(tuple);
    }
    for (auto& list : parts) {
      FailureOr<Tuple> sum = CombineChains(list);
      if (failed(sum)) return mlir::failure();
      partials_.push_back(*sum);
    }
    return mlir::success();
  }

  // Neighbours stay neighbours: in the order of `list`.
  FailureOr<Tuple> CombineChains(llvm::ArrayRef<Tuple> list) {
    const size_t chains = std::min(kMostChains, list.size() / kLeastLinks);
    if (chains <= 1) return CombineTree(llvm::to_vector(list));
    llvm::SmallVector<Tuple> sums;
    for (size_t i = 0; i < chains; ++i) {
      const size_t first = list.size() * i / chains, end = list.size() * (i + 1) / chains;
      sums.push_back(list[first]);
      for (const Tuple& next : list.slice(first + 1, end - first - 1)) {
        FailureOr<Tuple> sum = Combine(sums.back(), next);
        if (failed(sum)) return mlir::failure();
        sums.back() = *sum;
      }
    }
    return CombineTree(sums);
  }

  FailureOr<Tuple> CombineTree(llvm::SmallVector<Tuple> list) {
    while (list.size() > 1) {
      llvm::SmallVector<Tuple> next;
      for (size_t i = 0; i + 1 < list.size(); i += 2) {
        FailureOr<Tuple> pair = Combine(list[i], list[i + 1]);
        if (failed(pair)) return mlir::failure();
        next.push_back(*pair);
      }
      if (list.size() % 2) next.push_back(list.back());
      list = std::move(next);
    }
    return list[0];
  }

  LogicalResult ReduceLanes() {
    llvm::SmallVector<int> masks;
    for (int bit = 0; bit < layout_.InBits("lane"); ++bit)
      if (layout_.Basis("lane", bit, axis_) != 0) masks.push_back(1 << bit);
    bool whole_warp = (1 << masks.size()) == f_.target.WarpSize();
    mlir::Operation* combiner = op_.SingleCombiner();
    const bool commutes = combiner && combiner->hasTrait<mlir::OpTrait::IsCommutative>();
    // One shuffle at the end is cheaper than two choices at each of several steps.
    const bool lowest_alone = !commutes && masks.size() > 1;
    const auto shared = commutes ? TakeShared(masks) : llvm::SmallVector<int>();
    for (int mask : shared)
      if (failed(Halve(mask))) return mlir::failure();
    const LaneOrder order = ChooseOrder(masks, commutes, lowest_alone);
    for (Tuple& partial : partials_) {
      if (whole_warp && combiner && partial.size() == 1 && partial[0].getType().isInteger(32)) {
        if (auto sum = f_.target.WarpReduce(f_.e.b, f_.e.loc, combiner, partial[0])) {
          partial = {*sum};
          continue;
        }
      }
      if (failed(order == LaneOrder::kIntoLast ? ReduceIntoLast(partial, masks)
                                               : ReduceByExchanges(partial, masks, order, commutes || lowest_alone)))
        return mlir::failure();
      if (order == LaneOrder::kIntoLast) continue;
      if (lowest_alone || !f_.target.FloatsCommute()) TakeLowestLane(partial, masks, /*floats_alone=*/!lowest_alone);
    }
    for (int mask : llvm::reverse(shared)) Regain(mask);
    return mlir::success();
  }

  // Whether some exchanges take longer than others: then near lanes had better combine first, or into the last one.
  bool MovesDiffer(llvm::ArrayRef<int> masks) {
    return llvm::any_of(masks, [&](int mask) { return CostOfXor(mask) != CostOfXor(masks.front()); });
  }

  // Takes from `masks`, the highest first, those of the lanes that share the work on several results.
  llvm::SmallVector<int> TakeShared(llvm::SmallVector<int>& masks) {
    llvm::SmallVector<int> shared;
    mlir::Type type = partials_[0][0].getType();
    const bool whole_warp = (1 << masks.size()) == f_.target.WarpSize();
    if (!type.isIntOrFloat() || (whole_warp && type.isInteger(32)) || MovesDiffer(masks) || !f_.target.FloatsCommute())
      return shared;
    const double words = type.getIntOrFloatBitWidth() > 32 ? 2 : 1;
    const LaneReduction plan = PlanLaneReduction(partials_.size(), masks.size(), words, /*combine=*/1);
    for (int i = 0; i < plan.shared_bits; ++i) shared.push_back(masks.pop_back_val());
    return shared;
  }

  // i1: whether this lane has the bit of `mask`, and so goes on with the upper half of the results.
  Value TakesUpper(int mask) {
    return f_.e.Hoisted([&, lane = f_.Lane()] {
      return f_.e.Compare(mlir::LLVM::ICmpPredicate::ne, f_.e.And(lane, f_.e.Int(mask)), f_.e.Int(0));
    });
  }

  Value FromOther(Value value, int mask) {
    return f_.Shuffle(value, [&](Value word) { return f_.target.ShuffleXor(f_.e.b, f_.e.loc, word, mask); });
  }

  // This lane gives away half of its results, and combines the others with what it gets.
  LogicalResult Halve(int mask) {
    const size_t half = partials_.size() / 2;
    Value upper = TakesUpper(mask);
    for (size_t i = 0; i < half; ++i) {
      Value low = partials_[i][0], high = partials_[i + half][0];
      Value other = FromOther(f_.e.Select(upper, low, high), mask);
      FailureOr<Tuple> sum = Combine({f_.e.Select(upper, high, low)}, {other});
      if (failed(sum)) return mlir::failure();
      partials_[i] = *sum;
    }
    partials_.resize(half);
    return mlir::success();
  }

  // Takes the results of the half that was given away.
  void Regain(int mask) {
    const size_t half = partials_.size();
    Value upper = TakesUpper(mask);
    for (size_t i = 0; i < half; ++i) {
      Value mine = partials_[i][0], other = FromOther(mine, mask);
      partials_[i] = {f_.e.Select(upper, other, mine)};
      partials_.push_back({f_.e.Select(upper, mine, other)});
    }
  }

  // How lanes combine their parts of a result.
  enum class LaneOrder {
    kFarFirst,   // exchanges of all lanes, by the highest bit first
    kNearFirst,  // the same, by the lowest bit first: a group of lanes then has one value, which any of its lanes gives
    kIntoLast,   // the last lane of each group combines, by the lowest bit first; in the end all lanes take its value
  };

  // The one whose moves take the least time.
  LaneOrder ChooseOrder(llvm::ArrayRef<int> masks, bool commutes, bool lowest_alone) {
    if (masks.empty()) return LaneOrder::kFarFirst;
    const int all = UpTo(masks.back(), masks);
    int far = lowest_alone ? CostOf([&](int lane) { return lane & ~all; }) : 0, near = 0, into_last = 0;
    for (int mask : masks) {
      far += CostOfXor(mask);
      near += CostOfXor(NearestMask(mask, masks));
      into_last += CostOf([&](int lane) { return SourceIntoLast(lane, mask, masks); });
    }
    into_last += CostOf([&](int lane) { return lane | all; });
    LaneOrder best = LaneOrder::kFarFirst;
    int cost = far;
    if (commutes && f_.target.FloatsCommute() && near < cost) best = LaneOrder::kNearFirst, cost = near;
    if (into_last < cost && CombinesAnything(op_.getCombineOp())) best = LaneOrder::kIntoLast;
    return best;
  }

  int CostOf(llvm::function_ref<int(int)> source) { return f_.target.MoveCost(MapLanes(f_.target, source)); }
  int CostOfXor(int mask) {
    return CostOf([&](int lane) { return lane ^ mask; });
  }

  // Those of `masks` up to `mask`.
  static int UpTo(int mask, llvm::ArrayRef<int> masks) {
    int all = 0;
    for (int m : masks) all |= m <= mask ? m : 0;
    return all;
  }

  // Lanes that differ by lower masks have the same value: of the exchanges that serve, the cheaper one.
  int NearestMask(int mask, llvm::ArrayRef<int> masks) {
    const int mirrored = UpTo(mask, masks);
    return CostOfXor(mirrored) < CostOfXor(mask) ? mirrored : mask;
  }

  // The last lane of each group takes from the last one of the group's lower half.
  static int SourceIntoLast(int lane, int mask, llvm::ArrayRef<int> masks) {
    const int group = UpTo(mask, masks);
    return (lane & group) == group ? lane ^ mask : kAnyLane;
  }

  LogicalResult ReduceByExchanges(Tuple& partial, llvm::ArrayRef<int> masks, LaneOrder order, bool in_any_order) {
    const bool near_first = order == LaneOrder::kNearFirst;
    for (size_t i = 0; i < masks.size(); ++i) {
      const int mask = masks[near_first ? i : masks.size() - 1 - i];
      const int exchanged = near_first ? NearestMask(mask, masks) : mask;
      Tuple other;
      for (Value v : partial)
        other.push_back(
            f_.Shuffle(v, [&](Value word) { return f_.target.ShuffleXor(f_.e.b, f_.e.loc, word, exchanged); }));
      FailureOr<Tuple> sum = in_any_order ? Combine(partial, other) : CombineInLaneOrder(partial, other, mask);
      if (failed(sum)) return mlir::failure();
      partial = *sum;
    }
    return mlir::success();
  }

  LogicalResult ReduceIntoLast(Tuple& partial, llvm::ArrayRef<int> masks) {
    for (int mask : masks) {
      const LaneMap map = MapLanes(f_.target, [&](int lane) { return SourceIntoLast(lane, mask, masks); });
      Tuple earlier;
      for (Value v : partial)
        earlier.push_back(
            MoveLanes(f_, v, map, [&](Value word) { return f_.target.ShuffleXor(f_.e.b, f_.e.loc, word, mask); }));
      FailureOr<Tuple> sum = Combine(earlier, partial);
      if (failed(sum)) return mlir::failure();
      partial = *sum;
    }
    const int all = UpTo(masks.back(), masks);
    for (Value& v : partial) v = FromGroup(v, all, /*last=*/true);
    return mlir::success();
  }

  // The value of the first or the last of the lanes that differ by `group`.
  Value FromGroup(Value value, int group, bool last) {
    const LaneMap map = MapLanes(f_.target, [&](int lane) { return last ? lane | group : lane & ~group; });
    return MoveLanes(f_, value, map, [&](Value word) {
      Value from = f_.e.Hoisted(
          [&, lane = f_.Lane()] { return last ? f_.e.Or(lane, f_.e.Int(group)) : f_.e.And(lane, f_.e.Int(~group)); });
      return f_.target.ShuffleIndex(f_.e.b, f_.e.loc, word, from);
    });
  }

  // A region of one commutative operation combines the same either way round. Any other is given the lower lane's part
  // first. It comes first in both lanes, so that both compute the same bits. Or it does so in the lower one, whose
  // results all take in the end.
  FailureOr<Tuple> CombineInLaneOrder(const Tuple& mine, const Tuple& other, int mask) {
    Value upper = TakesUpper(mask);
    Tuple first, second;
    for (auto [x, y] : llvm::zip(mine, other)) {
      first.push_back(f_.e.Select(upper, y, x));
      second.push_back(f_.e.Select(upper, x, y));
    }
    return Combine(first, second);
  }

  // Where the order of operands decides about bits, all lanes take those of the lowest one. Copies of a value are then
  // equal. For floats alone, the order decides which NaN or which zero.
  void TakeLowestLane(Tuple& values, llvm::ArrayRef<int> masks, bool floats_alone) {
    if (masks.empty()) return;
    const int all = UpTo(masks.back(), masks);
    for (auto [value, src] : llvm::zip(values, op_.getSrcs()))
      if (!floats_alone || llvm::isa<mlir::FloatType>(tt::ElementOf(src.getType())))
        value = FromGroup(value, all, /*last=*/false);
  }

  // The index of the result element at `constant` (of its registers) in this thread, row-major without the axis.
  Value ResultIndex(const Coordinates& constant) {
    Emitter& e = f_.e;
    Value index = e.Int(0);
    for (auto [dim, name] : llvm::enumerate(others_)) {
      Value coordinate = f_.Coordinate(layout_, name, thread_parts_[dim], constant[dim]);
      index = e.Add(e.Mul(index, e.Int(layout_.OutSize(name))), coordinate);
    }
    return index;
  }

  LogicalResult ReduceWarps() {
    int32_t mask = WarpMaskAlongAxis(layout_, op_.getAxis());
    if (mask == 0) return mlir::success();
    scratch_ = ScratchOf(op_);
    warps_ = 1 << llvm::popcount(static_cast<uint32_t>(mask));
    if (!others_.empty()) run_ = layout_.NumConsecutive("register", others_.back());
    for (const std::string& name : others_) thread_parts_.push_back(f_.ThreadPart(layout_, name));
    const auto runs = ResultsInRuns(run_);
    for (size_t operand = 0; operand < partials_[0].size(); ++operand) StorePartials(operand, mask, runs);
    f_.SharedBarrier();
    llvm::SmallVector<llvm::SmallVector<Tuple>> parts(partials_.size(), llvm::SmallVector<Tuple>(warps_));
    for (size_t operand = 0; operand < partials_[0].size(); ++operand) LoadPartials(operand, runs, parts);
    for (auto [partial, of_warps] : llvm::zip(partials_, parts)) {
      FailureOr<Tuple> sum = CombineTree(of_warps);
      if (failed(sum)) return mlir::failure();
      partial = *sum;
    }
    return mlir::success();
  }

  using Runs = llvm::SmallVector<llvm::SmallVector<size_t>>;

  void StorePartials(size_t operand, int32_t warp_mask, const Runs& runs) {
    Emitter& e = f_.e;
    llvm::SmallVector<int> bits;
    for (int bit = 0; bit < layout_.InBits("warp"); ++bit)
      if (warp_mask >> bit & 1) bits.push_back(bit);
    Value warp = e.Hoisted([&, index = f_.Warp()] { return e.PackBits(index, bits); });
    const int vec = VectorOf(operand, run_);
    for (const auto& run : runs) {
      for (int first = 0; first < run_; first += vec) {
        Values values;
        for (int i = first; i < first + vec; ++i) values.push_back(ToShared(e, partials_[run[i]][operand]));
        StoreVector(e, Slot(operand, run[first], warp), values);
      }
    }
  }

  // Appends to `parts`, by results and warps.
  void LoadPartials(size_t operand, const Runs& runs, llvm::SmallVector<llvm::SmallVector<Tuple>>& parts) {
    const mlir::Type type = partials_[0][operand].getType();
    const bool along_run = run_ > 1;  // or along the warps
    const int vec = VectorOf(operand, along_run ? run_ : warps_);
    for (const auto& run : runs)
      for (int first = 0; first < run_; first += along_run ? vec : 1)
        for (int warp = 0; warp < warps_; warp += along_run ? 1 : vec) {
          Value slot = Slot(operand, run[first], f_.e.Int(warp));
          for (auto [i, v] : llvm::enumerate(LoadVector(f_.e, slot, StoredType(operand), vec)))
            parts[run[along_run ? first + i : first]][along_run ? warp : warp + i].push_back(FromShared(f_.e, v, type));
        }
  }

  mlir::Type StoredType(size_t operand) { return SharedType(f_.e, partials_[0][operand].getType()); }

  // Of at most `most` values.
  int VectorOf(size_t operand, int most) {
    return std::max<int>(1, std::min<int>(most, kVectorBits / StoredType(operand).getIntOrFloatBitWidth()));
  }

  // Where the partial of a warp is; `result` is a place in results_at_.
  Value Slot(size_t operand, size_t result, Value warp) {
    Emitter& e = f_.e;
    int64_t results = 1;
    for (const std::string& name : others_) results *= layout_.OutSize(name);
    Value index = ResultIndex(results_at_[result]);
    index = run_ > 1 ? e.Add(e.Mul(warp, e.Int(results)), index) : e.Add(e.Mul(index, e.Int(warps_)), warp);
    return e.Gep(f_.ScratchOf(op_, scratch_.offsets[operand]), StoredType(operand), index);
  }

  // The results of this thread, as places in results_at_, in runs of `run` neighbours.
  Runs ResultsInRuns(int run) {
    Runs runs;
    for (auto [first, at] : llvm::enumerate(results_at_)) {
      if (run > 1 && at.back() % run != 0) continue;
      runs.push_back({first});
      for (Coordinates next = at; static_cast<int>(runs.back().size()) < run;) {
        ++next.back();
        runs.back().push_back(llvm::find(results_at_, next) - results_at_.begin());
      }
    }
    return runs;
  }

  LogicalResult SetResults() {
    auto type = llvm::dyn_cast<RankedTensorType>(op_.getResult()[0].getType());
    if (!type) {
      for (auto [result, value] : llvm::zip(op_.getResult(), partials_[0])) f_.Set(result, {value});
      return mlir::success();
    }
    // The result's layout is the operand's without the axis; its registers may come in another order.
    const LinearLayout& to = f_.LayoutOf(type);
    auto names = ttg::DimNames(type.getRank());
    for (auto [dim, name] : llvm::enumerate(others_))
      for (const char* in : {"lane", "warp"})
        for (int bit = 0; bit < layout_.InBits(in); ++bit)
          if (layout_.Basis(in, bit, name) != to.Basis(in, bit, names[dim]))
            return op_.emitOpError("has a result encoding that is not its operand's without the axis");
    for (auto [k, result] : llvm::enumerate(op_.getResult())) {
      Values values;
      for (int r = 0; r < to.InSize("register"); ++r) {
        auto it = llvm::find(results_at_, to.ApplyNamed({{"register", r}}));
        if (it == results_at_.end())
          return op_.emitOpError("has a result encoding that is not its operand's without the axis");
        values.push_back(partials_[it - results_at_.begin()][k]);
      }
      f_.Set(result, values);
    }
    return mlir::success();
  }

  FunctionLowering& f_;
  tt::ReduceOp op_;
  const LinearLayout layout_;
  std::string axis_;
  llvm::SmallVector<std::string> others_;
  llvm::SmallVector<absl::string_view> other_views_;
  llvm::SmallVector<Coordinates> results_at_;  // for each result of this thread, its registers' coordinates
  llvm::SmallVector<Tuple> partials_;          // in the same order
  llvm::SmallVector<Value> thread_parts_;
  Scratch scratch_;
  int warps_ = 1;  // that hold parts of a result
  int run_ = 1;    // neighbouring results that a thread holds
};

LogicalResult LowerReduce(FunctionLowering& f, tt::ReduceOp op) { return Reduction(f, op).Lower(); }

}  // namespace

void AddReductions(LoweringTable& table) { table.Add<tt::ReduceOp>(LowerReduce); }

}  // namespace tritond::compiler
