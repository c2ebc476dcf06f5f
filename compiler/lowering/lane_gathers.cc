// SPDX-License-Identifier: Apache-2.0
#include "compiler/lowering/lane_gathers.h"

#include <map>

#include "compiler/analysis/gather_plan.h"
#include "compiler/lowering/lane_maps.h"

namespace tritond::compiler {
namespace {

using mlir::Value;
namespace LLVM = mlir::LLVM;

using Lanes = std::vector<int>;  // in order

constexpr int kAny = RegisterMoves::kAny;
static_assert(kAny == kAnyLane);

class LaneMover final {
 public:
  LaneMover(FunctionLowering& f, const RegisterMoves& moves, ValueList src)
      : f_(f), e_(f.e), moves_(moves), src_(src) {}

  Values Run() {
    Values moved;
    for (const RegisterMoves::Move& move : moves_.moves) moved.push_back(Moved(move));
    Values results;
    for (const auto& parts : moves_.results) {
      std::map<int, Lanes> lanes_of;
      for (const RegisterMoves::Part& part : parts) lanes_of[part.move] = part.lanes;
      results.push_back(Choose(lanes_of, moved));
    }
    return results;
  }

 private:
  Value Moved(const RegisterMoves::Move& move) {
    std::map<int, Lanes> lanes_of;
    for (auto [lane, reg] : llvm::enumerate(move.sent))
      if (reg != kAny) lanes_of[reg].push_back(static_cast<int>(lane));
    Value sent = Choose(lanes_of, src_);
    if (move.stays) return sent;
    return MoveLanes(f_, sent, move.from, [&](Value word) { return Shuffled(word, move.from); });
  }

