// SPDX-License-Identifier: Apache-2.0
#include "compiler/layout/lane_order.h"

#include <algorithm>

#include "compiler/layout/check.h"

namespace tritond::compiler {
namespace {

int32_t BitsOf(int32_t size) {
  int32_t bits = 0;
  while (int32_t{1} << bits < size) ++bits;
  return bits;
}

}  // namespace

bool HasLanesInOrder(const LinearLayout& to_offset, int32_t vec) {
  const int32_t vec_bits = BitsOf(vec), lane_bits = to_offset.InBits("lane");
  const int32_t written = (int32_t{1} << (vec_bits + lane_bits)) - 1;  // offsets within what a warp writes at once
  if (to_offset.InBits("register") < vec_bits) return false;
  for (const LayoutDim& in : to_offset.InDims()) {
    for (int32_t bit = 0; bit < in.bits; ++bit) {
      const int32_t offset = to_offset.Basis(in.name, bit, "offset");
      const bool is_of_vec = in.name == "register" && bit < vec_bits;
      if (is_of_vec || in.name == "lane") {
        if (offset != int32_t{1} << (bit + (is_of_vec ? 0 : vec_bits))) return false;
      } else if ((offset & written) != 0) {
        return false;
      }
    }
  }
  return true;
}

absl::optional<LinearLayout> LayoutInLaneOrder(const LinearLayout& memory, int32_t vec, int32_t lanes, int32_t warps) {
  const int32_t bits = memory.InBits("offset"), vec_bits = BitsOf(vec), lane_bits = BitsOf(lanes);
  const int32_t warp_bits = BitsOf(warps);
  if (vec_bits + lane_bits + warp_bits > bits) return absl::nullopt;
  InDimBases registers{"register", {}}, of_lanes{"lane", {}}, of_warps{"warp", {}}, blocks{"block", {}};
  for (int32_t bit = 0; bit < bits; ++bit) {
    const Coordinates image = memory.Basis("offset", bit);
    const int32_t above = bit - vec_bits;
    InDimBases& in = above < 0                       ? registers
                     : above < lane_bits             ? of_lanes
                     : above < lane_bits + warp_bits ? of_warps
                                                     : registers;
    in.bases.emplace_back(image.begin(), image.end());
  }
  std::vector<DimSize> outs;
  for (const LayoutDim& out : memory.OutDims()) outs.push_back({out.name, out.size()});
  auto layout = LinearLayout::FromBases({registers, of_lanes, of_warps, blocks}, outs);
  if (!layout.ok()) return absl::nullopt;
  return *std::move(layout);
}

}  // namespace tritond::compiler
