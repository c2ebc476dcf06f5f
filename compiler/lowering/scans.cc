// SPDX-License-Identifier: Apache-2.0
// tt.scan, bit by bit of the axis index.
//
// An aligned run of 2^k elements along the axis is a chunk. Invariant: every element holds the scan inside its chunk,
// and every thread with a part of the chunk knows the chunk's total. The next bit of the index joins two chunks: the
// elements of the later one take the earlier one's total in front, and the totals are combined. Where the bit lies
// decides how:
//   register   both chunks are in this thread: combine them here.
//   lane       the other chunk's total comes by an xor shuffle; threads on the later side keep it.
//   warp       all warp bits at once: totals go through scratch, each thread folds those of the warps before its own.
// From the first lane bit on, the totals taken in front are gathered in a carry for each run of registers (segment),
// and applied to the elements once at the end. A reverse scan is the same with the later side where the bit is 0.
#include <map>

#include "compiler/analysis/scratch.h"
#include "compiler/lowering/shared_access.h"

namespace tritond::compiler {
namespace {

using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;

using Tuple = Values;  // one value an operand

// Registers of one thread that share what comes in front of them.
struct Segment {
  llvm::SmallVector<int> registers;
  Tuple carry;      // empty: nothing in any thread
  Value has_carry;  // i1: whether this thread has one
};

// The part of a chunk that one thread holds.
struct Chunk {
  llvm::SmallVector<Segment> segments;
  Tuple total;
};

// Where a bit of the axis index lies in the layout.
struct AxisBit {
  std::string in;
  int bit = 0;
};

class Scan {
 public:
  Scan(FunctionLowering& f, tt::ScanOp op)
      : f_(f),
        e_(f.e),
        op_(op),
        type_(llvm::cast<RankedTensorType>(op.getSrcs()[0].getType())),
        layout_(f.LayoutOf(type_)) {}

  LogicalResult Lower() {
    if (failed(FindAxisBits())) return mlir::failure();
    MakeChunks();
    for (size_t i = 0; i < axis_bits_.size(); ++i) {
      const AxisBit& bit = axis_bits_[i];
      if (bit.in == "register" && failed(JoinRegisters(bit.bit))) return mlir::failure();
      if (bit.in == "lane" && failed(JoinLanes(bit.bit))) return mlir::failure();
      if (bit.in != "warp") continue;
      while (i + 1 < axis_bits_.size() && axis_bits_[i + 1].in == "warp") ++i;
      if (failed(JoinWarps())) return mlir::failure();
    }
    return ApplyCarries();
  }

 private:
  // The axis bits from the least significant.
  LogicalResult FindAxisBits() {
    if (!IsScannable(layout_, op_.getAxis()))
      return op_.emitOpError("has an encoding that interleaves the axis; ttg-untangle-axis converts it");
    std::string axis = ttg::DimNames(type_.getRank())[op_.getAxis()];
    std::map<int32_t, AxisBit> found;
    for (const char* in : {"register", "lane", "warp"})
      for (int bit = 0; bit < layout_.InBits(in); ++bit)
        if (int32_t basis = layout_.Basis(in, bit, axis)) found[basis] = AxisBit{in, bit};
    for (const auto& [basis, bit] : found) axis_bits_.push_back(bit);
    return mlir::success();
  }

