// SPDX-License-Identifier: Apache-2.0
// Finds the moves between lanes that take the fewest cycles. In this order:
//
//   1. One instruction: each kind is asked whether it serves all lanes whose source matters.
//   2. Two moves by DPP. Either the second one moves lanes of the first one's result and keeps the others of it. Or it
//      moves lanes of the value itself, and keeps those that the first one has served:
//        xor 4 on gfx9     row_shl:4 in the even banks, row_shr:4 in the odd ones
//        lane 7 of eight   quad_perm:[3,3,3,3], then row_shl:4 in the even banks
//   3. Exchanges of rows, where there are swaps of registers: they bring each lane's source into its own row, then 1
//      and 2 go on there.
//   4. Two lanes through scalar registers, where each half of the wave wants one lane.
//   5. ds_swizzle_b32, which goes through the hardware of LDS but needs no addresses.
//
// "Data Parallel Processing" and "V_PERMLANE…" in the ISA manuals of CDNA 3 and 4 and of RDNA 3 and 4.
#include "compiler/targets/amd/lane_moves.h"

#include <array>

#include "llvm/ADT/STLExtras.h"

namespace tritond::compiler::amd {
namespace {

using Kind = LaneMove::Kind;
using Sources = llvm::SmallVector<int, 64>;

constexpr int kNowhere = -1, kRowLanes = 16, kBankLanes = 4, kHalfLanes = 32, kAll = 0xf;
// From one operation on registers to the next that depends on it, with the wait states that a read by DPP needs. The
// others: a selector in scalar registers more; a register for the result more, or two; through LDS.
constexpr int kMoveCycles = 8, kSelectorCycles = 12, kSwapCycles = 16, kTwoLaneCycles = 24, kSwizzleCycles = 64;

// DPP_CTRL.
constexpr int kRowShiftLeft = 0x100, kRowShiftRight = 0x110, kRowRotate = 0x120, kWaveShiftLeft = 0x130,
              kWaveRotateLeft = 0x134, kWaveShiftRight = 0x138, kWaveRotateRight = 0x13c, kRowMirror = 0x140,
              kRowHalfMirror = 0x141, kBroadcast15 = 0x142, kBroadcast31 = 0x143, kRowShare = 0x150, kRowXor = 0x160;

int RowOf(int lane) { return lane / kRowLanes; }

// From which lane `lane` of a wave of `lanes` gets its value by that control.
int SourceOf(int control, int lane, int lanes) {
  const int at = lane % kRowLanes, row = lane - at, by = control & 0xf;
  const auto in_row = [&](int from) { return from >= 0 && from < kRowLanes ? row + from : kNowhere; };
  switch (control) {
    case kWaveShiftLeft:
      return lane + 1 < lanes ? lane + 1 : kNowhere;
    case kWaveRotateLeft:
      return (lane + 1) % lanes;
    case kWaveShiftRight:
      return lane - 1;
    case kWaveRotateRight:
      return (lane + lanes - 1) % lanes;
    case kRowMirror:
      return in_row(kRowLanes - 1 - at);
    case kRowHalfMirror:
      return in_row(at ^ 7);
    case kBroadcast15:
      return row - 1;
    case kBroadcast31:
      return lane >= kHalfLanes ? kHalfLanes - 1 : kNowhere;
    default:
      break;
  }
  switch (control & ~0xf) {
    case kRowShiftLeft:
      return in_row(at + by);
    case kRowShiftRight:
      return in_row(at - by);
    case kRowRotate:
      return in_row((at - by) & (kRowLanes - 1));
    case kRowShare:
      return in_row(by);
    case kRowXor:
      return in_row(at ^ by);
    default:
      return kNowhere;
  }
}

// All but quad_perm.
llvm::SmallVector<int, 80> ControlsOf(const Architecture& arch) {
  llvm::SmallVector<int, 80> controls;
  for (int kind : {kRowShiftLeft, kRowShiftRight, kRowRotate})
    for (int by = 1; by < kRowLanes; ++by) controls.push_back(kind | by);
  controls.append({kRowMirror, kRowHalfMirror});
  for (int by = 0; by < kRowLanes; ++by) controls.push_back(kRowShare | by);
  if (arch.has_row_xor) {
    for (int by = 1; by < kRowLanes; ++by) controls.push_back(kRowXor | by);
  } else {
    controls.append({kWaveShiftLeft, kWaveRotateLeft, kWaveShiftRight, kWaveRotateRight, kBroadcast15, kBroadcast31});
  }
  return controls;
}

class Finder {
 public:
  Finder(const Architecture& arch, int lanes) : arch_(arch), lanes_(lanes), controls_(ControlsOf(arch)) {}

