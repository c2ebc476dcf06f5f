// SPDX-License-Identifier: Apache-2.0
// ttg.convert_layout, planned from the two linear layouts alone: renaming registers, shuffles inside warps, or a round
// trip through swizzled shared memory.
#include "compiler/analysis/scratch.h"
#include "compiler/layout/conversion.h"
#include "compiler/layout/conversion_parts.h"
#include "compiler/layout/exchange.h"
#include "compiler/layout/shared_swizzle.h"
#include "compiler/layout/word_moves.h"
#include "compiler/lowering/lane_maps.h"
#include "compiler/lowering/shared_access.h"

namespace tritond::compiler {
namespace {

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;
namespace LLVM = mlir::LLVM;

// XOR over the set bits of x of image[bit].
Value XorOfBits(Emitter& e, Value x, llvm::ArrayRef<int32_t> image) {
  Value result = e.Int(0);
  for (auto [bit, value] : llvm::enumerate(image)) {
    if (value == 0) continue;
    Value is_set = e.And(e.LShr(x, bit), e.Int(1));
    result = e.Xor(result, e.Mul(is_set, e.Int(value)));
  }
  return result;
}

// i1: whether an odd number of the bits under `mask` is set.
Value Parity(Emitter& e, Value x, int32_t mask) {
  if (mask == 0) return e.Bool(false);
  Value ones = LLVM::CtPopOp::create(e.b, e.loc, x.getType(), e.And(x, e.Int(mask)));
  return e.Trunc(ones, 1);
}

// i1: whether an odd number of this thread's index bits under the masks is set.
Value ThreadParity(FunctionLowering& f, int32_t lane_mask, int32_t warp_mask) {
  Emitter& e = f.e;
  return e.Hoisted([&] {
    Value odd = Parity(e, f.Lane(), lane_mask);
    return warp_mask ? e.Xor(odd, Parity(e, f.Warp(), warp_mask)) : odd;
  });
}

// The lane from which each thread reads, but for a constant.
Value SourceLane(FunctionLowering& f, llvm::ArrayRef<int32_t> from_lane, llvm::ArrayRef<int32_t> from_warp) {
  Emitter& e = f.e;
  return e.Hoisted([&] {
    Value lane = XorOfBits(e, f.Lane(), from_lane);
    bool warp_moves = llvm::any_of(from_warp, [](int32_t v) { return v != 0; });
    return warp_moves ? e.Xor(lane, XorOfBits(e, f.Warp(), from_warp)) : lane;
  });
}

// The same for each lane, where it does not depend on the warp: XOR over the set bits of the lane of image[bit].
LaneMap SourceLanes(FunctionLowering& f, llvm::ArrayRef<int32_t> from_lane, llvm::ArrayRef<int32_t> from_warp) {
  if (llvm::any_of(from_warp, [](int32_t v) { return v != 0; })) return {};
  return MapLanes(f.target, [&](int lane) {
    int source = 0;
    for (auto [bit, value] : llvm::enumerate(from_lane)) source ^= lane >> bit & 1 ? value : 0;
    return source;
  });
}

// The value of the lane `lanes` (empty: `lane`, i32) xor `constant`.
Value FromLane(FunctionLowering& f, Value value, const LaneMap& lanes, Value lane, int constant) {
  const auto shuffle = [&](Value word) {
    Value from = f.e.Hoisted([&] { return f.e.Xor(lane, f.e.Int(constant)); });
    return f.target.ShuffleIndex(f.e.b, f.e.loc, word, from);
  };
  if (lanes.empty()) return f.Shuffle(value, shuffle);
  return MoveLanes(f, value, MapLanes(f.target, [&](int i) { return lanes[i] ^ constant; }), shuffle);
}

// The threads choose what they send: see layout/exchange.h.
class LaneExchange {
 public:
  LaneExchange(FunctionLowering& f, const ConversionPlan& plan, const Exchange& exchange, ValueList src)
      : f_(f),
        plan_(plan),
        exchange_(exchange),
        src_(src),
        lane_(SourceLane(f, exchange.lane_from_lane, plan.lane_from_warp)),
        lanes_(SourceLanes(f, exchange.lane_from_lane, plan.lane_from_warp)),
        senders_choice_(ThreadParity(f, exchange.lane_mask, exchange.warp_mask)) {}