  void MakeChunks() {
    for (auto [dim, mask] : llvm::zip(layout_.InDims(), layout_.FreeVariableMasks()))
      if (dim.name == "register") copies_ = mask;
    values_.resize(layout_.InSize("register"));
    for (int r = 0; r < layout_.InSize("register"); ++r) {
      for (Value src : op_.getSrcs()) values_[r].push_back(f_.Get(src)[r]);
      if (r & copies_) continue;
      chunks_[r] = Chunk{{Segment{{r}, {}, {}}}, values_[r]};
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

  LogicalResult JoinRegisters(int bit) {
    std::map<int, Chunk> joined;
    for (auto& [first, chunk] : chunks_) {
      if (first & (1 << bit)) continue;
      Chunk& upper = chunks_[first | (1 << bit)];
      Chunk& earlier = op_.getReverse() ? upper : chunk;
      Chunk& later = op_.getReverse() ? chunk : upper;
      if (!carries_) {
        for (Segment& segment : later.segments)
          for (int r : segment.registers) {
            FailureOr<Tuple> value = Combine(earlier.total, values_[r]);
            if (failed(value)) return mlir::failure();
            values_[r] = *value;
          }
      } else {
        for (Segment& segment : later.segments)
          if (failed(Prepend(segment, earlier.total, Value()))) return mlir::failure();
      }
      FailureOr<Tuple> total = Combine(earlier.total, later.total);
      if (failed(total)) return mlir::failure();
      Chunk& result = joined[first];
      for (Chunk* part : {&earlier, &later})
        for (Segment& segment : part->segments) result.segments.push_back(segment);
      result.total = *total;
      if (!carries_) MergeSegments(result);
    }
    chunks_ = std::move(joined);
    return mlir::success();
  }

  // Without carries yet, what comes in front of a chunk comes in front of all its registers.
  void MergeSegments(Chunk& chunk) {
    Segment all;
    for (Segment& segment : chunk.segments) all.registers.append(segment.registers);
    chunk.segments = {all};
  }

  LogicalResult JoinLanes(int bit) {
    carries_ = true;
    Value lane = f_.Lane();
    Value later = e_.Hoisted([&] {
      auto predicate = op_.getReverse() ? mlir::LLVM::ICmpPredicate::eq : mlir::LLVM::ICmpPredicate::ne;
      return e_.Compare(predicate, e_.And(lane, e_.Int(1 << bit)), e_.Int(0));
    });
    for (auto& [first, chunk] : chunks_) {
      Tuple other;
      for (Value v : chunk.total)
        other.push_back(f_.Shuffle(v, [&](Value word) { return f_.target.ShuffleXor(e_.b, e_.loc, word, 1 << bit); }));
      for (Segment& segment : chunk.segments)
        if (failed(Prepend(segment, other, later))) return mlir::failure();
      FailureOr<Tuple> total = Combine(Select(later, other, chunk.total), Select(later, chunk.total, other));
      if (failed(total)) return mlir::failure();
      chunk.total = *total;
    }
    return mlir::success();
  }

  // The index of this chunk among those of the block that differ off the axis: row-major without the axis, times the
  // axis positions that registers beyond the warps add.
  Value SlotOf(int first) {
    auto names = ttg::DimNames(type_.getRank());
    auto constant = layout_.ApplyNamed({{"register", first}});
    Value slot = e_.Int(0);
    for (auto [dim, name] : llvm::enumerate(names)) {
      if (dim == op_.getAxis()) continue;
      Value at = f_.Coordinate(layout_, name, f_.ThreadPart(layout_, name), constant[dim]);
      slot = e_.Add(e_.Mul(slot, e_.Int(type_.getDimSize(dim))), at);
    }
    return slot;
  }

  // Chunks that differ only in later register bits of the axis take turns in one scratch area.
  // Where the order of operands decides about bits (which NaN, which zero), all lanes of a chunk take the total of
  // their lowest one, as each of them writes it.
  void TakeLowestLane() {
    int all = 0;
    for (const AxisBit& bit : axis_bits_)
      if (bit.in == "lane") all |= 1 << bit.bit;
    if (f_.target.FloatsCommute() || all == 0) return;
    Value lowest = e_.Hoisted([&, lane = f_.Lane()] { return e_.And(lane, e_.Int(~all)); });
    for (auto& [first, chunk] : chunks_)
      for (auto [value, src] : llvm::zip(chunk.total, op_.getSrcs()))
        if (llvm::isa<mlir::FloatType>(tt::ElementOf(src.getType())))
          value = f_.Shuffle(value, [&](Value word) { return f_.target.ShuffleIndex(e_.b, e_.loc, word, lowest); });
  }

  LogicalResult JoinWarps() {
    carries_ = true;
    TakeLowestLane();
    int32_t mask = WarpMaskAlongAxis(layout_, op_.getAxis());
    Value warp = e_.Hoisted([&, index = f_.Warp()] { return e_.PackBits(index, mask); });
    std::string axis = ttg::DimNames(type_.getRank())[op_.getAxis()];
    std::map<int32_t, llvm::SmallVector<int>> rounds;
    for (auto& [first, chunk] : chunks_) {
      auto at = layout_.ApplyNamed({{"register", first}});
      rounds[at[op_.getAxis()]].push_back(first);
    }
    bool is_first = true;
    for (auto& [position, firsts] : rounds) {
      if (!is_first) f_.target.SharedBarrier(e_.b, e_.loc);
      is_first = false;
      if (failed(ExchangeTotals(firsts, warp, 1 << llvm::popcount(static_cast<uint32_t>(mask)))))
        return mlir::failure();
    }
    return mlir::success();
  }

  LogicalResult ExchangeTotals(llvm::ArrayRef<int> firsts, Value warp, int warps) {
    Scratch scratch = ScratchOf(op_);
    auto address = [&](int first, size_t operand, Value index) {
      Value slot = e_.Add(e_.Mul(SlotOf(first), e_.Int(warps)), index);
      mlir::Type stored = SharedType(e_, chunks_[first].total[operand].getType());
      return e_.Gep(f_.ScratchOf(op_, scratch.offsets[operand]), stored, slot);
    };
    for (int first : firsts)
      for (auto [operand, value] : llvm::enumerate(chunks_[first].total))
        StoreVector(e_, address(first, operand, warp), {ToShared(e_, value)});
    f_.target.SharedBarrier(e_.b, e_.loc);
    for (int first : firsts) {
      Chunk& chunk = chunks_[first];
      Tuple before, all;
      // From the first warp of the scan's direction: `all` is the total so far, and `before` what this warp has in
      // front of it, once its turn has come.
      for (int i = 0; i < warps; ++i) {
        int w = op_.getReverse() ? warps - 1 - i : i;
        Tuple total;
        for (size_t operand = 0; operand < chunk.total.size(); ++operand) {
          mlir::Type type = chunk.total[operand].getType();
          total.push_back(
              FromShared(e_, LoadVector(e_, address(first, operand, e_.Int(w)), SharedType(e_, type), 1)[0], type));
        }
        if (i == 1) before = all;
        if (i > 1) before = Select(e_.Equal(warp, e_.Int(w)), all, before);
        if (i == 0) {
          all = total;
          continue;
        }
        FailureOr<Tuple> joined = Combine(all, total);
        if (failed(joined)) return mlir::failure();
        all = *joined;
      }
      int first_warp = op_.getReverse() ? warps - 1 : 0;
      Value later = e_.Compare(mlir::LLVM::ICmpPredicate::ne, warp, e_.Int(first_warp));
      for (Segment& segment : chunk.segments)
        if (failed(Prepend(segment, before, later))) return mlir::failure();
      chunk.total = all;
    }
    return mlir::success();
  }

  LogicalResult ApplyCarries() {
    for (auto& [first, chunk] : chunks_) {
      for (Segment& segment : chunk.segments) {
        if (segment.carry.empty()) continue;
        for (int r : segment.registers) {
          FailureOr<Tuple> value = Combine(segment.carry, values_[r]);
          if (failed(value)) return mlir::failure();
          values_[r] = segment.has_carry ? Select(segment.has_carry, *value, values_[r]) : *value;
        }
      }
    }
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
  int copies_ = 0;
  bool carries_ = false;  // whether a lane or warp bit has been joined
  llvm::SmallVector<AxisBit> axis_bits_;
  llvm::SmallVector<Tuple> values_;  // by register
  std::map<int, Chunk> chunks_;      // by their first register
};

LogicalResult LowerScan(FunctionLowering& f, tt::ScanOp op) { return Scan(f, op).Lower(); }

}  // namespace

void AddScans(LoweringTable& table) { table.Add<tt::ScanOp>(LowerScan); }

}  // namespace tritond::compiler
