// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LAYOUT_WORD_MOVES_H_
#define COMPILER_LAYOUT_WORD_MOVES_H_

#include <cstdint>
#include <vector>

#include "compiler/layout/linear_layout.h"

namespace tritond::compiler {

// Two distributed layouts of one tensor, in which words stand for elements that move together. Elements of a word
// differ in bits of the index that are bits of the register in both layouts: whoever has one of them has all.
struct WordMoves {
  LinearLayout src, dst;  // without these bits; both lack elements of the tensor, the same ones
  // The registers that word w and element e stand for: registers[w][e].
  std::vector<std::vector<int32_t>> src_registers, dst_registers;
};

// Words of as many elements as can be, at most `most`, a power of two; of one element where none move together.
WordMoves FindWordMoves(const LinearLayout& src, const LinearLayout& dst, int most);

}  // namespace tritond::compiler

#endif  // COMPILER_LAYOUT_WORD_MOVES_H_