  Values Run() {
    const ConversionPlan::SelectBit& select = plan_.select_bits[0];
    llvm::DenseMap<std::pair<int, int>, Value> done;
    Values results;
    for (auto [reg, lane] : llvm::zip(plan_.src_register, plan_.src_lane)) {
      if (!done[{reg, lane}] && !exchange_.in_pairs) done[{reg, lane}] = Receive(reg, lane, 0);
      if (!done[{reg, lane}]) {
        Value even = Receive(reg, lane, 0), odd = Receive(reg, lane, 1);
        Value choice = ThreadParity(f_, select.lane_mask, select.warp_mask);
        done[{reg, lane}] = f_.e.Select(choice, odd, even);
        done[{reg ^ exchange_.pair_register_xor, lane ^ exchange_.pair_lane_xor}] = f_.e.Select(choice, even, odd);
      }
      results.push_back(done[{reg, lane}]);
    }
    return results;
  }

 private:
  // Shuffle `step` for the register that is read from `reg`, or its neighbour, and from `lane`.
  Value Receive(int reg, int lane, int step) {
    Emitter& e = f_.e;
    const int other = reg ^ plan_.select_bits[0].register_xor;
    const int constant = lane ^ (step ? exchange_.pair_lane_xor : 0);
    Value sent;
    if (exchange_.pair_register_xor) {
      sent = src_[step ? other : reg];
    } else {
      bool flips = llvm::popcount(static_cast<uint32_t>(constant & exchange_.lane_mask)) % 2;
      sent = e.Select(senders_choice_, src_[flips ? reg : other], src_[flips ? other : reg]);
    }
    if (StaysInLane()) {
      if (constant == 0) return sent;
      return f_.Shuffle(sent, [&](Value word) { return f_.target.ShuffleXor(e.b, e.loc, word, constant); });
    }
    return FromLane(f_, sent, lanes_, lane_, constant);
  }

  // But for the constants.
  bool StaysInLane() const {
    for (auto [bit, lane] : llvm::enumerate(exchange_.lane_from_lane))
      if (lane != 1 << bit) return false;
    return llvm::all_of(plan_.lane_from_warp, [](int32_t lane) { return lane == 0; });
  }

