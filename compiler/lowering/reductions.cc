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
//      latter, lanes that hold several results each would be so many words apart, and meet in few banks. Longer runs of
//      results are spread over the banks (layout/bank_spread.h). Where it takes less time, each of W lanes reads the
//      partials of one warp, and they combine as in step 2. Lanes that shared the results in step 2 each write those of
//      their share alone.
// All threads that hold copies of a result then hold the same bits: every step combines in one order in all of them.
// Operands with several values (argmax) travel as tuples.
#include "compiler/analysis/scratch.h"
#include "compiler/layout/shared_swizzle.h"
#include "compiler/lowering/branches.h"
#include "compiler/lowering/lane_reducer.h"
#include "compiler/lowering/shared_access.h"

namespace tritond::compiler {
namespace {

using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;

using Tuple = PartialResult;

constexpr int kVectorBits = 128;  // of one access

// Of a multiprocessor: each issues an instruction a cycle.
constexpr int kSchedulers = 4;
// That wait at a time, of one block or several.
constexpr int kWaitingWarps = 16;
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
    if (failed(ReduceRegisters())) return mlir::failure();
    const bool in_warp = WarpMaskAlongAxis(layout_, op_.getAxis()) == 0;
    if (failed(in_warp ? ReduceLanes(f_, op_, LaneMasks(), partials_) : ReduceWarps())) return mlir::failure();
    return SetResults();
  }

 private:
  FailureOr<Tuple> Combine(const Tuple& x, const Tuple& y) { return CombinePartials(f_, op_, x, y); }

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

  // The bits of lanes along the axis, the lowest first.
  llvm::SmallVector<int> LaneMasks() const {
    llvm::SmallVector<int> masks;
    for (int bit = 0; bit < layout_.InBits("lane"); ++bit)
      if (layout_.Basis("lane", bit, axis_) != 0) masks.push_back(1 << bit);
    return masks;
  }

  // The index of the result element at `constant` (of its registers) in this thread, without the axis: row-major, but
  // for the fastest dimension.
  Value ResultIndex(const Coordinates& constant) {
    Emitter& e = f_.e;
    Value index = e.Int(0);
    auto add = [&](size_t dim) {
      Value coordinate = f_.Coordinate(layout_, others_[dim], thread_parts_[dim], constant[dim]);
      index = e.Add(e.Mul(index, e.Int(layout_.OutSize(others_[dim]))), coordinate);
    };
    for (size_t dim = 0; dim < others_.size(); ++dim)
      if (dim != fastest_) add(dim);
    if (!others_.empty()) add(fastest_);
    return index;
  }

  // (register, lane, warp) -> index of the result, with `fastest` of the other dimensions as the fastest one.
  LinearLayout IndicesBy(size_t fastest) const {
    std::vector<absl::string_view> names = {others_[fastest]};
    for (size_t dim = others_.size(); dim-- > 0;)
      if (dim != fastest) names.push_back(others_[dim]);
    return layout_.Sublayout({"register", "lane", "warp"}, names).TransposeOuts(names).FlattenOuts("offset");
  }

  // Whether lanes have results of their own.
  bool LanesDiffer() const {
    const LinearLayout own = IndicesBy(fastest_);
    for (int bit = 0; bit < own.InBits("lane"); ++bit)
      if (own.Basis("lane", bit, "offset") != 0) return true;
    return false;
  }

  // Makes the dimension fastest of which a thread holds the most neighbours. Lanes are such runs apart.
  void ChooseFastest() {
    for (size_t dim = 0; dim < others_.size(); ++dim) {
      const int run = LargestAccess(IndicesBy(dim), /*element_bits=*/1, layout_.OutSize(others_[dim]));
      if (run >= run_) run_ = run, fastest_ = dim;
    }
    spreads_.resize(partials_[0].size());
    if (run_ == 1) return;
    // Whichever makes reads wider, or spares conflicts. Reads of the partials of one result need fewer registers, and
    // those of totals are such.
    const int along = VectorOf(0, run_), across = VectorOf(0, warps_);
    const bool are_better = !SharesTotals(op_) && (along > across || (along == across && LanesDiffer()));
    along_results_ = are_better || layout_.NumConsecutive("register", others_[fastest_]) > 1;
    for (size_t operand = 0; operand < spreads_.size(); ++operand) spreads_[operand] = SpreadOfResults(operand);
  }

  // Where no more than two lanes meet in a bank, that takes no longer than other addresses.
  BankSpread SpreadOfResults(size_t operand) {
    const LinearLayout own = IndicesBy(fastest_);
    const SharedMemoryShape shape = f_.target.SharedMemory();
    const int bits = StoredType(operand).getIntOrFloatBitWidth(), vec = VectorOf(operand, run_);
    const int64_t phases =
        std::max<int64_t>(1, int64_t{own.InSize("lane")} * vec * bits / (shape.banks * shape.word_bits));
    const int64_t accesses = static_cast<int64_t>(OrderByOffset(own).size()) / vec * own.InSize("warp");
    if (CountBankConflicts(own, bits, vec, shape) <= accesses * phases) return {};
    return ChooseSpread(own, bits, shape, vec);
  }