  // values[i] in the lanes that `lanes_of` has at i; anything in those that it lacks.
  Value Choose(const std::map<int, Lanes>& lanes_of, ValueList values) {
    // The largest part needs no condition.
    auto rest = std::max_element(lanes_of.begin(), lanes_of.end(),
                                 [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    Value chosen = values[rest->first];
    Lanes others = rest->second;
    for (const auto& [i, lanes] : lanes_of) {
      if (i == rest->first) continue;
      chosen = e_.Select(IsAmong(lanes, others), values[i], chosen);
      others.insert(others.end(), lanes.begin(), lanes.end());
    }
    return chosen;
  }

  // i1: true in `lanes` and false in `others`.
  Value IsAmong(Lanes lanes, Lanes others) {
    return e_.Hoisted([&, lane = f_.Lane()] {
      llvm::sort(lanes);
      llvm::sort(others);
      using P = LLVM::ICmpPredicate;
      if (lanes.size() == 1) return e_.Equal(lane, e_.Int(lanes[0]));
      if (lanes.back() < others.front()) return e_.Compare(P::ult, lane, e_.Int(others.front()));
      if (lanes.front() > others.back()) return e_.Compare(P::ugt, lane, e_.Int(others.back()));
      for (int bit = 1; bit < f_.target.WarpSize(); bit *= 2)
        for (int set : {bit, 0})
          if (llvm::all_of(lanes, [&](int i) { return (i & bit) == set; }) &&
              llvm::none_of(others, [&](int i) { return (i & bit) == set; }))
            return e_.Compare(set ? P::ne : P::eq, e_.And(lane, e_.Int(bit)), e_.Int(0));
      uint64_t mask = 0;
      for (int i : lanes) mask |= uint64_t{1} << i;
      return e_.Trunc(BitOfLane(mask, lane), 1);
    });
  }

  // The bit of the lane in `mask`, lowest of an i32; above it is anything.
  Value BitOfLane(uint64_t mask, Value lane) {
    const unsigned bits = f_.target.WarpSize() > 32 ? 64 : 32;
    Value by = e_.ZExt(lane, bits);
    Value shifted = LLVM::LShrOp::create(e_.b, e_.loc, e_.Int(static_cast<int64_t>(mask), bits), by);
    return e_.Trunc(shifted, 32);
  }

  // `word` of the lanes in `from`.
  Value Shuffled(Value word, const Lanes& from) {
    const int size = f_.target.WarpSize();
    // What `of` says of all lanes that matter, if it is one number.
    auto common = [&](auto of) -> std::optional<int> {
      std::optional<int> number;
      for (auto [lane, source] : llvm::enumerate(from)) {
        if (source == kAny) continue;
        const int here = of(static_cast<int>(lane), source);
        if (number && *number != here) return std::nullopt;
        number = here;
      }
      return number;
    };
    auto shuffle = [&](Value lane) { return f_.target.ShuffleIndex(e_.b, e_.loc, word, lane); };
    if (auto mask = common([](int lane, int source) { return lane ^ source; }))
      return f_.target.ShuffleXor(e_.b, e_.loc, word, *mask);
    if (auto one = common([](int, int source) { return source; })) return shuffle(e_.Int(*one));
    if (auto distance = common([&](int lane, int source) { return (source - lane) & (size - 1); }))
      return shuffle(
          e_.Hoisted([&, lane = f_.Lane()] { return e_.And(e_.Add(lane, e_.Int(*distance)), e_.Int(size - 1)); }));
    return shuffle(AnyMap(from));
  }

  // `from` of this lane: each bit of the answer is a mask by lanes.
  Value AnyMap(const Lanes& from) {
    return e_.Hoisted([&, lane = f_.Lane()] {
      Value result = e_.Int(0);
      for (int bit = 0; 1 << bit < f_.target.WarpSize(); ++bit) {
        uint64_t mask = 0;
        for (auto [i, source] : llvm::enumerate(from))
          if (source != kAny && (source >> bit & 1)) mask |= uint64_t{1} << i;
        if (mask == 0) continue;
        result = e_.Or(result, e_.Shl(e_.And(BitOfLane(mask, lane), e_.Int(1)), bit));
      }
      return result;
    });
  }

  FunctionLowering& f_;
  Emitter& e_;
  const RegisterMoves& moves_;
  const ValueList src_;
};

}  // namespace

Values MoveRegisters(FunctionLowering& f, const RegisterMoves& moves, ValueList src) {
  return LaneMover(f, moves, src).Run();
}

Values AskLanes(FunctionLowering& f, const LinearLayout& source, ValueList src, ValueList indices) {
  Emitter& e = f.e;
  const int32_t chosen = ChosenRegisters(source);
  llvm::SmallVector<int> bits;
  for (int bit = 0; chosen >> bit; ++bit)
    if (chosen >> bit & 1) bits.push_back(bit);
  const bool stays = StaysInLane(source);
  Value lane_part = f.ThreadPart(source, "lane"), register_part = f.ThreadPart(source, "register");
  llvm::DenseMap<std::tuple<int, int, Value>, Value> done;  // registers may hold copies
  Values results;
  for (auto [r, each] : llvm::enumerate(indices)) {
    Value index = each;
    const int fixed = source.ApplyNamed({{"register", static_cast<int>(r)}})[0];
    const int fixed_lane = source.ApplyNamed({{"register", static_cast<int>(r)}})[1];
    Value& result = done[{fixed, fixed_lane, index}];
    if (!result) {
      auto from = [&](absl::string_view out, Value thread, int constant) {
        return e.Xor(e.Xor(thread, e.Int(constant)), ApplyBases(e, source, "index", out, [&] { return index; }));
      };
      Value lane = stays ? Value() : from("lane", lane_part, fixed_lane);
      Value reg = from("register", register_part, fixed);
      Values candidates;
      for (int choice = 0; choice < 1 << bits.size(); ++choice) {
        int at = fixed & ~chosen;
        for (auto [i, bit] : llvm::enumerate(bits)) at |= (choice >> i & 1) << bit;
        candidates.push_back(stays ? src[at] : f.Shuffle(src[at], [&](Value word) {
          return f.target.ShuffleIndex(e.b, e.loc, word, lane);
        }));
      }
      for (size_t i = bits.size(); i-- > 0;) {
        Value is_set = e.Compare(LLVM::ICmpPredicate::ne, e.And(reg, e.Int(1 << bits[i])), e.Int(0));
        for (size_t k = 0; k < size_t{1} << i; ++k)
          candidates[k] = e.Select(is_set, candidates[k + (size_t{1} << i)], candidates[k]);
      }
      result = candidates[0];
    }
    results.push_back(result);
  }
  return results;
}

}  // namespace tritond::compiler
