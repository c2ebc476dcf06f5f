// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/axis_runs.h"

#include <map>

#include "llvm/ADT/STLExtras.h"

namespace tritond::compiler {

int AxisRun::IndexOf(int at) const {
  int index = 0;
  for (auto [i, bit] : llvm::enumerate(bits)) index |= (at >> i & 1) << bit;
  return index;
}

llvm::SmallVector<AxisRun> RunsAlong(const LinearLayout& layout, absl::string_view axis) {
  std::map<int32_t, std::pair<std::string, int>> bits;  // by how far they move
  for (const char* in : {"register", "lane", "warp"})
    for (int bit = 0; bit < layout.InBits(in); ++bit)
      if (int32_t basis = layout.Basis(in, bit, axis)) bits[basis] = {in, bit};
  llvm::SmallVector<AxisRun> runs;
  for (const auto& [basis, place] : bits) {
    if (runs.empty() || runs.back().in != place.first) runs.push_back({place.first, {}});
    runs.back().bits.push_back(place.second);
  }
  return runs;
}

}  // namespace tritond::compiler