  std::optional<LaneMoves> Find(llvm::ArrayRef<int> sources) {
    if (std::optional<LaneMoves> moves = FindInRegisters(sources)) return moves;
    if (std::optional<LaneMoves> moves = FindSwaps(sources)) return moves;
    if (std::optional<LaneMove> move = TwoLanes(sources)) return LaneMoves{{*move}, kTwoLaneCycles};
    if (std::optional<LaneMove> move = Swizzle(sources)) return LaneMoves{{*move}, kSwizzleCycles};
    return std::nullopt;
  }

 private:
  std::optional<LaneMoves> FindInRegisters(llvm::ArrayRef<int> sources) {
    if (IsOwn(sources)) return LaneMoves{};
    if (std::optional<LaneMoves> one = FindOne(sources)) return one;
    std::optional<LaneMoves> best;
    const auto consider = [&](const std::optional<LaneMoves>& two) {
      if (two && (!best || two->cycles < best->cycles)) best = two;
    };
    for (int control : controls_) consider(FindSecondOfValue(sources, control));
    if (!best && StaysInRows(sources))
      for (int control : controls_) consider(FindSecondOfFirst(sources, control));
    return best;
  }

  static bool StaysInRows(llvm::ArrayRef<int> sources) {
    for (auto [lane, source] : llvm::enumerate(sources))
      if (source >= 0 && RowOf(source) != RowOf(lane)) return false;
    return true;
  }

  static bool IsOwn(llvm::ArrayRef<int> sources) {
    for (auto [lane, source] : llvm::enumerate(sources))
      if (source >= 0 && source != static_cast<int>(lane)) return false;
    return true;
  }

  std::optional<LaneMoves> FindOne(llvm::ArrayRef<int> sources) {
    if (std::optional<LaneMove> move = QuadPermutation(sources)) return LaneMoves{{*move}, kMoveCycles};
    for (int control : controls_)
      if (Serves(control, sources)) return LaneMoves{{Dpp(control)}, kMoveCycles};
    if (std::optional<LaneMove> move = OneLane(sources)) return LaneMoves{{*move}, kMoveCycles};
    if (arch_.has_row_xor)
      for (Kind kind : {Kind::kSameRow, Kind::kOtherRow})
        if (std::optional<LaneMove> move = Selectors(kind, sources)) return LaneMoves{{*move}, kSelectorCycles};
    return std::nullopt;
  }

  static LaneMove Dpp(int control) {
    LaneMove move;
    move.control = control;
    return move;
  }

  static LaneMove Other(Kind kind, uint64_t control) {
    LaneMove move;
    move.kind = kind;
    move.control = control;
    return move;
  }

  bool Serves(int control, llvm::ArrayRef<int> sources) const {
    for (auto [lane, source] : llvm::enumerate(sources))
      if (source >= 0 && SourceOf(control, lane, lanes_) != source) return false;
    return true;
  }

  // Lanes of `size` take from lanes of the same group, all groups alike. The result is the source of each, any if it is
  // negative. It is empty if lanes take otherwise. The groups' numbers differ by `group_xor`.
  static llvm::SmallVector<int, kRowLanes> SourcesInGroup(llvm::ArrayRef<int> sources, int size, int group_xor) {
    llvm::SmallVector<int, kRowLanes> of_group(size, kNowhere);
    for (auto [lane, source] : llvm::enumerate(sources)) {
      if (source < 0) continue;
      int& known = of_group[lane % size];
      if ((source / size ^ group_xor) != static_cast<int>(lane) / size) return {};
      if (known >= 0 && known != source % size) return {};
      known = source % size;
    }
    return of_group;
  }

  // quad_perm: lane i of four takes from the lane that bits 2i and 2i + 1 of the control say.
  static std::optional<LaneMove> QuadPermutation(llvm::ArrayRef<int> sources) {
    const auto of_quad = SourcesInGroup(sources, kBankLanes, 0);
    if (of_quad.empty()) return std::nullopt;
    int control = 0;
    for (auto [lane, source] : llvm::enumerate(of_quad))
      control |= (source < 0 ? static_cast<int>(lane) : source) << (2 * lane);
    return Dpp(control);
  }

