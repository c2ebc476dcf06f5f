// SPDX-License-Identifier: Apache-2.0
// Where an element lies in shared memory is a basis of the tensor's space: the vector that offset bit i stands for.
// From the lowest bit up it has four parts.
//
//   vector   elements that one access moves: they lie in the registers of one thread, on both sides
//   subword  fills a word when the vector does not
//   bank     tells the banks apart
//   segment  rows of all banks; two offsets that differ in a segment alone collide
//
// Lanes of one phase do not collide when no two of them differ by vector, subword and segment alone together. That
// holds when the segments are independent of the lanes of a phase, of the source and of the destination. Let P and Q be
// the spaces of these lanes, with bases I + A and I + B, where I spans what both share. Let E complete P + Q to the
// whole space. Then E and the sums A[i] ^ B[i] are independent of P and of Q. There are as many of them as rows are
// needed, so conflicts can always be avoided. For a transpose, A[i] ^ B[i] is the well-known XOR of row and column.
//
// The vector part must not be touched by lanes or warps, or else registers would come in another order in each thread.
// So it is independent of the span of all lanes and warps of both sides. Sometimes it does not fill a word, as with
// bytes that lie in rows on one side and in columns on the other. The side that can then fills the word with registers
// of its own. The other side then reads parts of words, which costs it more accesses, but no conflicts. Beyond a word
// one side's accesses grow by registers that are lanes of the other side's phase. These lanes then stand side by side
// in a row anyway.
//
// Tiles (shared_tiles.h) fix the lowest bits, a row of 16 bytes, by the lanes and registers of the side that moves by
// them. Its other vectors are then whole rows apart. The banks are chosen as above, for two sets of lanes. These are
// the lanes that name rows of a matrix on this side, and the lanes of a phase on the other. Each way to place the
// elements has a cost by these rules; the cheapest is taken.
//
// After "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2"
// (arXiv:2505.23819).

#include "compiler/layout/shared_swizzle.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/layout/check.h"
#include "compiler/layout/distributed_pair.h"
#include "compiler/layout/f2_span.h"
#include "compiler/layout/shared_tiles.h"