  FunctionLowering& f_;
  const ConversionPlan& plan_;
  const Exchange& exchange_;
  ValueList src_;
  Value lane_;
  LaneMap lanes_;
  Value senders_choice_;
};

Values ConvertByShuffle(FunctionLowering& f, const ConversionPlan& plan, ValueList src) {
  Emitter& e = f.e;
  if (auto exchange = FindExchange(plan)) return LaneExchange(f, plan, *exchange, src).Run();
  Value lane = SourceLane(f, plan.lane_from_lane, plan.lane_from_warp);
  const LaneMap lanes = SourceLanes(f, plan.lane_from_lane, plan.lane_from_warp);
  bool same_lane = plan.scope == ConversionPlan::Scope::kThread;
  auto fetch = [&](int src_register, int lane_xor) {
    if (same_lane) return src[src_register];
    return FromLane(f, src[src_register], lanes, lane, lane_xor);
  };
  Values selectors;
  for (const auto& bit : plan.select_bits) selectors.push_back(ThreadParity(f, bit.lane_mask, bit.warp_mask));
  llvm::DenseMap<std::pair<int, int>, Value> done;
  Values results;
  for (auto [src_register, src_lane] : llvm::zip(plan.src_register, plan.src_lane)) {
    Value& result = done[{src_register, src_lane}];
    if (!result) {
      Values candidates;
      for (size_t choice = 0; choice < (size_t{1} << selectors.size()); ++choice) {
        int reg = src_register;
        for (auto [i, bit] : llvm::enumerate(plan.select_bits))
          if (choice >> i & 1) reg ^= bit.register_xor;
        candidates.push_back(fetch(reg, src_lane));
      }
      for (size_t i = selectors.size(); i-- > 0;)
        for (size_t k = 0; k < (size_t{1} << i); ++k)
          candidates[k] = e.Select(selectors[i], candidates[k + (size_t{1} << i)], candidates[k]);
      result = candidates[0];
    }
    results.push_back(result);
  }
  return results;
}

constexpr int kWordBits = 32;

Value PackWord(Emitter& e, ValueList src, llvm::ArrayRef<int32_t> registers) {
  mlir::Type element = src[0].getType();
  Value word = e.Poison(mlir::VectorType::get(static_cast<int64_t>(registers.size()), element));
  for (auto [i, reg] : llvm::enumerate(registers))
    word = LLVM::InsertElementOp::create(e.b, e.loc, word, src[reg], e.Int(static_cast<int64_t>(i)));
  return e.Bitcast(word, e.b.getIntegerType(static_cast<unsigned>(registers.size()) * element.getIntOrFloatBitWidth()));
}

// The same for elements narrower than a word: those that move together move in one.
Values ConvertWordsByShuffle(FunctionLowering& f, const ConversionPlan& plan, const LinearLayout& src_layout,
                             const LinearLayout& dst_layout, ValueList src) {
  Emitter& e = f.e;
  mlir::Type element = src[0].getType();
  const int bits = element.isIntOrFloat() ? static_cast<int>(element.getIntOrFloatBitWidth()) : kWordBits;
  const bool is_narrow = (bits == 8 || bits == 16) && plan.scope == ConversionPlan::Scope::kWarp;
  if (!is_narrow) return ConvertByShuffle(f, plan, src);
  const WordMoves moves = FindWordMoves(src_layout, dst_layout, kWordBits / bits);
  auto words_plan = PlanConversion(moves.src, moves.dst);
  const bool is_shuffle = words_plan.ok() && words_plan->kind == ConversionPlan::Kind::kShuffle;
  const size_t size = moves.src_registers[0].size();
  if (!is_shuffle || size == 1) return ConvertByShuffle(f, plan, src);
  Values words;
  for (const std::vector<int32_t>& registers : moves.src_registers) words.push_back(PackWord(e, src, registers));
  Values moved = ConvertByShuffle(f, *words_plan, words), results(moves.dst_registers.size() * size);
  for (auto [word, registers] : llvm::zip(moved, moves.dst_registers)) {
    Value elements = e.Bitcast(word, mlir::VectorType::get(static_cast<int64_t>(size), element));
    for (auto [i, reg] : llvm::enumerate(registers))
      results[reg] = LLVM::ExtractElementOp::create(e.b, e.loc, elements, e.Int(static_cast<int64_t>(i)));
  }
  return results;
}

LogicalResult LowerConvertLayout(FunctionLowering& f, ttg::ConvertLayoutOp op) {
  auto from = llvm::cast<RankedTensorType>(op.getSrc().getType());
  const LinearLayout src = f.LayoutOf(from), dst = f.LayoutOf(op.getType());
  ValueList values = f.Get(op.getSrc());
  auto plan = PlanConversion(src, dst);
  if (!plan.ok()) return op.emitOpError() << "cannot convert: " << std::string(plan.status().message());
  switch (plan->kind) {
    case ConversionPlan::Kind::kNone:
      f.Set(op, values);
      return mlir::success();
    case ConversionPlan::Kind::kRegister: {
      Values results;
      for (int r : plan->src_register) results.push_back(values[r]);
      f.Set(op, results);
      return mlir::success();
    }
    case ConversionPlan::Kind::kShuffle:
      f.Set(op, ConvertWordsByShuffle(f, *plan, src, dst, values));
      return mlir::success();
    case ConversionPlan::Kind::kShared:
      break;
  }
  const auto parts = FindConversionParts(src, dst, ConversionPartBits(op));
  if (!parts) return op.emitOpError() << "cannot convert in parts";
  int bits = SharedType(f.e, values[0].getType()).getIntOrFloatBitWidth();
  auto swizzle = ChooseSwizzle(parts->src, parts->dst, bits, f.target.SharedMemory());
  if (!swizzle.ok()) return op.emitOpError() << "cannot convert: " << std::string(swizzle.status().message());
  Value base = f.ScratchOf(op);
  // Warps that hold copies write them to one place. With parts, a late one would write over another part.
  const bool is_of_warp = ScratchStaysInWarp(op) && parts->src_registers.size() == 1;
  const auto barrier = [&] { is_of_warp ? f.WarpBarrier() : f.SharedBarrier(); };
  Values results(dst.InSize("register"));
  for (auto [from_registers, to_registers] : llvm::zip(parts->src_registers, parts->dst_registers)) {
    // What is read of the part before has to be there.
    if (from_registers[0] != parts->src_registers[0][0]) barrier();
    Values part;
    for (int32_t reg : from_registers) part.push_back(values[reg]);
    StoreShared(f, swizzle->store, base, swizzle->store_vec, part);
    barrier();
    const Values loaded = LoadShared(f, swizzle->load, base, swizzle->load_vec, values[0].getType());
    for (auto [reg, value] : llvm::zip(to_registers, loaded)) results[reg] = value;
  }
  f.Set(op, results);
  return mlir::success();
}

}  // namespace

void AddLayoutOps(LoweringTable& table) { table.Add<ttg::ConvertLayoutOp>(LowerConvertLayout); }

}  // namespace tritond::compiler
