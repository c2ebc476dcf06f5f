// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LAYOUT_CONVERSION_PARTS_H_
#define COMPILER_LAYOUT_CONVERSION_PARTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/layout/linear_layout.h"

namespace tritond::compiler {

// A conversion of a tensor as conversions of equal parts of it, one after the other, which need as much less memory.
// Each thread holds the same number of registers of each part, before and after. So the parts have the same layouts.
struct ConversionParts {
  LinearLayout src, dst;  // of a part
  // The registers of the tensor by part, in the order of those that the part's layout has.
  std::vector<std::vector<int32_t>> src_registers, dst_registers;
};

// In 2^`bits` parts; nullopt where too few bits of the tensor's index belong to a register alone in both layouts.
std::optional<ConversionParts> FindConversionParts(const LinearLayout& src, const LinearLayout& dst, int32_t bits);

}  // namespace tritond::compiler

#endif  // COMPILER_LAYOUT_CONVERSION_PARTS_H_
