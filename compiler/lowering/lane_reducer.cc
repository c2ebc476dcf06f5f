// SPDX-License-Identifier: Apache-2.0
#include "compiler/lowering/lane_reducer.h"

#include "compiler/layout/lane_reduction.h"
#include "compiler/lowering/lane_maps.h"

namespace tritond::compiler {
namespace {

using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::Value;

class LaneReducer final {
 public:
  LaneReducer(FunctionLowering& f, tt::ReduceOp op, llvm::SmallVector<PartialResult>& partials)
      : f_(f), op_(op), partials_(partials) {}

  // `stays_apart`: lanes keep their shares.
  FailureOr<LaneShares> Run(llvm::SmallVector<int> masks, bool stays_apart) {
    mlir::Operation* combiner = op_.SingleCombiner();
    const bool commutes = combiner && combiner->hasTrait<mlir::OpTrait::IsCommutative>();
    LaneShares shares;
    shares.masks = commutes ? TakeShared(masks, stays_apart) : TakeOrdered(masks, stays_apart);
    for (int mask : shares.masks)
      if (failed(Halve(mask, commutes))) return mlir::failure();
    const bool whole_warp = (1 << masks.size()) == f_.target.WarpSize();
    // One shuffle at the end is cheaper than two choices at each of several steps.
    const bool lowest_alone = !commutes && masks.size() > 1;
    const LaneOrder order = ChooseOrder(masks, commutes, lowest_alone);
    for (PartialResult& partial : partials_) {
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
      if (!lowest_alone && !f_.target.FloatsCommute()) TakeLowestLane(partial, masks);
    }
    if (lowest_alone && order != LaneOrder::kIntoLast) shares.copies = UpTo(masks.back(), masks);
    if (stays_apart) return shares;
    if (!commutes) JoinShares(f_, shares, partials_);
    if (commutes)
      for (int mask : llvm::reverse(shares.masks)) Regain(mask);
    return LaneShares();
  }

 private:
  FailureOr<PartialResult> Combine(const PartialResult& x, const PartialResult& y) {
    return CombinePartials(f_, op_, x, y);
  }

  // Whether some exchanges take longer than others: then near lanes had better combine first, or into the last one.
  bool MovesDiffer(llvm::ArrayRef<int> masks) {
    return llvm::any_of(masks, [&](int mask) { return CostOfXor(mask) != CostOfXor(masks.front()); });
  }

  // Takes from `masks`, the highest first, those of the lanes that share the work on several results.
  llvm::SmallVector<int> TakeShared(llvm::SmallVector<int>& masks, bool stays_apart) {
    llvm::SmallVector<int> shared;
    mlir::Type type = partials_[0][0].getType();
    const bool whole_warp = (1 << masks.size()) == f_.target.WarpSize();
    if (!type.isIntOrFloat() || (whole_warp && type.isInteger(32)) || MovesDiffer(masks) || !f_.target.FloatsCommute())
      return shared;
    const double words = type.getIntOrFloatBitWidth() > 32 ? 2 : 1;
    const LaneReduction plan =
        PlanLaneReduction(partials_.size(), masks.size(), {.words = words, .stays_apart = stays_apart});
    for (int i = 0; i < plan.shared_bits; ++i) shared.push_back(masks.pop_back_val());
    return shared;
  }

  // The same where operands may not change places.
  llvm::SmallVector<int> TakeOrdered(llvm::SmallVector<int>& masks, bool stays_apart) {
    llvm::SmallVector<int> shared;
    if (MovesDiffer(masks)) return shared;
    LaneWork work = {.words = 0, .is_ordered = true, .stays_apart = stays_apart};
    work.combine = std::max<double>(1, op_.getCombineOp().front().getOperations().size() - 1.0);
    for (Value v : partials_[0]) {
      if (!v.getType().isIntOrFloat()) return shared;
      work.words += v.getType().getIntOrFloatBitWidth() > 32 ? 2 : 1;
    }
    const LaneReduction plan = PlanLaneReduction(partials_.size(), masks.size(), work);
    for (int i = 0; i < plan.shared_bits; ++i) shared.push_back(masks.pop_back_val());
    return shared;
  }

  Value FromOther(Value value, int mask) {
    return f_.Shuffle(value, [&](Value word) { return f_.target.ShuffleXor(f_.e.b, f_.e.loc, word, mask); });
  }

  // This lane gives away half of its results, and combines the others with what it gets.
  LogicalResult Halve(int mask, bool commutes) {
    const size_t half = partials_.size() / 2;
    Value upper = HasLaneBit(f_, mask);
    for (size_t i = 0; i < half; ++i) {
      PartialResult first, second;
      for (auto [low, high] : llvm::zip(partials_[i], partials_[i + half])) {
        Value other = FromOther(f_.e.Select(upper, low, high), mask);
        first.push_back(f_.e.Select(upper, commutes ? high : other, low));
        second.push_back(commutes ? other : f_.e.Select(upper, high, other));
      }
      FailureOr<PartialResult> sum = Combine(first, second);
      if (failed(sum)) return mlir::failure();
      partials_[i] = *sum;
    }
    partials_.resize(half);
    return mlir::success();
  }

