// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LAYOUT_BANK_SPREAD_H_
#define COMPILER_LAYOUT_BANK_SPREAD_H_

#include "compiler/layout/linear_layout.h"
#include "compiler/layout/shared_memory_shape.h"

namespace tritond::compiler {

// (register, lane, warp, block) -> row-major offset.
LinearLayout RowMajorOffsets(const LinearLayout& layout);

// How the elements of a row-major tensor are spread over banks, for lanes that read at the distance at which they hold
// elements themselves. A thread of four neighbours is four words from the next one, so that 32 lanes meet in 8 banks.
// Then higher bits of an offset change its lowest ones: offset ^ (offset >> shift & mask). The same again yields the
// offset.
struct BankSpread {
  int shift = 0, mask = 0;

  int Of(int offset) const { return offset ^ (offset >> shift & mask); }
  LinearLayout Of(const LinearLayout& to_offset) const;
};

// The spread with the fewest conflicts where each thread reads what is at the offsets of its own elements,
// `own` = RowMajorOffsets, `vec` at a time. These and words of a bank stay whole.
BankSpread ChooseSpread(const LinearLayout& own, int element_bits, const SharedMemoryShape& shape, int vec = 1);

}  // namespace tritond::compiler

#endif  // COMPILER_LAYOUT_BANK_SPREAD_H_
