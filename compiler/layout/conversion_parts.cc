// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/conversion_parts.h"

#include <algorithm>

namespace tritond::compiler {
namespace {

// The register bit that alone moves along bit `out` of the flat index, and along no other one; else -1.
int32_t RegisterBit(const LinearLayout& layout, int32_t out) {
  const LayoutDim& registers = layout.In("register");
  const uint64_t image = uint64_t{1} << out;
  int32_t found = -1;
  for (int32_t bit = 0; bit < layout.TotalInBits(); ++bit) {
    const uint64_t column = layout.columns()[bit];
    if ((column & image) == 0) continue;
    const bool is_register = bit >= registers.shift && bit < registers.shift + registers.bits;
    if (column != image || !is_register || found >= 0) return -1;
    found = bit - registers.shift;
  }
  return found;
}

// The value without the bits of the mask; the others close ranks.
uint64_t WithoutBits(uint64_t value, uint64_t mask) {
  uint64_t result = 0;
  for (int32_t bit = 0, to = 0; bit < 64; ++bit)
    if ((mask >> bit & 1) == 0) result |= (value >> bit & 1) << to++;
  return result;
}

LinearLayout::Dims WithoutBits(LinearLayout::Dims dims, uint64_t mask) {
  int32_t shift = 0;
  for (LayoutDim& dim : dims) {
    for (int32_t bit = dim.shift, end = dim.shift + dim.bits; bit < end; ++bit) dim.bits -= mask >> bit & 1;
    dim.shift = shift;
    shift += dim.bits;
  }
  return dims;
}

// Without bits of the flat index, and without the register bits that move along them.
LinearLayout PartOf(const LinearLayout& layout, uint64_t outs, uint64_t registers) {
  const uint64_t ins = registers << layout.In("register").shift;
  LinearLayout::Columns columns;
  for (int32_t bit = 0; bit < layout.TotalInBits(); ++bit)
    if ((ins >> bit & 1) == 0) columns.push_back(WithoutBits(layout.columns()[bit], outs));
  return LinearLayout::FromColumns(WithoutBits(layout.InDims(), ins), WithoutBits(layout.OutDims(), outs), columns);
}

// By part. Bit i of a part's number is register bit `bits[i]`.
std::vector<std::vector<int32_t>> RegistersOfParts(int32_t size, const std::vector<int32_t>& bits) {
  std::vector<std::vector<int32_t>> parts(size_t{1} << bits.size());
  for (int32_t reg = 0; reg < size; ++reg) {
    size_t part = 0;
    for (size_t i = 0; i < bits.size(); ++i) part |= static_cast<size_t>(reg >> bits[i] & 1) << i;
    parts[part].push_back(reg);
  }
  return parts;
}

}  // namespace

std::optional<ConversionParts> FindConversionParts(const LinearLayout& src, const LinearLayout& dst, int32_t bits) {
  struct Choice {
    int32_t out, src_bit, dst_bit;
  };
  std::vector<Choice> choices;
  for (int32_t out = 0; out < src.TotalOutBits(); ++out) {
    const Choice choice{out, RegisterBit(src, out), RegisterBit(dst, out)};
    if (choice.src_bit >= 0 && choice.dst_bit >= 0) choices.push_back(choice);
  }
  if (static_cast<int32_t>(choices.size()) < bits) return std::nullopt;
  // Low bits are those of neighbours, which are written and read together.
  std::stable_sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
    return std::min(a.src_bit, a.dst_bit) > std::min(b.src_bit, b.dst_bit);
  });
  uint64_t outs = 0, src_mask = 0, dst_mask = 0;
  std::vector<int32_t> src_bits, dst_bits;
  for (int32_t i = 0; i < bits; ++i) {
    outs |= uint64_t{1} << choices[i].out;
    src_mask |= uint64_t{1} << choices[i].src_bit;
    dst_mask |= uint64_t{1} << choices[i].dst_bit;
    src_bits.push_back(choices[i].src_bit);
    dst_bits.push_back(choices[i].dst_bit);
  }
  return ConversionParts{PartOf(src, outs, src_mask), PartOf(dst, outs, dst_mask),
                         RegistersOfParts(src.InSize("register"), src_bits),
                         RegistersOfParts(dst.InSize("register"), dst_bits)};
}

}  // namespace tritond::compiler
