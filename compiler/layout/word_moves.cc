// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/word_moves.h"

#include <algorithm>

namespace tritond::compiler {
namespace {

constexpr absl::string_view kRegister = "register";

// The register bit whose image is `bit`, a single bit that no other input reaches; -1: there is none.
int32_t OwnerOf(const LinearLayout& layout, uint64_t bit) {
  int32_t owner = -1;
  for (const LayoutDim& dim : layout.InDims())
    for (int32_t i = 0; i < dim.bits; ++i) {
      const uint64_t column = layout.columns()[dim.shift + i];
      if ((column & bit) == 0) continue;
      if (column != bit || owner >= 0 || dim.name != kRegister) return -1;
      owner = i;
    }
  return owner;
}

LinearLayout Without(const LinearLayout& layout, const std::vector<int32_t>& register_bits) {
  LinearLayout::Dims dims = layout.InDims();
  LinearLayout::Columns columns;
  for (LayoutDim& dim : dims) {
    int32_t kept = 0;
    for (int32_t i = 0; i < dim.bits; ++i) {
      if (dim.name == kRegister && std::count(register_bits.begin(), register_bits.end(), i)) continue;
      columns.push_back(layout.columns()[dim.shift + i]);
      ++kept;
    }
    dim.bits = kept;
  }
  return LinearLayout::FromColumns(std::move(dims), layout.OutDims(), std::move(columns));
}

std::vector<std::vector<int32_t>> RegistersOf(const LinearLayout& layout, const std::vector<int32_t>& element_bits) {
  std::vector<int32_t> word_bits;
  for (int32_t i = 0; i < layout.InBits(kRegister); ++i)
    if (!std::count(element_bits.begin(), element_bits.end(), i)) word_bits.push_back(i);
  auto spread = [](int32_t index, const std::vector<int32_t>& bits) {
    int32_t result = 0;
    for (size_t i = 0; i < bits.size(); ++i) result |= (index >> i & 1) << bits[i];
    return result;
  };
  std::vector<std::vector<int32_t>> registers(size_t{1} << word_bits.size());
  for (size_t word = 0; word < registers.size(); ++word)
    for (int32_t element = 0; element < 1 << element_bits.size(); ++element)
      registers[word].push_back(spread(static_cast<int32_t>(word), word_bits) | spread(element, element_bits));
  return registers;
}

}  // namespace

WordMoves FindWordMoves(const LinearLayout& src, const LinearLayout& dst, int most) {
  const LinearLayout to = dst.TransposeOuts(src.OutNames());
  std::vector<int32_t> src_bits, dst_bits;
  if (src.HasIn(kRegister) && to.HasIn(kRegister))
    for (int32_t i = 0; i < src.InBits(kRegister) && 2 << src_bits.size() <= most; ++i) {
      const uint64_t bit = src.columns()[src.In(kRegister).shift + i];
      if (bit == 0 || (bit & (bit - 1)) != 0 || OwnerOf(src, bit) != i) continue;
      const int32_t owner = OwnerOf(to, bit);
      if (owner < 0) continue;
      src_bits.push_back(i);
      dst_bits.push_back(owner);
    }
  return {Without(src, src_bits), Without(to, dst_bits), RegistersOf(src, src_bits), RegistersOf(to, dst_bits)};
}

}  // namespace tritond::compiler
