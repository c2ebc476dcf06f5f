// SPDX-License-Identifier: Apache-2.0
// tt.scan, run by run of the axis index.
//
// Each bit of the axis index is a bit of the register, the lane or the warp. A run is a maximal sequence of
// neighbouring bits of one kind. An aligned piece of the axis that all runs so far cover is a chunk; one thread holds a
// part of it. From the least significant run on:
//   registers, first    the thread combines its neighbouring elements to the total of its part, a segment.
//   lanes               the totals are scanned over the lanes of the run: in step j each lane takes the value from the
//                       lane 2^j positions before (Kogge-Stone). From some step on, where the target moves lanes faster
//                       so, the upper half of each 2^(j+1) lanes takes that of the lower half's last lane (Sklansky).
//                       The last lane then has the chunk's total, which goes to the others where a later run needs it.
//   registers, later    the thread has the totals of all chunks: it combines them one after the other.
//   warps               with the registers above them, if any: each warp writes the totals of its chunks to scratch.
//                       After one barrier each thread reads the totals of all warps, in axis order, and combines them.
// What comes in front of a segment is gathered in its carry. First comes what is in front of its chunk. At the end, one
// more shuffle from the lane before adds what the lanes in front of it have. Each thread then scans its segments, from
// the carry on. So a segment of n elements takes 2n - 1 combinations, whatever runs there are.
//
// A reduction of the same elements (ScanOfTotal) takes the total of the last run.
//
// Invariant: threads that hold copies of an element compute it from the same operands in the same order, so that copies
// have the same bits. A reverse scan is the same with each run in descending order.
#include <limits>
#include <map>

#include "compiler/analysis/axis_runs.h"
#include "compiler/analysis/scratch.h"
#include "compiler/lowering/branches.h"
#include "compiler/lowering/lane_maps.h"
#include "compiler/lowering/shared_access.h"

namespace tritond::compiler {
namespace {

using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;
namespace LLVM = mlir::LLVM;

using Tuple = Values;  // one value an operand

// A lane some positions before, in the order of the scan.
struct LaneBefore {
  LaneMap map;     // any lane where there is none before
  Value lane;      // i32, the same; any lane of the run where there is none before
  Value is_there;  // i1
};

// Registers of one thread that are neighbours on the axis, in the order of the scan.
struct Segment {
  llvm::SmallVector<int> registers;
  Tuple carry;      // what comes in front of it, or of the lanes in front of it; empty: nothing in any thread
  Value has_carry;  // i1: whether this thread has one; null: all threads have
  // Where lanes in front of this one have segments: the scan up to this lane's, and the lane before.
  Tuple scanned;
  LaneBefore neighbour;
};

// The part of a chunk that one thread holds.
struct Chunk {
  llvm::SmallVector<Segment> segments;
  Tuple total;
};

class Scan {
 public:
  Scan(FunctionLowering& f, tt::ScanOp op)
      : f_(f),
        e_(f.e),
        op_(op),
        type_(llvm::cast<RankedTensorType>(op.getSrcs()[0].getType())),
        layout_(f.LayoutOf(type_)),
        combines_anything_(CombinesAnything(op.getCombineOp())) {}

  LogicalResult Lower() {
    if (failed(FindRuns())) return mlir::failure();
    MakeChunks();
    llvm::SmallVector<tt::ReduceOp> reductions;
    for (mlir::Operation* user : op_.getSrcs()[0].getUsers())
      if (auto reduction = llvm::dyn_cast<tt::ReduceOp>(user); reduction && ScanOfTotal(reduction) == op_)
        reductions.push_back(reduction);
    needs_total_ = !reductions.empty();
    for (size_t i = 0; i < runs_.size(); ++i) {
      const AxisRun& run = runs_[i];
      bool is_last = i + 1 == runs_.size() && !needs_total_;
      LogicalResult joined = mlir::success();
      if (run.in == "register") joined = i == 0 ? MakeSegments(run, is_last) : JoinRegisters(run, is_last);
      if (run.in == "lane") joined = JoinLanes(run);
      if (run.in == "warp") joined = JoinWarps(run, i + 1 == runs_.size() ? AxisRun{"register", {}} : runs_[++i]);
      if (failed(joined)) return mlir::failure();
    }
    if (needs_total_ && total_.empty()) total_ = TotalOf(chunks_.begin()->second);
    for (tt::ReduceOp reduction : reductions)
      for (auto [result, value] : llvm::zip(reduction.getResult(), total_)) f_.Set(result, {value});
    return ScanSegments();
  }