namespace tritond::compiler {
namespace {

using Vectors = absl::InlinedVector<uint64_t, 32>;

// Sizes as logarithms of a number of elements.
struct Sizes {
  int32_t access;  // widest access
  int32_t word;    // of a bank; 0 when an element fills one
  int32_t row;     // all banks
};

int32_t Log2(int32_t n) { return 31 - __builtin_clz(static_cast<uint32_t>(n)); }

Sizes SizesOf(int32_t element_bits, const SharedMemoryShape& shape) {
  Sizes sizes;
  sizes.word = Log2(std::max(1, shape.word_bits / element_bits));
  sizes.row = Log2(std::max(1, shape.banks * shape.word_bits / element_bits));
  sizes.access = std::min(sizes.row, Log2(std::max(1, shape.access_bits / element_bits)));
  return sizes;
}

// One side of the conversion: its nonzero basis vectors.
struct Side {
  Vectors registers;
  Vectors lanes;
  Vectors warps;      // and blocks
  Vectors all_lanes;  // zero ones too: bit by bit
};

Vectors Bases(const LinearLayout& layout, absl::string_view in) {
  const LayoutDim& dim = layout.In(in);
  return Vectors(layout.columns().begin() + dim.shift, layout.columns().begin() + dim.shift + dim.bits);
}

Vectors WithoutZeros(Vectors vectors) {
  vectors.erase(std::remove(vectors.begin(), vectors.end(), 0), vectors.end());
  return vectors;
}

Side SideOf(const LinearLayout& layout) {
  Vectors warps = Bases(layout, "warp");
  const Vectors blocks = Bases(layout, "block");
  warps.insert(warps.end(), blocks.begin(), blocks.end());
  return {WithoutZeros(Bases(layout, "register")), WithoutZeros(Bases(layout, "lane")), WithoutZeros(warps),
          Bases(layout, "lane")};
}

// Moves vectors from `candidates` to `chosen` while they are independent of `span`, which takes them in, until `chosen`
// has `limit`.
void Take(F2Span& span, const Vectors& candidates, size_t limit, Vectors& chosen) {
  for (uint64_t vector : candidates) {
    if (chosen.size() >= limit) return;
    if (span.Insert(vector)) chosen.push_back(vector);
  }
}

void InsertAll(F2Span& span, const Vectors& vectors) {
  for (uint64_t vector : vectors) span.Insert(vector);
}

// A basis of the intersection of two spans; vectors that both lists name come first, in order of `a`.
Vectors Intersect(const Vectors& a, const Vectors& b) {
  Vectors result;
  F2Span chosen;
  for (uint64_t vector : a) {
    if (std::find(b.begin(), b.end(), vector) != b.end() && chosen.Insert(vector)) result.push_back(vector);
  }
  // A tag is the sum of the vectors of `a` in a combination. For a vector of `b` that depends on those before it,
  // this sum lies in both spans.
  F2Span both;
  for (uint64_t vector : a) both.Insert(vector, vector);
  for (uint64_t vector : b) {
    if (both.Insert(vector)) continue;
    const uint64_t common = both.Reduce(vector).tag;
    if (chosen.Insert(common)) result.push_back(common);
  }
  return result;
}

F2Span SpanOfThreads(const Side& src, const Side& dst) {
  F2Span span;
  for (const Vectors* part : {&src.lanes, &src.warps, &dst.lanes, &dst.warps}) InsertAll(span, *part);
  return span;
}

// Up to `limit` of the `candidates`, which are registers of `side` alone. They can extend the vector part `vector` for
// its accesses, without spoiling those of the other side.
Vectors TopUp(const Side& side, const Vectors& candidates, const F2Span& threads, const Vectors& vector, size_t limit) {
  Vectors top;
  F2Span own;
  for (const Vectors* part : {&side.lanes, &side.warps, &vector}) InsertAll(own, *part);
  F2Span others = threads;
  for (uint64_t candidate : candidates) {
    if (top.size() >= limit) break;
    if (own.Contains(candidate)) continue;
    F2Span grown = others;
    grown.Insert(candidate);
    F2Span check = grown;
    const bool apart = std::all_of(vector.begin(), vector.end(), [&](uint64_t v) { return check.Insert(v); });
    if (!apart) continue;
    others = grown;
    own.Insert(candidate);
    top.push_back(candidate);
  }
  return top;
}

// The lanes of the first phase of accesses of 2^vec elements; the others are translates of them.
Vectors PhaseLanes(const Side& side, int32_t vec, const Sizes& sizes) {
  const size_t count = std::max(0, sizes.row - std::max(vec, sizes.word));
  return Vectors(side.all_lanes.begin(), side.all_lanes.begin() + std::min(count, side.all_lanes.size()));
}

// Registers of `side` that widen its accesses beyond the vector part `vector`, which fills words, and are lanes of a
// phase of the `other` side.
Vectors Widening(const Side& side, const Side& other, const F2Span& threads, const Vectors& vector,
                 const Sizes& sizes) {
  const int32_t vec = static_cast<int32_t>(vector.size());
  const Vectors lanes = PhaseLanes(other, vec, sizes);
  Vectors candidates;
  for (uint64_t candidate : side.registers)
    if (std::find(lanes.begin(), lanes.end(), candidate) != lanes.end()) candidates.push_back(candidate);
  return TopUp(side, candidates, threads, vector, sizes.access - vec);
}

// The bases of subword, bank and segment, in this order, in a space of `bits` dimensions. `p` and `q` are the lanes of
// a phase on either side. `row` of the vectors tell apart offsets in one row.
Vectors ChooseRows(const Vectors& p, const Vectors& q, size_t subwords, size_t row, size_t bits) {
  Vectors units;
  for (size_t i = 0; i < bits; ++i) units.push_back(uint64_t{1} << i);

  Vectors result;
  F2Span chosen;
  for (const Vectors& from : {Intersect(p, q), p, q, units}) Take(chosen, from, subwords, result);

  if (bits > row) {
    Vectors with_p = result, with_q = result;
    with_p.insert(with_p.end(), p.begin(), p.end());
    with_q.insert(with_q.end(), q.begin(), q.end());
    F2Span shared;
    InsertAll(shared, Intersect(with_p, with_q));
    Vectors a, b, segments;
    F2Span span_p = shared, span_q = shared;
    Take(span_p, with_p, bits, a);
    Take(span_q, with_q, bits, b);
    F2Span sum = span_p;
    InsertAll(sum, b);
    Take(sum, units, bits, segments);
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) segments.push_back(a[i] ^ b[i]);
    Check(segments.size() >= bits - row, segments.size(), " rows for ", bits, " bits");
    segments.resize(bits - row);
    InsertAll(chosen, segments);
    for (const Vectors& from : {p, q, units}) Take(chosen, from, row, result);
    result.insert(result.end(), segments.begin(), segments.end());
  } else {
    for (const Vectors& from : {p, q, units}) Take(chosen, from, bits, result);
  }
  return result;
}

// The vector that each bit of the offset stands for.
Vectors ChooseOffsetBasis(const Side& src, const Side& dst, const Sizes& sizes) {
  const F2Span threads = SpanOfThreads(src, dst);
  Vectors basis;
  F2Span apart = threads;
  Take(apart, Intersect(src.registers, dst.registers), sizes.access, basis);
  const int32_t common = static_cast<int32_t>(basis.size());

  bool src_tops = true;
  if (common < sizes.word) {
    Vectors top = TopUp(src, src.registers, threads, basis, sizes.word - common);
    Vectors other = TopUp(dst, dst.registers, threads, basis, sizes.word - common);
    if (other.size() > top.size()) {
      std::swap(top, other);
      src_tops = false;
    }
    basis.insert(basis.end(), top.begin(), top.end());
  }
  if (common >= sizes.word) {
    Vectors top = Widening(src, dst, threads, basis, sizes), other = Widening(dst, src, threads, basis, sizes);
    src_tops = top.size() > other.size();
    const Vectors& more = src_tops ? top : other;
    basis.insert(basis.end(), more.begin(), more.end());
  }
  const int32_t vec = static_cast<int32_t>(basis.size());

  // The rest of the space, lanes and warps of the wider side first: they are then free of the vector part.
  const Side& wide = src_tops ? src : dst;
  const Side& narrow = src_tops ? dst : src;
  F2Span whole;
  InsertAll(whole, basis);
  Vectors rest;
  for (const Vectors* part :
       {&wide.lanes, &wide.warps, &narrow.lanes, &narrow.warps, &wide.registers, &narrow.registers}) {
    for (uint64_t vector : *part) {
      if (whole.Insert(vector, uint64_t{1} << rest.size())) rest.push_back(vector);
    }
  }
  // Coordinates over `rest`; the vector part, which does not matter for banks, falls away.
  const auto project = [&](Vectors vectors) {
    for (uint64_t& vector : vectors) vector = whole.Reduce(vector).tag;
    return WithoutZeros(std::move(vectors));
  };
  const Vectors p = project(PhaseLanes(src, src_tops ? vec : common, sizes));
  const Vectors q = project(PhaseLanes(dst, src_tops ? common : vec, sizes));
  for (uint64_t coordinates :
       ChooseRows(p, q, std::max(0, sizes.word - vec), std::max(0, sizes.row - vec), rest.size())) {
    uint64_t vector = 0;
    for (size_t i = 0; i < rest.size(); ++i) vector ^= ((coordinates >> i) & 1) != 0 ? rest[i] : 0;
    basis.push_back(vector);
  }
  return basis;
}

// The first `count` independent ones of the vectors.
Vectors Independent(const Vectors& vectors, size_t count) {
  F2Span span;
  Vectors result;
  Take(span, vectors, count, result);
  return result;
}

// Up to `count` registers of `side`, those that the other side has in registers too first.
Vectors TakeRegisters(const Side& side, const Side& other, size_t count) {
  F2Span span;
  Vectors result, common;
  for (uint64_t vector : side.registers)
    if (std::find(other.registers.begin(), other.registers.end(), vector) != other.registers.end())
      common.push_back(vector);
  Take(span, common, count, result);
  Take(span, side.registers, count, result);
  return result;
}

// The row of a tile by which `side` could move: what its bits of offset stand for, the lowest first. Empty where it
// cannot.
Vectors TileRow(const Side& side, const Side& other, bool transposed, int32_t element_bits) {
  if (side.all_lanes.size() != kTileLaneBits || element_bits > (transposed ? 16 : 32)) return {};
  const size_t inside = Log2((transposed ? 16 : 32) / element_bits);
  Vectors row = TakeRegisters(side, other, inside);
  if (row.size() < inside || (transposed && side.registers.size() == inside)) return {};
  const size_t first = transposed ? 2 : 0, count = transposed ? 3 : 2;
  row.insert(row.end(), side.all_lanes.begin() + first, side.all_lanes.begin() + first + count);
  return Independent(row, row.size()).size() == row.size() ? row : Vectors();
}

// The vectors that tell apart the rows of a matrix by which `side` moves, in rows that begin with `row`.
Vectors RowsOfMatrix(const Side& side, bool transposed, const Vectors& row) {
  if (!transposed) return Vectors(side.all_lanes.begin() + 2, side.all_lanes.end());
  Vectors rows;
  for (uint64_t vector : side.registers) {
    if (!rows.empty() || std::find(row.begin(), row.end(), vector) != row.end()) continue;
    rows.push_back(vector);
  }
  rows.insert(rows.end(), side.all_lanes.begin(), side.all_lanes.begin() + 2);
  return rows;
}

// The lanes of a phase of the side that does not decide how rows look. If such rows are its own too, the phase is of a
// matrix. Else it is of accesses as wide as registers fill the row.
Vectors PhaseUnder(const Vectors& row, const Side& side, const Side& other, bool has_tiles, const Sizes& sizes,
                   int32_t element_bits) {
  for (bool transposed : {false, true})
    if (has_tiles && TileRow(side, other, transposed, element_bits) == row) return RowsOfMatrix(side, transposed, row);
  F2Span registers;
  InsertAll(registers, side.registers);
  int32_t vec = 0;
  while (vec < static_cast<int32_t>(row.size()) && registers.Contains(row[vec])) ++vec;
  return PhaseLanes(side, vec, sizes);
}

// What the bits of the offset stand for where `side` moves by tiles, straight or transposed; empty where it cannot.
Vectors ChooseTileBasis(const Side& side, const Side& other, bool transposed, bool other_has_tiles, const Sizes& sizes,
                        int32_t element_bits) {
  Vectors basis = TileRow(side, other, transposed, element_bits);
  if (basis.empty()) return {};
  // All else that this side has are whole rows.
  F2Span whole;
  InsertAll(whole, basis);
  Vectors rest;
  for (const Vectors* part :
       {&side.lanes, &side.warps, &side.registers, &other.lanes, &other.warps, &other.registers}) {
    for (uint64_t vector : *part)
      if (whole.Insert(vector, uint64_t{1} << rest.size())) rest.push_back(vector);
  }
  const size_t row_bits = sizes.row - basis.size();
  const auto project = [&](Vectors vectors) {
    for (uint64_t& vector : vectors) vector = whole.Reduce(vector).tag;
    return Independent(WithoutZeros(std::move(vectors)), row_bits);
  };
  const Vectors p = project(RowsOfMatrix(side, transposed, basis));
  const Vectors q = project(PhaseUnder(basis, other, side, other_has_tiles, sizes, element_bits));
  for (uint64_t coordinates : ChooseRows(p, q, 0, row_bits, rest.size())) {
    uint64_t vector = 0;
    for (size_t i = 0; i < rest.size(); ++i) vector ^= ((coordinates >> i) & 1) != 0 ? rest[i] : 0;
    basis.push_back(vector);
  }
  return basis;
}

LinearLayout ToOffset(const LinearLayout& layout, const F2Span& offsets, int32_t bits) {
  LinearLayout::Columns columns;
  for (uint64_t column : layout.columns()) columns.push_back(*offsets.Solve(column));
  return LinearLayout::FromColumns(layout.InDims(), {{"offset", bits}}, std::move(columns));
}

// Seen from within block b, where the source begins at src(0, 0, 0, b): the coordinates of both sides relative to it.
// The memory of all blocks then looks alike. InvalidArgument when a block lacks an element that it has to load.
absl::StatusOr<DistributedPair> RelativeToBlock(const DistributedPair& pair) {
  F2Span held;
  for (absl::string_view in : {"register", "lane", "warp"}) InsertAll(held, Bases(pair.src, in));
  const LayoutDim& src_blocks = pair.src.In("block");
  const LayoutDim& dst_blocks = pair.dst.In("block");
  LinearLayout::Columns src = pair.src.columns(), dst = pair.dst.columns();
  for (int32_t bit = 0; bit < src_blocks.bits; ++bit) {
    dst[dst_blocks.shift + bit] ^= src[src_blocks.shift + bit];
    src[src_blocks.shift + bit] = 0;
  }
  if (!std::all_of(dst.begin(), dst.end(), [&](uint64_t vector) { return held.Contains(vector); })) {
    return absl::InvalidArgumentError(absl::StrCat("shared memory of one block does not hold what it loads: from ",
                                                   pair.src.ToString(), " to ", pair.dst.ToString()));
  }
  return DistributedPair{LinearLayout::FromColumns(pair.src.InDims(), pair.src.OutDims(), std::move(src)),
                         LinearLayout::FromColumns(pair.dst.InDims(), pair.dst.OutDims(), std::move(dst))};
}

SharedSwizzle SwizzleBy(const Vectors& basis, const DistributedPair& pair, int32_t element_bits,
                        const SharedMemoryShape& shape) {
  const int32_t bits = static_cast<int32_t>(basis.size());
  const F2Span offsets(basis);
  SharedSwizzle swizzle;
  swizzle.memory = LinearLayout::FromColumns({{"offset", bits}}, pair.src.OutDims(),
                                             LinearLayout::Columns(basis.begin(), basis.end()));
  swizzle.store = ToOffset(pair.src, offsets, bits);
  swizzle.load = ToOffset(pair.dst, offsets, bits);
  swizzle.store_vec = LargestAccess(swizzle.store, element_bits, shape.access_bits);
  swizzle.load_vec = LargestAccess(swizzle.load, element_bits, shape.access_bits);
  return swizzle;
}

// The issue slots of both sides.
double SlotsOf(const SharedSwizzle& swizzle, int32_t element_bits, const SharedMemoryShape& shape) {
  const bool stores_tiles = shape.tile_stores && !HoldsCopies(swizzle.store);
  return AccessSlots(swizzle.store, element_bits, swizzle.store_vec, stores_tiles, shape) +
         AccessSlots(swizzle.load, element_bits, swizzle.load_vec, shape.tile_loads, shape);
}

}  // namespace

