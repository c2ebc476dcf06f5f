// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LAYOUT_F2_SPAN_H_
#define COMPILER_LAYOUT_F2_SPAN_H_

#include <array>
#include <cstdint>
#include <optional>

#include "absl/types/span.h"

namespace tritond::compiler {

// A subspace of F2^64 that grows vector by vector, kept in echelon form, and remembers how each of its vectors is made
// from those inserted. A vector is a word; addition is XOR. Elimination over the columns of a matrix: inserting them
// first to last makes the earliest independent columns the pivots. Costs O(rank) word operations a call.
class F2Span final {
 public:
  // What is left of a vector: v = rest + the sum of the inserted vectors whose tags make up `tag`.
  struct Reduced {
    uint64_t rest = 0;
    uint64_t tag = 0;
  };

  F2Span() = default;
  // The span of `vectors`; vector i has the tag 2^i. At most 64 vectors.
  explicit F2Span(absl::Span<const uint64_t> vectors);

  // Adds `vector` unless it is in the span already, which returns false. Tags are XORed along with vectors.
  bool Insert(uint64_t vector, uint64_t tag = 0);

  Reduced Reduce(uint64_t vector) const;
  bool Contains(uint64_t vector) const { return Reduce(vector).rest == 0; }
  // The combination of inserted vectors that gives `vector`, by their tags; nullopt when it is outside of the span.
  std::optional<uint64_t> Solve(uint64_t vector) const;

  int rank() const { return rank_; }
  // Bit i is set when some echelon vector has its highest set bit at i. The unit vectors of the other bits complete
  // the span to the whole space.
  uint64_t pivots() const { return pivots_; }

 private:
  std::array<Reduced, 64> echelon_{};  // by highest set bit of `rest`; valid where pivots_ has the bit
  uint64_t pivots_ = 0;
  int rank_ = 0;
};

}  // namespace tritond::compiler

#endif  // COMPILER_LAYOUT_F2_SPAN_H_