 private:
  LogicalResult FindRuns() {
    if (!IsScannable(layout_, op_.getAxis()))
      return op_.emitOpError("has an encoding that interleaves the axis; ttg-untangle-axis converts it");
    runs_ = RunsAlong(layout_, ttg::DimNames(type_.getRank())[op_.getAxis()]);
    return mlir::success();
  }

  void MakeChunks() {
    for (auto [dim, mask] : llvm::zip(layout_.InDims(), layout_.FreeVariableMasks()))
      if (dim.name == "register") copies_ = mask;
    values_.resize(layout_.InSize("register"));
    for (int r = 0; r < layout_.InSize("register"); ++r) {
      for (Value src : op_.getSrcs()) values_[r].push_back(f_.Get(src)[r]);
      if (r & copies_) continue;
      chunks_[r] = Chunk{{Segment{{r}, {}, {}, {}, {}}}, values_[r]};
    }
  }

  FailureOr<Tuple> Combine(const Tuple& earlier, const Tuple& later) {
    Values arguments(earlier);
    arguments.append(later);
    return f_.InlineRegion(op_.getCombineOp(), arguments);
  }

  Tuple Select(Value condition, const Tuple& x, const Tuple& y) {
    Tuple result;
    for (auto [a, b] : llvm::zip(x, y)) result.push_back(e_.Select(condition, a, b));
    return result;
  }

  // `total` comes in front of the segment in the threads where `here` holds (null: in all).
  LogicalResult Prepend(Segment& segment, const Tuple& total, Value here) {
    Tuple carry = total;
    if (!segment.carry.empty()) {
      FailureOr<Tuple> joined = Combine(total, segment.carry);
      if (failed(joined)) return mlir::failure();
      carry = segment.has_carry ? Select(segment.has_carry, *joined, total) : *joined;
      if (here) carry = Select(here, carry, segment.carry);
      if (segment.has_carry) segment.has_carry = here ? e_.Or(segment.has_carry, here) : Value();
    } else {
      segment.has_carry = here;
    }
    segment.carry = carry;
    return mlir::success();
  }

  // The positions of a run in the order of the scan.
  llvm::SmallVector<int> PositionsOf(const AxisRun& run) {
    auto positions = llvm::to_vector(llvm::seq<int>(0, run.Size()));
    if (op_.getReverse()) std::reverse(positions.begin(), positions.end());
    return positions;
  }

  // The first registers of the chunks that `run`, of registers, joins, in the order of the scan; by the lowest of them.
  std::map<int, llvm::SmallVector<int>> GroupsOf(const AxisRun& run) {
    std::map<int, llvm::SmallVector<int>> groups;
    for (auto& [first, chunk] : chunks_)
      if ((first & run.Mask()) == 0)
        for (int at : PositionsOf(run)) groups[first].push_back(first | run.IndexOf(at));
    return groups;
  }

  LogicalResult MakeSegments(const AxisRun& run, bool is_last) {
    std::map<int, Chunk> joined;
    for (auto& [first, registers] : GroupsOf(run)) {
      Chunk& chunk = joined[first];
      chunk.segments = {Segment{registers, {}, {}, {}, {}}};
      if (is_last) continue;
      chunk.total = values_[registers[0]];
      for (int r : llvm::drop_begin(registers)) {
        FailureOr<Tuple> total = Combine(chunk.total, values_[r]);
        if (failed(total)) return mlir::failure();
        chunk.total = *total;
      }
    }
    chunks_ = std::move(joined);
    return mlir::success();
  }

  LogicalResult JoinRegisters(const AxisRun& run, bool is_last) {
    std::map<int, Chunk> joined;
    for (auto& [first, parts] : GroupsOf(run)) {
      Chunk& result = joined[first];
      for (int part : parts) {
        for (Segment& segment : chunks_[part].segments) {
          if (!result.total.empty() && failed(Prepend(segment, result.total, Value()))) return mlir::failure();
          result.segments.push_back(segment);
        }
        if (is_last && part == parts.back()) break;
        Tuple total = TotalOf(chunks_[part]);
        if (result.total.empty()) {
          result.total = total;
          continue;
        }
        FailureOr<Tuple> sum = Combine(result.total, total);
        if (failed(sum)) return mlir::failure();
        result.total = *sum;
      }
    }
    chunks_ = std::move(joined);
    total_lane_ = Value();
    return mlir::success();
  }

  Tuple FromLane(const Tuple& values, const LaneMap& map, Value lane) {
    const auto shuffle = [&](Value word) { return f_.target.ShuffleIndex(e_.b, e_.loc, word, lane); };
    Tuple result;
    for (Value v : values)
      result.push_back(combines_anything_ ? MoveLanes(f_, v, map, shuffle) : f_.Shuffle(v, shuffle));
    return result;
  }