absl::StatusOr<SharedSwizzle> ChooseSwizzle(const LinearLayout& src, const LinearLayout& dst, int32_t element_bits,
                                            const SharedMemoryShape& shape) {
  if (element_bits != 8 && element_bits != 16 && element_bits != 32 && element_bits != 64) {
    return absl::InvalidArgumentError(absl::StrCat("no shared memory for elements of ", element_bits, " bits"));
  }
  absl::StatusOr<DistributedPair> pair = MakeDistributedPair(src, dst);
  if (pair.ok()) pair = RelativeToBlock(*pair);
  if (!pair.ok()) return pair.status();

  const Side from = SideOf(pair->src), to = SideOf(pair->dst);
  const Sizes sizes = SizesOf(element_bits, shape);
  SharedSwizzle best = SwizzleBy(ChooseOffsetBasis(from, to, sizes), *pair, element_bits, shape);
  if (!shape.tile_loads && !shape.tile_stores) return best;
  double slots = SlotsOf(best, element_bits, shape);
  const auto consider = [&](const Vectors& basis) {
    if (basis.empty()) return;
    SharedSwizzle other = SwizzleBy(basis, *pair, element_bits, shape);
    const double others = SlotsOf(other, element_bits, shape);
    if (others >= slots) return;
    slots = others;
    best = std::move(other);
  };
  for (bool transposed : {false, true}) {
    if (shape.tile_loads) consider(ChooseTileBasis(to, from, transposed, shape.tile_stores, sizes, element_bits));
    if (shape.tile_stores) consider(ChooseTileBasis(from, to, transposed, shape.tile_loads, sizes, element_bits));
  }
  return best;
}

