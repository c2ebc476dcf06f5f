// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/shared_tiles.h"

#include <algorithm>

#include "compiler/layout/f2_span.h"
#include "compiler/layout/shared_swizzle.h"

namespace tritond::compiler {
namespace {

// Issue slots of a multiprocessor while its shared memory serves one phase.
constexpr double kSlotsPerPhase = 4;

int32_t Log2(int32_t n) { return 31 - __builtin_clz(static_cast<uint32_t>(n)); }

std::vector<int32_t> OffsetsOf(const LinearLayout& to_offset, absl::string_view in) {
  std::vector<int32_t> offsets;
  for (int32_t bit = 0; bit < to_offset.InBits(in); ++bit) offsets.push_back(to_offset.Basis(in, bit, "offset"));
  return offsets;
}

// The register bit, not in `taken`, that goes to `offset`; -1 where there is none.
int32_t FindBit(const std::vector<int32_t>& registers, int32_t offset, const std::vector<int32_t>& taken) {
  for (size_t bit = 0; bit < registers.size(); ++bit)
    if (registers[bit] == offset && std::find(taken.begin(), taken.end(), static_cast<int32_t>(bit)) == taken.end())
      return static_cast<int32_t>(bit);
  return -1;
}

// How often the busiest bank is asked where the lanes of one phase are at these offsets: words apart over banks apart.
double Conflicts(const std::vector<int32_t>& lanes, int32_t element_bits, const SharedMemoryShape& shape) {
  F2Span words, banks;
  for (int32_t offset : lanes) {
    const uint64_t word = static_cast<uint64_t>(offset) * element_bits / shape.word_bits;
    words.Insert(word);
    banks.Insert(word % shape.banks);
  }
  return 1 << (words.rank() - banks.rank());
}

// What the plans of one layout share.
struct Bases {
  std::vector<int32_t> registers, lanes, warps, blocks;
  bool few_addresses;
};

bool AreWholeRows(const std::vector<int32_t>& offsets, int32_t row) {
  return std::all_of(offsets.begin(), offsets.end(), [&](int32_t offset) { return offset % row == 0; });
}

LinearLayout AddressLayout(const LinearLayout& to_offset, const Bases& bases, const TilePlan& plan,
                           const std::vector<int32_t>& rows) {
  LinearLayout::Columns columns;
  const int32_t matrix_bits = static_cast<int32_t>(plan.matrix.size());
  for (int32_t bit = plan.group_bits; bit < matrix_bits; ++bit) columns.push_back(bases.registers[plan.matrix[bit]]);
  columns.insert(columns.end(), rows.begin(), rows.end());
  for (int32_t bit = 0; bit < 2; ++bit)
    columns.push_back(bit < plan.group_bits ? bases.registers[plan.matrix[bit]] : 0);
  columns.insert(columns.end(), bases.warps.begin(), bases.warps.end());
  columns.insert(columns.end(), bases.blocks.begin(), bases.blocks.end());
  return LinearLayout::FromColumns({{"register", matrix_bits - plan.group_bits},
                                    {"lane", kTileLaneBits},
                                    {"warp", static_cast<int32_t>(bases.warps.size())},
                                    {"block", static_cast<int32_t>(bases.blocks.size())}},
                                   {{"offset", to_offset.OutBits("offset")}}, std::move(columns));
}

// The address of an instruction is that of another one and a number, or has a register of its own where a bit of its
// matrices meets a bit of a lane or warp. So one such bit, if there is any, names matrices of one instruction. The
// first bit stays, for units take words of neighbouring registers.
void SpareAddresses(const Bases& bases, const std::vector<int32_t>& rows, std::vector<int32_t>& matrix) {
  int32_t of_threads = 0;
  for (const std::vector<int32_t>* offsets : {&rows, &bases.warps, &bases.blocks})
    for (int32_t offset : *offsets) of_threads |= offset;
  const auto meets = [&](int32_t bit) { return (bases.registers[bit] & of_threads) != 0; };
  const auto found = std::find_if(matrix.begin(), matrix.end(), meets);
  if (found > matrix.begin() + 1 && found != matrix.end()) std::rotate(matrix.begin() + 1, found, found + 1);
}

// The plan whose words are the register bits `word` and whose rows are at `rows`; nullopt where other bases would split
// rows. `free_lanes` are the lane bits that name rows.
std::optional<TilePlan> Complete(const LinearLayout& to_offset, const Bases& bases, bool transposed,
                                 std::vector<int32_t> word, const std::vector<int32_t>& rows, int32_t row) {
  TilePlan plan;
  plan.transposed = transposed;
  plan.word = std::move(word);
  for (int32_t bit = 0; bit < static_cast<int32_t>(bases.registers.size()); ++bit) {
    if (bases.registers[bit] == 0 || std::find(plan.word.begin(), plan.word.end(), bit) != plan.word.end()) continue;
    if (bases.registers[bit] % row != 0) return std::nullopt;
    plan.matrix.push_back(bit);
  }
  plan.group_bits = std::min<int32_t>(2, plan.matrix.size());
  if (bases.few_addresses && plan.group_bits == 2) SpareAddresses(bases, rows, plan.matrix);
  plan.address = AddressLayout(to_offset, bases, plan, rows);
  return plan;
}

std::optional<TilePlan> PlanStraight(const LinearLayout& to_offset, const Bases& bases, int32_t element_bits,
                                     int32_t row) {
  const int32_t per_word = 32 / element_bits;
  if (bases.lanes[0] != per_word || bases.lanes[1] != 2 * per_word) return std::nullopt;
  const std::vector<int32_t> rows(bases.lanes.begin() + 2, bases.lanes.end());
  std::vector<int32_t> word;
  for (int32_t bit = 0; bit < Log2(per_word); ++bit) word.push_back(FindBit(bases.registers, 1 << bit, word));
  if (!AreWholeRows(rows, row) || std::count(word.begin(), word.end(), -1) > 0) return std::nullopt;
  return Complete(to_offset, bases, /*transposed=*/false, std::move(word), rows, row);
}

std::optional<TilePlan> PlanTransposed(const LinearLayout& to_offset, const Bases& bases, int32_t element_bits,
                                       int32_t row, const SharedMemoryShape& shape) {
  if (element_bits > 16) return std::nullopt;
  const int32_t per_half = 16 / element_bits;
  for (int32_t bit = 0; bit < 3; ++bit)
    if (bases.lanes[2 + bit] != per_half << bit) return std::nullopt;
  if (!AreWholeRows({bases.lanes[0], bases.lanes[1]}, row)) return std::nullopt;
  std::vector<int32_t> half;
  for (int32_t bit = 0; bit < Log2(per_half); ++bit) half.push_back(FindBit(bases.registers, 1 << bit, half));
  if (std::count(half.begin(), half.end(), -1) > 0) return std::nullopt;
  std::optional<TilePlan> best;
  for (int32_t bit = 0; bit < static_cast<int32_t>(bases.registers.size()); ++bit) {
    if (bases.registers[bit] == 0 || bases.registers[bit] % row != 0) continue;
    std::vector<int32_t> word = half;
    word.push_back(bit);
    const std::vector<int32_t> rows = {bases.registers[bit], bases.lanes[0], bases.lanes[1]};
    std::optional<TilePlan> plan = Complete(to_offset, bases, /*transposed=*/true, std::move(word), rows, row);
    if (plan && (!best || TileSlots(*plan, element_bits, shape) < TileSlots(*best, element_bits, shape)))
      best = std::move(plan);
  }
  return best;
}

}  // namespace

int32_t TilePlan::RegisterOf(int32_t instruction, int32_t matrix_number, int32_t element) const {
  int32_t result = 0;
  const auto set = [&](const std::vector<int32_t>& bits, size_t first, size_t count, int32_t value) {
    for (size_t i = 0; i < count; ++i) result |= ((value >> i) & 1) << bits[first + i];
  };
  set(word, 0, word.size(), element);
  set(matrix, 0, group_bits, matrix_number);
  set(matrix, group_bits, matrix.size() - group_bits, instruction);
  return result;
}

std::optional<TilePlan> PlanTiles(const LinearLayout& to_offset, int32_t element_bits, const SharedMemoryShape& shape,
                                  bool few_addresses) {
  if (element_bits > 32 || !to_offset.HasOut("offset") || to_offset.InBits("lane") != kTileLaneBits)
    return std::nullopt;
  const Bases bases{OffsetsOf(to_offset, "register"), OffsetsOf(to_offset, "lane"), OffsetsOf(to_offset, "warp"),
                    to_offset.HasIn("block") ? OffsetsOf(to_offset, "block") : std::vector<int32_t>(), few_addresses};
  const int32_t row = kTileRowBits / element_bits;
  if (!AreWholeRows(bases.warps, row) || !AreWholeRows(bases.blocks, row)) return std::nullopt;
  std::optional<TilePlan> plan = PlanStraight(to_offset, bases, element_bits, row);
  return plan ? plan : PlanTransposed(to_offset, bases, element_bits, row, shape);
}

bool HoldsCopies(const LinearLayout& to_offset) { return !to_offset.RemoveZeroBases("register").IsInjective(); }

double TileSlots(const TilePlan& plan, int32_t element_bits, const SharedMemoryShape& shape) {
  const std::vector<int32_t> lanes = OffsetsOf(plan.address, "lane");
  // A phase serves the eight rows of a matrix.
  const double conflicts = Conflicts({lanes.begin(), lanes.begin() + 3}, element_bits, shape);
  return plan.Instructions() * (1 + kSlotsPerPhase * conflicts * (1 << plan.group_bits));
}

double VectorSlots(const LinearLayout& to_offset, int32_t element_bits, int32_t vec, const SharedMemoryShape& shape) {
  const int32_t access_bits = vec * element_bits;
  const int32_t lane_bits = to_offset.InBits("lane");
  const int32_t row = Log2(shape.banks * shape.word_bits / std::max(access_bits, shape.word_bits));
  const int32_t phase_bits = std::min(lane_bits, row);
  const std::vector<int32_t> lanes = OffsetsOf(to_offset, "lane");
  const double conflicts = Conflicts({lanes.begin(), lanes.begin() + phase_bits}, element_bits, shape);
  const double accesses = static_cast<double>(OrderByOffset(to_offset).size()) / vec;
  const double narrow = access_bits < shape.word_bits ? 1 : 0;
  return accesses * (1 + narrow + kSlotsPerPhase * conflicts * (1 << (lane_bits - phase_bits)));
}

double AccessSlots(const LinearLayout& to_offset, int32_t element_bits, int32_t vec, bool has_tiles,
                   const SharedMemoryShape& shape) {
  const double vectors = VectorSlots(to_offset, element_bits, vec, shape);
  if (!has_tiles || vec * element_bits >= shape.access_bits) return vectors;
  const std::optional<TilePlan> plan = PlanTiles(to_offset, element_bits, shape);
  return plan ? std::min(vectors, TileSlots(*plan, element_bits, shape)) : vectors;
}

}  // namespace tritond::compiler