  // The chunk's total, in all threads that hold a part of it.
  Tuple TotalOf(const Chunk& chunk) {
    return total_lane_ ? FromLane(chunk.total, total_map_, total_lane_) : chunk.total;
  }

  // A step of a scan over the lanes of a run: from which position each takes, kAnyLane: from none. Positions count in
  // the order of the scan. Step `step` of those whose first `near` steps take from the lane 2^step positions before,
  // within 2^near lanes.
  static int EarlierPosition(int at, int step, int near) {
    const int distance = 1 << step;
    if (step < near) return (at & ((1 << near) - 1)) >= distance ? at - distance : kAnyLane;
    return at & distance ? (at & ~(2 * distance - 1)) | (distance - 1) : kAnyLane;
  }

  // The map of the lanes of a run whose positions take from `earlier` of them.
  LaneMap MapOf(const AxisRun& run, llvm::function_ref<int(int)> earlier) {
    const int turned = op_.getReverse() ? run.Size() - 1 : 0;
    return MapLanes(f_.target, [&](int lane) {
      int at = 0;
      for (auto [i, bit] : llvm::enumerate(run.bits)) at |= (lane >> bit & 1) << i;
      const int from = earlier(at ^ turned);
      return from == kAnyLane ? kAnyLane : (lane & ~run.Mask()) | run.IndexOf(from ^ turned);
    });
  }

  // How many steps are of the first kind, so that the moves of all take the least time.
  int ChooseNearSteps(const AxisRun& run) {
    const int steps = static_cast<int>(run.bits.size());
    int best = steps, best_cost = std::numeric_limits<int>::max();
    for (int near = steps; near >= 0; --near) {
      int cost = 0;
      for (int step = 0; step < steps; ++step)
        cost += f_.target.MoveCost(MapOf(run, [&](int at) { return EarlierPosition(at, step, near); }));
      if (cost < best_cost) best = near, best_cost = cost;
    }
    return best;
  }

  // The lane from which each lane takes in a step.
  LaneBefore Before(const AxisRun& run, int step, int near) {
    LaneBefore before;
    before.map = MapOf(run, [&](int at) { return EarlierPosition(at, step, near); });
    const int size = 1 << (step < near ? near : step + 1), distance = 1 << step;
    return e_.Hoisted([&, lane = f_.Lane()] {
      Value at = e_.PackBits(lane, run.bits), last = e_.Int(size - 1);
      Value source = step >= near       ? e_.Int(op_.getReverse() ? distance : distance - 1)
                     : op_.getReverse() ? e_.And(e_.Add(at, e_.Int(distance)), last)
                                        : e_.And(e_.Sub(at, e_.Int(distance)), last);
      const AxisRun group = {"lane", {run.bits.begin(), run.bits.begin() + llvm::Log2_32(size)}};
      before.lane = e_.Or(e_.And(lane, e_.Int(~group.Mask())), e_.SpreadBits(source, group.bits));
      Value within = size < run.Size() ? e_.And(at, last) : at;
      before.is_there = op_.getReverse() ? e_.Compare(LLVM::ICmpPredicate::ult, within, e_.Int(size - distance))
                                         : e_.Compare(LLVM::ICmpPredicate::uge, within, e_.Int(distance));
      return before;
    });
  }

  LogicalResult JoinLanes(const AxisRun& run) {
    const int steps = static_cast<int>(run.bits.size()), near = ChooseNearSteps(run);
    const LaneBefore neighbour = Before(run, 0, steps);
    for (int step = 0; step < steps; ++step) {
      const LaneBefore before = step == 0 && near == steps ? neighbour : Before(run, step, near);
      for (auto& [first, chunk] : chunks_) {
        FailureOr<Tuple> joined = Combine(FromLane(chunk.total, before.map, before.lane), chunk.total);
        if (failed(joined)) return mlir::failure();
        chunk.total = Select(before.is_there, *joined, chunk.total);
      }
    }
    for (auto& [first, chunk] : chunks_) {
      if (&run == &runs_.front()) {  // a chunk is a register
        values_[first] = chunk.total;
        continue;
      }
      if (chunk.segments.size() == 1) {
        chunk.segments[0].scanned = chunk.total;
        chunk.segments[0].neighbour = neighbour;
        continue;
      }
      Tuple in_front = FromLane(chunk.total, neighbour.map, neighbour.lane);
      for (Segment& segment : chunk.segments)
        if (failed(Prepend(segment, in_front, neighbour.is_there))) return mlir::failure();
    }
    total_map_ = MapOf(run, [&](int) { return run.Size() - 1; });
    total_lane_ = e_.Hoisted([&, lane = f_.Lane()] {
      return op_.getReverse() ? e_.And(lane, e_.Int(~run.Mask())) : e_.Or(lane, e_.Int(run.Mask()));
    });
    return mlir::success();
  }