  // Takes the results of the half that was given away.
  void Regain(int mask) {
    const size_t half = partials_.size();
    Value upper = HasLaneBit(f_, mask);
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

  LogicalResult ReduceByExchanges(PartialResult& partial, llvm::ArrayRef<int> masks, LaneOrder order,
                                  bool in_any_order) {
    const bool near_first = order == LaneOrder::kNearFirst;
    for (size_t i = 0; i < masks.size(); ++i) {
      const int mask = masks[near_first ? i : masks.size() - 1 - i];
      const int exchanged = near_first ? NearestMask(mask, masks) : mask;
      PartialResult other;
      for (Value v : partial)
        other.push_back(
            f_.Shuffle(v, [&](Value word) { return f_.target.ShuffleXor(f_.e.b, f_.e.loc, word, exchanged); }));
      FailureOr<PartialResult> sum = in_any_order ? Combine(partial, other) : CombineInLaneOrder(partial, other, mask);
      if (failed(sum)) return mlir::failure();
      partial = *sum;
    }
    return mlir::success();
  }

  LogicalResult ReduceIntoLast(PartialResult& partial, llvm::ArrayRef<int> masks) {
    for (int mask : masks) {
      const LaneMap map = MapLanes(f_.target, [&](int lane) { return SourceIntoLast(lane, mask, masks); });
      PartialResult earlier;
      for (Value v : partial)
        earlier.push_back(
            MoveLanes(f_, v, map, [&](Value word) { return f_.target.ShuffleXor(f_.e.b, f_.e.loc, word, mask); }));
      FailureOr<PartialResult> sum = Combine(earlier, partial);
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
  FailureOr<PartialResult> CombineInLaneOrder(const PartialResult& mine, const PartialResult& other, int mask) {
    Value upper = HasLaneBit(f_, mask);
    PartialResult first, second;
    for (auto [x, y] : llvm::zip(mine, other)) {
      first.push_back(f_.e.Select(upper, y, x));
      second.push_back(f_.e.Select(upper, x, y));
    }
    return Combine(first, second);
  }

  // Where the order of operands decides which NaN or which zero a float is, all lanes take that of the lowest one.
  // Copies of a value are then equal.
  void TakeLowestLane(PartialResult& values, llvm::ArrayRef<int> masks) {
    if (masks.empty()) return;
    const int all = UpTo(masks.back(), masks);
    for (auto [value, src] : llvm::zip(values, op_.getSrcs()))
      if (llvm::isa<mlir::FloatType>(tt::ElementOf(src.getType()))) value = FromGroup(value, all, /*last=*/false);
  }

  FunctionLowering& f_;
  tt::ReduceOp op_;
  llvm::SmallVector<PartialResult>& partials_;
};

}  // namespace

FailureOr<PartialResult> CombinePartials(FunctionLowering& f, tt::ReduceOp op, const PartialResult& x,
                                         const PartialResult& y) {
  Values arguments(x);
  arguments.append(y);
  return f.InlineRegion(op.getCombineOp(), arguments);
}

LogicalResult ReduceLanes(FunctionLowering& f, tt::ReduceOp op, llvm::SmallVector<int> masks,
                          llvm::SmallVector<PartialResult>& partials) {
  return LaneReducer(f, op, partials).Run(std::move(masks), /*stays_apart=*/false);
}

FailureOr<LaneShares> ReduceLanesApart(FunctionLowering& f, tt::ReduceOp op, llvm::SmallVector<int> masks,
                                       llvm::SmallVector<PartialResult>& partials) {
  return LaneReducer(f, op, partials).Run(std::move(masks), /*stays_apart=*/true);
}

void JoinShares(FunctionLowering& f, const LaneShares& shares, llvm::SmallVector<PartialResult>& partials) {
  int all = shares.copies;
  for (int mask : shares.masks) all |= mask;
  if (all == 0) return;
  llvm::SmallVector<PartialResult> results(partials.size() << shares.masks.size());
  for (auto [i, result] : llvm::enumerate(results)) {
    int from = 0, share = i / partials.size();
    for (int mask : llvm::reverse(shares.masks)) from |= share % 2 ? mask : 0, share /= 2;
    const LaneMap map = MapLanes(f.target, [&](int lane) { return (lane & ~all) | from; });
    for (Value v : partials[i % partials.size()])
      result.push_back(MoveLanes(f, v, map, [&](Value word) {
        Value source =
            f.e.Hoisted([&, lane = f.Lane()] { return f.e.Or(f.e.And(lane, f.e.Int(~all)), f.e.Int(from)); });
        return f.target.ShuffleIndex(f.e.b, f.e.loc, word, source);
      }));
  }
  partials = results;
}

Value HasLaneBit(FunctionLowering& f, int mask) {
  return f.e.Hoisted([&, lane = f.Lane()] {
    return f.e.Compare(mlir::LLVM::ICmpPredicate::ne, f.e.And(lane, f.e.Int(mask)), f.e.Int(0));
  });
}

}  // namespace tritond::compiler