  using Runs = llvm::SmallVector<llvm::SmallVector<size_t>>;

  LogicalResult ReduceWarps() {
    FailureOr<LaneShares> shares = ReduceLanesApart(f_, op_, LaneMasks(), partials_);
    if (failed(shares)) return mlir::failure();
    int32_t mask = WarpMaskAlongAxis(layout_, op_.getAxis());
    scratch_ = ScratchOf(op_);
    warps_ = 1 << llvm::popcount(static_cast<uint32_t>(mask));
    ChooseFastest();
    for (const std::string& name : others_) thread_parts_.push_back(f_.ThreadPart(layout_, name));
    const auto runs = ResultsInRuns(run_);
    auto store = [&] {
      for (size_t operand = 0; operand < partials_[0].size(); ++operand) StorePartials(operand, mask, runs, *shares);
    };
    shares->copies ? Where(f_.e, IsLowest(shares->copies), store) : store();
    partials_.resize(results_at_.size(), partials_[0]);
    f_.SharedBarrier();
    if (SharesTotals(op_)) return CombineShares(runs);
    if (const LaneRoles lanes = RolesOfLanes(); !lanes.warps.empty()) return CombineLanes(runs, lanes);
    llvm::SmallVector<llvm::SmallVector<Tuple>> parts(partials_.size(), llvm::SmallVector<Tuple>(warps_));
    for (size_t operand = 0; operand < partials_[0].size(); ++operand) LoadPartials(operand, runs, parts);
    for (auto [partial, of_warps] : llvm::zip(partials_, parts)) {
      FailureOr<Tuple> sum = CombineTree(of_warps);
      if (failed(sum)) return mlir::failure();
      partial = *sum;
    }
    return mlir::success();
  }

  LogicalResult CombineShares(const Runs& runs) {
    Emitter& e = f_.e;
    const int64_t results = NumResults(), threads = f_.NumThreads(), lanes = LanesOfTotal(op_);
    Value thread = e.Hoisted(
        [&, warp = f_.Warp(), lane = f_.Lane()] { return e.Add(e.Mul(warp, e.Int(f_.target.WarpSize())), lane); });
    // Threads beyond the results do again what others do.
    if (results * lanes < threads) thread = e.And(thread, e.Int(results * lanes - 1));
    llvm::SmallVector<int> masks;
    for (int mask = 1; mask < lanes; mask *= 2) masks.push_back(mask);
    const int count = warps_ / lanes;
    Value warp = e.Mul(e.And(thread, e.Int(lanes - 1)), e.Int(count));
    for (int64_t first = 0; first < results; first += threads) {
      Value result = e.Add(e.LShr(thread, llvm::Log2_64(lanes)), e.Int(first));
      llvm::SmallVector<Tuple> parts(count);
      for (size_t operand = 0; operand < partials_[0].size(); ++operand) LoadShare(operand, result, warp, parts);
      FailureOr<Tuple> sum = CombineTree(parts);
      if (failed(sum)) return mlir::failure();
      llvm::SmallVector<Tuple> total{*sum};
      if (lanes > 1 && failed(ReduceLanes(f_, op_, masks, total))) return mlir::failure();
      for (auto [operand, value] : llvm::enumerate(total[0]))
        StoreVector(e, TotalSlot(operand, result), {ToShared(e, value)});
    }
    f_.SharedBarrier();
    for (size_t operand = 0; operand < partials_[0].size(); ++operand) LoadTotals(operand, runs);
    return mlir::success();
  }

  // Appends the partials of one result to `parts`, those of the warps from `warp` on.
  void LoadShare(size_t operand, Value result, Value warp, llvm::SmallVector<Tuple>& parts) {
    const int count = parts.size(), vec = along_results_ ? 1 : VectorOf(operand, count);
    for (int i = 0; i < count; i += vec) {
      Value slot = SlotOf(operand, result, f_.e.Add(warp, f_.e.Int(i)));
      for (auto [k, v] : llvm::enumerate(LoadVector(f_.e, slot, StoredType(operand), vec)))
        parts[i + k].push_back(FromShared(f_.e, v, partials_[0][operand].getType()));
    }
  }

  void LoadTotals(size_t operand, const Runs& runs) {
    Emitter& e = f_.e;
    const mlir::Type type = partials_[0][operand].getType();
    const int vec = VectorOf(operand, run_);
    for (const auto& run : runs)
      for (int first = 0; first < run_; first += vec) {
        Value slot = TotalSlot(operand, ResultIndex(results_at_[run[first]]));
        for (auto [i, v] : llvm::enumerate(LoadVector(e, slot, StoredType(operand), vec)))
          partials_[run[first + i]][operand] = FromShared(e, v, type);
      }
  }

