// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/f2_span.h"

#include "compiler/layout/check.h"

namespace tritond::compiler {
namespace {

int HighestBit(uint64_t word) { return 63 - __builtin_clzll(word); }

}  // namespace

F2Span::F2Span(absl::Span<const uint64_t> vectors) {
  Check(vectors.size() <= 64, "a span remembers 64 vectors, got ", vectors.size());
  for (size_t i = 0; i < vectors.size(); ++i) Insert(vectors[i], uint64_t{1} << i);
}

F2Span::Reduced F2Span::Reduce(uint64_t vector) const {
  Reduced result{vector, 0};
  // Subtracting an echelon vector clears its highest bit and may touch lower ones only.
  for (uint64_t todo = result.rest & pivots_; todo != 0;) {
    const int bit = HighestBit(todo);
    result.rest ^= echelon_[bit].rest;
    result.tag ^= echelon_[bit].tag;
    todo = result.rest & pivots_ & ((uint64_t{1} << bit) - 1);
  }
  return result;
}

bool F2Span::Insert(uint64_t vector, uint64_t tag) {
  Reduced reduced = Reduce(vector);
  if (reduced.rest == 0) return false;
  reduced.tag ^= tag;
  const int bit = HighestBit(reduced.rest);
  echelon_[bit] = reduced;
  pivots_ |= uint64_t{1} << bit;
  ++rank_;
  return true;
}

std::optional<uint64_t> F2Span::Solve(uint64_t vector) const {
  const Reduced reduced = Reduce(vector);
  if (reduced.rest != 0) return std::nullopt;
  return reduced.tag;
}

}  // namespace tritond::compiler