  // The index of each element's line, off the axis: "line". Its lowest bits are those that lanes differ in: neighbours
  // among the lanes have neighbouring lines, and so use different banks.
  LinearLayout Lines() {
    const LayoutDim& axis = layout_.OutDims()[op_.getAxis()];
    const uint64_t off_axis = ((uint64_t{1} << layout_.TotalOutBits()) - 1) & ~(axis.mask() << axis.shift);
    LinearLayout::Columns columns(layout_.columns().size(), 0);
    uint64_t placed = 0;
    int bits = 0;
    for (absl::string_view in : {"lane", "register", "warp", "block"}) {
      const LayoutDim& dim = layout_.In(in);
      for (int bit = 0; bit < dim.bits; ++bit) {
        const uint64_t left = layout_.columns()[dim.shift + bit] & off_axis & ~placed;
        if (left == 0) continue;
        const uint64_t lowest = left & (~left + 1);
        for (auto [column, from] : llvm::zip(columns, layout_.columns()))
          if (from & lowest) column |= uint64_t{1} << bits;
        placed |= lowest;
        ++bits;
      }
    }
    return LinearLayout::FromColumns(layout_.InDims(), {{"line", bits, 0}}, columns);
  }

  // Scratch holds the totals of a line in axis order: for each position of `rounds`, a total a warp. A vector of them
  // is followed by that of the next line, so that neighbouring lanes read neighbouring vectors.
  LogicalResult JoinWarps(const AxisRun& warps, const AxisRun& rounds) {
    Value warp = e_.Hoisted([&, index = f_.Warp()] { return e_.PackBits(index, warps.bits); });
    int count = warps.Size() * rounds.Size();
    const LinearLayout lines = Lines();
    const Value line_of_thread = f_.ThreadPart(lines, "line");
    Scratch scratch = ScratchOf(op_);
    auto groups = GroupsOf(rounds);
    auto stored_type = [&](size_t operand) { return SharedType(e_, f_.Get(op_.getSrcs()[operand])[0].getType()); };
    auto vector_size = [&](size_t operand) {
      return std::clamp<int>(128 / stored_type(operand).getIntOrFloatBitWidth(), 1, count);
    };
    // The address of the total number `at` and, if given, as many as `warp` after it.
    auto address = [&](Value line, size_t operand, int at, Value warp) {
      int vec = vector_size(operand);
      Value vector = e_.Int(at / vec), within = e_.Int(at % vec);
      if (warp) vector = e_.Add(vector, e_.LShr(warp, llvm::Log2_32(vec)));
      if (warp) within = e_.Add(within, e_.And(warp, e_.Int(vec - 1)));
      Value slot = e_.Add(e_.Mul(e_.Add(e_.Mul(vector, e_.Int(lines.OutSize("line"))), line), e_.Int(vec)), within);
      return e_.Gep(f_.ScratchOf(op_, scratch.offsets[operand]), stored_type(operand), slot);
    };
    Value writes = total_lane_ ? e_.Hoisted([&, lane = f_.Lane()] { return e_.Equal(lane, total_lane_); }) : Value();
    std::map<int, Value> line_of;
    for (auto& [first, parts] : groups)
      line_of[first] = f_.Coordinate(lines, "line", line_of_thread, lines.ApplyNamed({{"register", first}})[0]);
    auto write = [&] {
      for (auto& [first, parts] : groups)
        for (auto [at, part] : llvm::zip(PositionsOf(rounds), parts))
          for (auto [operand, value] : llvm::enumerate(chunks_[part].total))
            StoreVector(e_, address(line_of[first], operand, at * warps.Size(), warp), {ToShared(e_, value)});
    };
    writes ? Where(e_, writes, write) : write();
    f_.SharedBarrier();
    for (auto& [first, parts] : groups) {
      llvm::SmallVector<Tuple> totals(count);
      for (auto [operand, src] : llvm::enumerate(op_.getSrcs())) {
        int vec = vector_size(operand);
        for (int i = 0; i < count; i += vec) {
          Value from = address(line_of[first], operand, i, Value());
          for (auto [k, v] : llvm::enumerate(LoadVector(e_, from, stored_type(operand), vec)))
            totals[i + k].push_back(FromShared(e_, v, f_.Get(src)[0].getType()));
        }
      }
      if (op_.getReverse()) std::reverse(totals.begin(), totals.end());
      if (failed(PrependTotals(warps, warp, parts, totals))) return mlir::failure();
    }
    return mlir::success();
  }