int32_t LargestAccess(const LinearLayout& to_offset, int32_t element_bits, int32_t max_bits) {
  const LayoutDim& registers = to_offset.In("register");
  F2Span span;
  uint64_t threads = 0;
  for (int32_t i = 0; i < to_offset.TotalInBits(); ++i) {
    if (registers.shift <= i && i < registers.shift + registers.bits) {
      span.Insert(to_offset.columns()[i]);
    } else {
      threads |= to_offset.columns()[i];
    }
  }
  int32_t vec = 1;
  while (2 * vec * element_bits <= max_bits && vec < to_offset.OutSize("offset") && (threads & vec) == 0 &&
         span.Contains(static_cast<uint64_t>(vec))) {
    vec *= 2;
  }
  return vec;
}

std::vector<int32_t> OrderByOffset(const LinearLayout& to_offset) {
  const LinearLayout of_register = to_offset.Sublayout({"register"}, {"offset"});
  std::vector<std::pair<uint64_t, int32_t>> order;
  for (int32_t r = 0; r < of_register.InSize("register"); ++r) order.emplace_back(of_register.ApplyFlat(r), r);
  std::sort(order.begin(), order.end());
  std::vector<int32_t> registers;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || order[i].first != order[i - 1].first) registers.push_back(order[i].second);
  }
  return registers;
}