  // The bits of lanes that tell of which warp a lane reads partials, and of which results.
  struct LaneRoles {
    llvm::SmallVector<int> warps;    // empty: of all warps and results
    llvm::SmallVector<int> results;  // as LaneShares::masks
  };

  // A scheduler issues for a fourth of the warps. Every thread combining for itself takes most of their time; lanes
  // that share the work take a shuffle for each step, and wait for it. What several results issue hides the waits for
  // one instruction each; longer combinations wait together, and other blocks hide some of that.
  LaneRoles RolesOfLanes() {
    const llvm::SmallVector<int> lanes = LaneMasks();
    const int steps = llvm::Log2_32(warps_);
    if (static_cast<int>(lanes.size()) < steps) return {};
    int loads = 0, words = 0;
    for (size_t operand = 0; operand < partials_[0].size(); ++operand) {
      loads += warps_ / VectorOf(operand, warps_);
      words += std::max<int>(1, StoredType(operand).getIntOrFloatBitWidth() / 32);
    }
    const int results = partials_.size(), warps = f_.NumThreads() / f_.target.WarpSize();
    const int combine = std::max<int>(1, op_.getCombineOp().front().getOperations().size() - 1);
    mlir::Operation* combiner = op_.SingleCombiner();
    const bool commutes = combiner && combiner->hasTrait<mlir::OpTrait::IsCommutative>();
    const int waiting = std::max(1, kWaitingWarps / warps), tree = steps * combine * kOperationCycles;
    const int shuffles = (steps + (commutes ? 0 : 1)) * kShuffleCycles;
    auto time = [&](int issued, int wait) { return commutes ? std::max(issued, wait) : issued + wait / waiting; };
    const int most = commutes ? 0 : std::min<int>(lanes.size() - steps, llvm::Log2_32(results));
    int least = time(results * (loads + (warps_ - 1) * combine) * warps / kSchedulers, tree);  // each for itself
    LaneRoles best;
    for (int bits = 0; bits <= most; ++bits) {
      const int join = commutes ? 0 : results * words;
      const int issued = ((results >> bits) * (words + steps * (words + combine)) + join) * warps / kSchedulers;
      if (time(issued, tree + shuffles) >= least) continue;
      least = time(issued, tree + shuffles);
      best.warps.assign(lanes.begin(), lanes.begin() + steps);
      best.results.assign(lanes.begin() + steps, lanes.begin() + steps + bits);
    }
    return best;
  }

  LogicalResult CombineLanes(const Runs& runs, const LaneRoles& lanes) {
    partials_.resize(partials_.size() >> lanes.results.size());
    for (size_t operand = 0; operand < partials_[0].size(); ++operand) LoadOfLane(operand, runs, lanes);
    if (lanes.results.empty()) return ReduceLanes(f_, op_, lanes.warps, partials_);
    FailureOr<LaneShares> shares = ReduceLanesApart(f_, op_, lanes.warps, partials_);
    if (failed(shares)) return mlir::failure();
    shares->masks.insert(shares->masks.begin(), lanes.results.begin(), lanes.results.end());
    JoinShares(f_, *shares, partials_);
    return mlir::success();
  }

  // Puts the partials of the warp and the results that `lanes` tell in place of this warp's.
  void LoadOfLane(size_t operand, const Runs& runs, const LaneRoles& lanes) {
    Emitter& e = f_.e;
    llvm::SmallVector<int> bits;
    for (int mask : lanes.warps) bits.push_back(llvm::Log2_32(mask));
    Value warp = e.Hoisted([&, lane = f_.Lane()] { return e.PackBits(lane, bits); });
    if (!lanes.results.empty()) {
      for (auto [i, partial] : llvm::enumerate(partials_)) {
        Value slot = SlotOf(operand, IndexOfShare(i, lanes.results), warp);
        Value v = LoadVector(e, slot, StoredType(operand), 1)[0];
        partial[operand] = FromShared(e, v, partial[operand].getType());
      }
      return;
    }
    const mlir::Type type = partials_[0][operand].getType();
    const int vec = along_results_ ? VectorOf(operand, run_) : 1;
    for (const auto& run : runs)
      for (int first = 0; first < run_; first += vec)
        for (auto [i, v] : llvm::enumerate(LoadVector(e, Slot(operand, run[first], warp), StoredType(operand), vec)))
          partials_[run[first + i]][operand] = FromShared(e, v, type);
  }

  // i1: whether of the lanes that differ by `copies` this is the lowest one.
  Value IsLowest(int copies) {
    Emitter& e = f_.e;
    return e.Hoisted([&, lane = f_.Lane()] { return e.Equal(e.And(lane, e.Int(copies)), e.Int(0)); });
  }