  static std::optional<LaneMove> Selectors(Kind kind, llvm::ArrayRef<int> sources) {
    const auto of_row = SourcesInGroup(sources, kRowLanes, kind == Kind::kOtherRow ? 1 : 0);
    if (of_row.empty()) return std::nullopt;
    uint64_t selectors = 0;
    for (auto [lane, source] : llvm::enumerate(of_row))
      selectors |= (source < 0 ? uint64_t{lane} : static_cast<uint64_t>(source)) << (4 * lane);
    return Other(kind, selectors);
  }

  // The one source of lanes from `begin` to `end`; kNowhere: there are several.
  static int OnlySource(llvm::ArrayRef<int> sources, int begin, int end) {
    int only = kNowhere;
    for (int source : sources.slice(begin, end - begin)) {
      if (source < 0) continue;
      if (only >= 0 && source != only) return kNowhere;
      only = source;
    }
    return only;
  }

  std::optional<LaneMove> OneLane(llvm::ArrayRef<int> sources) const {
    const int lane = OnlySource(sources, 0, lanes_);
    if (lane < 0) return std::nullopt;
    return Other(Kind::kOneLane, lane);
  }

  std::optional<LaneMove> TwoLanes(llvm::ArrayRef<int> sources) const {
    if (lanes_ <= kHalfLanes) return std::nullopt;
    const int lower = OnlySource(sources, 0, kHalfLanes), upper = OnlySource(sources, kHalfLanes, lanes_);
    if (lower < 0 || upper < 0) return std::nullopt;
    return Other(Kind::kTwoLanes, lower + 64 * upper);
  }

  // Rows and banks that a move by DPP shall write: all banks of some rows, or some banks of all rows.
  using Cells = std::pair<int, int>;
  static bool Has(const Cells& cells, int lane) {
    return cells.first >> RowOf(lane) & cells.second >> (lane % kRowLanes / kBankLanes) & 1;
  }

  // The first move serves what the second one, of the value itself, does not.
  std::optional<LaneMoves> FindSecondOfValue(llvm::ArrayRef<int> sources, int control) {
    int wrong_rows = 0, wrong_banks = 0;
    for (auto [lane, source] : llvm::enumerate(sources)) {
      const int from = SourceOf(control, lane, lanes_);
      if (source < 0 || from < 0 || from == source) continue;
      wrong_rows |= 1 << RowOf(lane);
      wrong_banks |= 1 << (lane % kRowLanes / kBankLanes);
    }
    for (const Cells& cells : {Cells{kAll, kAll & ~wrong_banks}, Cells{kAll & ~wrong_rows, kAll}}) {
      if (cells.first == 0 || cells.second == 0) continue;
      Sources rest(sources.begin(), sources.end());
      bool serves_any = false;
      for (auto [lane, source] : llvm::enumerate(rest)) {
        if (!Has(cells, lane) || SourceOf(control, lane, lanes_) < 0) continue;
        serves_any |= source >= 0;
        source = kNowhere;
      }
      if (!serves_any) continue;
      std::optional<LaneMoves> first = IsOwn(rest) ? LaneMoves{} : FindOne(rest);
      if (first) return Append(*first, control, cells, /*value=*/0);
    }
    return std::nullopt;
  }

  // The second move takes from the first one's result, and keeps that elsewhere.
  std::optional<LaneMoves> FindSecondOfFirst(llvm::ArrayRef<int> sources, int control) {
    for (int banks = kAll; banks > 0; --banks) {
      const Cells cells(kAll, banks);
      std::optional<Sources> before = SourcesBefore(sources, control, cells);
      if (!before) continue;
      std::optional<LaneMoves> first = FindOne(*before);
      if (first) return Append(*first, control, cells, /*value=*/1);
    }
    return std::nullopt;
  }

  // What lanes must have so that they have `sources` after that move.
  std::optional<Sources> SourcesBefore(llvm::ArrayRef<int> sources, int control, const Cells& cells) const {
    Sources before(sources.size(), kNowhere);
    bool serves_any = false;
    for (auto [lane, source] : llvm::enumerate(sources)) {
      if (source < 0) continue;
      const int from = Has(cells, lane) ? SourceOf(control, lane, lanes_) : kNowhere;
      serves_any |= from >= 0;
      int& had = before[from < 0 ? lane : from];
      if (had >= 0 && had != source) return std::nullopt;
      had = source;
    }
    if (!serves_any) return std::nullopt;
    return before;
  }

