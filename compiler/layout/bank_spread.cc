// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/bank_spread.h"

#include <algorithm>

#include "compiler/layout/shared_swizzle.h"

namespace tritond::compiler {

LinearLayout RowMajorOffsets(const LinearLayout& layout) {
  auto names = layout.OutNames();
  std::reverse(names.begin(), names.end());
  return layout.TransposeOuts(names).FlattenOuts("offset");
}

LinearLayout BankSpread::Of(const LinearLayout& to_offset) const {
  LinearLayout::Columns columns = to_offset.columns();
  for (uint64_t& column : columns) column = static_cast<uint64_t>(Of(static_cast<int>(column)));
  return LinearLayout::FromColumns(to_offset.InDims(), to_offset.OutDims(), columns);
}

BankSpread ChooseSpread(const LinearLayout& own, int element_bits, const SharedMemoryShape& shape, int vec) {
  constexpr int kMostSpread = 3;  // bits: lanes that are eight words apart
  auto log2 = [](int x) { return __builtin_ctz(static_cast<uint32_t>(x)); };
  const int word_bits = std::max(element_bits, shape.word_bits);
  const int in_word = log2(word_bits / element_bits), whole = std::max(log2(vec), in_word);
  BankSpread best;
  best.shift = log2(shape.banks * shape.word_bits / word_bits) + in_word - whole;
  int64_t fewest = CountBankConflicts(own, element_bits, vec, shape);
  for (int bits = 1; bits <= kMostSpread && fewest > 0; ++bits) {
    BankSpread spread{best.shift, ((1 << bits) - 1) << whole};
    const int64_t conflicts = CountBankConflicts(spread.Of(own), element_bits, vec, shape);
    if (conflicts >= fewest) continue;
    fewest = conflicts;
    best = spread;
  }
  return best;
}

}  // namespace tritond::compiler