  // The index of the result that a lane has as number `i` of its share.
  Value IndexOfShare(size_t i, llvm::ArrayRef<int> masks) {
    // Of `left` results from `first` on, those that the bits of `masks` leave.
    auto choose = [&](auto& choose, size_t first, size_t left, llvm::ArrayRef<int> masks) -> Value {
      if (masks.empty()) return ResultIndex(results_at_[first]);
      Value low = choose(choose, first, left / 2, masks.drop_front());
      Value high = choose(choose, first + left / 2, left / 2, masks.drop_front());
      return f_.e.Select(HasLaneBit(f_, masks.front()), high, low);
    };
    return choose(choose, i, results_at_.size(), masks);
  }

  void StorePartials(size_t operand, int32_t warp_mask, const Runs& runs, const LaneShares& shares) {
    Emitter& e = f_.e;
    llvm::SmallVector<int> bits;
    for (int bit = 0; bit < layout_.InBits("warp"); ++bit)
      if (warp_mask >> bit & 1) bits.push_back(bit);
    Value warp = e.Hoisted([&, index = f_.Warp()] { return e.PackBits(index, bits); });
    if (!shares.masks.empty()) {
      for (auto [i, partial] : llvm::enumerate(partials_))
        StoreVector(e, SlotOf(operand, IndexOfShare(i, shares.masks), warp), {ToShared(e, partial[operand])});
      return;
    }
    const int vec = along_results_ ? VectorOf(operand, run_) : 1;
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
    const bool along = along_results_;
    const int vec = VectorOf(operand, along ? run_ : warps_);
    for (const auto& run : runs)
      for (int first = 0; first < run_; first += along ? vec : 1)
        for (int warp = 0; warp < warps_; warp += along ? 1 : vec) {
          Value slot = Slot(operand, run[first], f_.e.Int(warp));
          for (auto [i, v] : llvm::enumerate(LoadVector(f_.e, slot, StoredType(operand), vec)))
            parts[run[along ? first + i : first]][along ? warp : warp + i].push_back(FromShared(f_.e, v, type));
        }
  }

  mlir::Type StoredType(size_t operand) { return SharedType(f_.e, partials_[0][operand].getType()); }

  // Of at most `most` values.
  int VectorOf(size_t operand, int most) {
    return std::max<int>(1, std::min<int>(most, kVectorBits / StoredType(operand).getIntOrFloatBitWidth()));
  }

  int64_t NumResults() {
    int64_t results = 1;
    for (const std::string& name : others_) results *= layout_.OutSize(name);
    return results;
  }

  // Where the partial of a warp is; `result` is a place in results_at_.
  Value Slot(size_t operand, size_t result, Value warp) {
    return SlotOf(operand, ResultIndex(results_at_[result]), warp);
  }

  Value SlotOf(size_t operand, Value index, Value warp) {
    Emitter& e = f_.e;
    index = along_results_ ? e.Add(e.Mul(warp, e.Int(NumResults())), SpreadOf(e, spreads_[operand], index))
                           : e.Add(e.Mul(index, e.Int(warps_)), warp);
    return e.Gep(f_.ScratchOf(op_, scratch_.offsets[operand]), StoredType(operand), index);
  }

  // Behind the partials.
  Value TotalSlot(size_t operand, Value index) {
    Emitter& e = f_.e;
    return e.Gep(f_.ScratchOf(op_, scratch_.offsets[operand]), StoredType(operand),
                 e.Add(e.Int(warps_ * NumResults()), SpreadOf(e, spreads_[operand], index)));
  }

  // The results of this thread, as places in results_at_, in runs of `run` neighbours.
  Runs ResultsInRuns(int run) {
    Runs runs;
    for (auto [first, at] : llvm::enumerate(results_at_)) {
      if (run > 1 && at[fastest_] % run != 0) continue;
      runs.push_back({first});
      for (Coordinates next = at; static_cast<int>(runs.back().size()) < run;) {
        ++next[fastest_];
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
  llvm::SmallVector<BankSpread> spreads_;  // of results, for each operand
  Scratch scratch_;
  int warps_ = 1;  // that hold parts of a result
  int run_ = 1;    // neighbouring results that a thread holds, along others_[fastest_]
  size_t fastest_ = 0;
  bool along_results_ = false;  // partials of a warp are neighbours, else those of a result
};

LogicalResult LowerReduce(FunctionLowering& f, tt::ReduceOp op) {
  if (ScanOfTotal(op)) return mlir::success();  // has given the results
  return Reduction(f, op).Lower();
}

}  // namespace

void AddReductions(LoweringTable& table) { table.Add<tt::ReduceOp>(LowerReduce); }

}  // namespace tritond::compiler
