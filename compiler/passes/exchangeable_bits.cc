// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/exchangeable_bits.h"

#include "llvm/ADT/STLExtras.h"

namespace tritond::compiler {

ExchangeableBits FindExchangeableBits(const LinearLayout& layout, unsigned axis) {
  const LayoutDim& out = layout.OutDims()[axis];
  const uint64_t along = out.mask() << out.shift;
  ExchangeableBits found;
  for (auto [in, copies] : llvm::zip(layout.InDims(), layout.FreeVariableMasks())) {
    if (in.name != "lane" && in.name != "register") continue;
    for (int bit = 0; bit < in.bits; ++bit) {
      const uint64_t column = layout.columns()[in.shift + bit];
      if (copies >> bit & 1) continue;
      if (in.name == "lane" && (column & along)) found.lanes.push_back(in.shift + bit);
      if (in.name == "register" && !(column & along)) found.registers.push_back(in.shift + bit);
    }
  }
  llvm::sort(found.lanes, [&](int a, int b) { return layout.columns()[a] < layout.columns()[b]; });
  llvm::sort(found.registers, [&](int a, int b) { return layout.columns()[a] > layout.columns()[b]; });
  return found;
}

}  // namespace tritond::compiler
