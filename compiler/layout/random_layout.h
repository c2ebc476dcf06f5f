// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LAYOUT_RANDOM_LAYOUT_H_
#define COMPILER_LAYOUT_RANDOM_LAYOUT_H_

#include <algorithm>
#include <random>

#include "compiler/layout/linear_layout.h"

// Random layouts for property tests. The generator is an argument, so that every test has its own fixed seed.
namespace tritond::compiler {

inline int RandomInt(std::mt19937& rng, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(rng);
}

// A layout with up to `max_bits` bits a dimension: zero, unit and arbitrary bases in random proportion.
inline LinearLayout RandomLayout(std::mt19937& rng, DimNames ins, DimNames outs, int max_bits = 3) {
  LinearLayout::Dims in_dims, out_dims;
  int in_bits = 0, out_bits = 0;
  for (absl::string_view name : ins) {
    in_dims.push_back({std::string(name), RandomInt(rng, 0, max_bits)});
    in_bits += in_dims.back().bits;
  }
  for (absl::string_view name : outs) {
    out_dims.push_back({std::string(name), RandomInt(rng, 0, max_bits)});
    out_bits += out_dims.back().bits;
  }
  const int arbitrary_percent = RandomInt(rng, 0, 100);
  LinearLayout::Columns columns;
  for (int i = 0; i < in_bits; ++i) {
    uint64_t column = 0;
    if (out_bits > 0 && RandomInt(rng, 1, 100) <= arbitrary_percent) {
      column = rng() & ((uint64_t{1} << out_bits) - 1);
    } else if (out_bits > 0 && RandomInt(rng, 0, 3) > 0) {
      column = uint64_t{1} << RandomInt(rng, 0, out_bits - 1);
    }
    columns.push_back(column);
  }
  return LinearLayout::FromColumns(in_dims, out_dims, columns);
}

// A surjective layout with these logarithms of sizes. The unit vectors of the outputs are in random places, mixed by
// random row operations when `mixed`. The bases in the places left are zero or (when `mixed`) arbitrary. The inputs
// hold at least as many bits as the outputs.
inline LinearLayout RandomSurjective(std::mt19937& rng, LinearLayout::Dims ins, LinearLayout::Dims outs, bool mixed) {
  int in_bits = 0, out_bits = 0;
  for (const LayoutDim& dim : ins) in_bits += dim.bits;
  for (const LayoutDim& dim : outs) out_bits += dim.bits;
  LinearLayout::Columns columns(in_bits, 0);
  for (int i = 0; i < out_bits; ++i) columns[i] = uint64_t{1} << i;
  std::shuffle(columns.begin(), columns.end(), rng);
  for (int i = 0; mixed && out_bits > 1 && i < 2 * out_bits; ++i) {
    const int from = RandomInt(rng, 0, out_bits - 1), to = RandomInt(rng, 0, out_bits - 1);
    if (from == to) continue;
    for (uint64_t& column : columns) column ^= ((column >> from) & 1) << to;
  }
  for (uint64_t& column : columns) {
    if (mixed && column == 0 && RandomInt(rng, 0, 2) == 0) column = rng() & ((uint64_t{1} << out_bits) - 1);
  }
  return LinearLayout::FromColumns(std::move(ins), std::move(outs), columns);
}

}  // namespace tritond::compiler

#endif  // COMPILER_LAYOUT_RANDOM_LAYOUT_H_