  static LaneMoves Append(const LaneMoves& first, int control, const Cells& cells, int value) {
    LaneMoves result = first;
    LaneMove move = Dpp(control);
    std::tie(move.rows, move.banks) = cells;
    move.kept = static_cast<int>(first.moves.size());
    move.value = value == 0 ? 0 : move.kept;
    result.moves.push_back(move);
    result.cycles += kMoveCycles;
    return result;
  }

  // What a bit of the lane's number becomes in that of its source.
  enum class BitChange { kAny, kNone, kFlip, kClear, kSet, kMixed };

  static BitChange ChangeOf(llvm::ArrayRef<int> sources, int bit) {
    bool seen[2][2] = {};  // by the lane's bit and the source's
    for (auto [lane, source] : llvm::enumerate(sources))
      if (source >= 0) seen[(lane & bit) != 0][(source & bit) != 0] = true;
    const bool none = !seen[0][1] && !seen[1][0], flip = !seen[0][0] && !seen[1][1];
    const bool clear = !seen[0][1] && !seen[1][1], set = !seen[0][0] && !seen[1][0];
    if (none && flip) return BitChange::kAny;
    return none    ? BitChange::kNone
           : clear ? BitChange::kClear
           : set   ? BitChange::kSet
           : flip  ? BitChange::kFlip
                   : BitChange::kMixed;
  }

  std::optional<LaneMoves> FindSwaps(llvm::ArrayRef<int> sources) {
    if (!arch_.swaps_rows) return std::nullopt;
    Sources rest(sources.begin(), sources.end());
    LaneMoves swaps;
    for (int bit : {kRowLanes, kHalfLanes}) {
      const BitChange change = ChangeOf(rest, bit);
      if (change == BitChange::kMixed) return std::nullopt;
      if (change == BitChange::kNone || change == BitChange::kAny) continue;
      const Kind kind = change == BitChange::kFlip  ? Kind::kSwap
                        : change == BitChange::kSet ? Kind::kSet
                                                    : Kind::kClear;
      LaneMove move = Other(kind, bit);
      move.value = static_cast<int>(swaps.moves.size());
      swaps.moves.push_back(move);
      swaps.cycles += kSwapCycles;
      for (auto [lane, source] : llvm::enumerate(rest))
        if (source >= 0) source = (source & ~bit) | (static_cast<int>(lane) & bit);
    }
    if (swaps.moves.empty()) return std::nullopt;
    std::optional<LaneMoves> in_rows = FindInRegisters(rest);
    if (!in_rows) return std::nullopt;
    const int shift = static_cast<int>(swaps.moves.size());
    for (LaneMove move : in_rows->moves) {
      move.value += shift;
      if (move.kept != LaneMove::kNothing) move.kept += shift;
      swaps.moves.push_back(move);
    }
    swaps.cycles += in_rows->cycles;
    return swaps;
  }

  // Masks of five bits, from the lowest on: and, or, xor.
  std::optional<LaneMove> Swizzle(llvm::ArrayRef<int> sources) const {
    if (lanes_ > kHalfLanes) {
      const BitChange half = ChangeOf(sources, kHalfLanes);
      if (half != BitChange::kNone && half != BitChange::kAny) return std::nullopt;
    }
    int kept = 0, set = 0, flipped = 0;
    for (int bit = 1; bit < kHalfLanes; bit *= 2) {
      const BitChange change = ChangeOf(sources, bit);
      if (change == BitChange::kMixed) return std::nullopt;
      if (change != BitChange::kClear && change != BitChange::kSet) kept |= bit;
      if (change == BitChange::kSet) set |= bit;
      if (change == BitChange::kFlip) flipped |= bit;
    }
    return Other(Kind::kSwizzle, kept | set << 5 | flipped << 10);
  }

  const Architecture& arch_;
  const int lanes_;
  const llvm::SmallVector<int, 80> controls_;
};

}  // namespace

std::optional<LaneMoves> FindLaneMoves(const Architecture& arch, llvm::ArrayRef<int> sources) {
  return Finder(arch, static_cast<int>(sources.size())).Find(sources);
}

}  // namespace tritond::compiler::amd