  // Prepends to the chunks `parts` of one line what comes in front of them in `warp`, of the line's totals. All in the
  // order of the scan.
  LogicalResult PrependTotals(const AxisRun& warps, Value warp, llvm::ArrayRef<int> parts,
                              llvm::ArrayRef<Tuple> totals) {
    Tuple all;  // the total so far
    size_t next = 0;
    for (int part : parts) {
      bool is_first = all.empty();
      Tuple before;  // `all` when this warp's turn has come
      for (int at : PositionsOf(warps)) {
        if (!all.empty()) before = before.empty() ? all : Select(e_.Equal(warp, e_.Int(at)), all, before);
        const Tuple& total = totals[next++];
        if (next == totals.size()) break;
        FailureOr<Tuple> joined = all.empty() ? FailureOr<Tuple>(total) : Combine(all, total);
        if (failed(joined)) return mlir::failure();
        all = *joined;
      }
      Value later;
      if (is_first) later = e_.Compare(LLVM::ICmpPredicate::ne, warp, e_.Int(PositionsOf(warps).front()));
      for (Segment& segment : chunks_[part].segments)
        if (failed(Prepend(segment, before, later))) return mlir::failure();
    }
    if (!needs_total_) return mlir::success();
    FailureOr<Tuple> total = Combine(all, totals.back());
    if (failed(total)) return mlir::failure();
    total_ = *total;
    return mlir::success();
  }

  // Adds to the segment's carry what the lanes in front of it have.
  LogicalResult TakeFromNeighbour(Segment& segment) {
    if (segment.scanned.empty()) return mlir::success();
    Value there = segment.neighbour.is_there;
    Tuple scanned = segment.scanned;
    if (!segment.carry.empty()) {
      FailureOr<Tuple> joined = Combine(segment.carry, scanned);
      if (failed(joined)) return mlir::failure();
      scanned = segment.has_carry ? Select(segment.has_carry, *joined, scanned) : *joined;
    }
    Tuple before = FromLane(scanned, segment.neighbour.map, segment.neighbour.lane);
    if (segment.carry.empty()) {
      segment.has_carry = there;
      segment.carry = before;
    } else {
      if (segment.has_carry) segment.has_carry = e_.Or(segment.has_carry, there);
      segment.carry = Select(there, before, segment.carry);
    }
    return mlir::success();
  }

  LogicalResult ScanSegment(Segment& segment) {
    if (failed(TakeFromNeighbour(segment))) return mlir::failure();
    Tuple before = segment.carry;
    for (int r : segment.registers) {
      if (!before.empty()) {
        FailureOr<Tuple> value = Combine(before, values_[r]);
        if (failed(value)) return mlir::failure();
        bool may_lack = segment.has_carry && r == segment.registers.front();
        values_[r] = may_lack ? Select(segment.has_carry, *value, values_[r]) : *value;
      }
      before = values_[r];
    }
    return mlir::success();
  }

  LogicalResult ScanSegments() {
    for (auto& [first, chunk] : chunks_)
      for (Segment& segment : chunk.segments)
        if (failed(ScanSegment(segment))) return mlir::failure();
    for (auto [operand, result] : llvm::enumerate(op_.getResult())) {
      Values list;
      for (int r = 0; r < layout_.InSize("register"); ++r) list.push_back(values_[r & ~copies_][operand]);
      f_.Set(result, list);
    }
    return mlir::success();
  }

  FunctionLowering& f_;
  Emitter& e_;
  tt::ScanOp op_;
  RankedTensorType type_;
  const LinearLayout layout_;
  const bool combines_anything_;  // else no lane combines what is no element
  int copies_ = 0;
  llvm::SmallVector<AxisRun> runs_;
  llvm::SmallVector<Tuple> values_;  // by register
  std::map<int, Chunk> chunks_;      // by their first register
  Value total_lane_;                 // i32: the lane that has a chunk's total; null: each lane has it
  LaneMap total_map_;                // the same for each lane
  bool needs_total_ = false;         // of the one line that there is
  Tuple total_;
};

LogicalResult LowerScan(FunctionLowering& f, tt::ScanOp op) { return Scan(f, op).Lower(); }

}  // namespace

void AddScans(LoweringTable& table) { table.Add<tt::ScanOp>(LowerScan); }

}  // namespace tritond::compiler