int64_t CountBankConflicts(const LinearLayout& to_offset, int32_t element_bits, int32_t vec,
                           const SharedMemoryShape& shape) {
  const int32_t access_bits = vec * element_bits;
  const int32_t lanes = to_offset.InSize("lane");
  const int32_t lanes_per_phase = std::max(1, shape.banks * shape.word_bits / std::max(access_bits, shape.word_bits));
  const int32_t words_per_access = std::max(1, access_bits / shape.word_bits);
  const std::vector<int32_t> registers = OrderByOffset(to_offset);
  int64_t conflicts = 0;
  std::vector<int64_t> words;
  std::vector<int32_t> load(shape.banks);
  for (int32_t warp = 0; warp < to_offset.InSize("warp"); ++warp) {
    for (size_t r = 0; r < registers.size(); r += vec) {
      for (int32_t phase = 0; phase < lanes; phase += lanes_per_phase) {
        words.clear();
        for (int32_t lane = phase; lane < std::min(lanes, phase + lanes_per_phase); ++lane) {
          const int64_t offset = to_offset.ApplyNamed({{"register", registers[r]}, {"lane", lane}, {"warp", warp}})[0];
          for (int32_t w = 0; w < words_per_access; ++w) words.push_back(offset * element_bits / shape.word_bits + w);
        }
        std::sort(words.begin(), words.end());
        words.erase(std::unique(words.begin(), words.end()), words.end());
        std::fill(load.begin(), load.end(), 0);
        for (int64_t word : words) ++load[word % shape.banks];
        conflicts += *std::max_element(load.begin(), load.end()) - 1;
      }
    }
  }
  return conflicts;
}

}  // namespace tritond::compiler
