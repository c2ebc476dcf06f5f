// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LAYOUT_LANE_ORDER_H_
#define COMPILER_LAYOUT_LANE_ORDER_H_

#include <cstdint>

#include "absl/types/optional.h"
#include "compiler/layout/linear_layout.h"

// Lanes of a warp that write to memory side by side, in their order. Lane i writes to the i-th run of `vec` elements
// after those of lane 0. Some instructions write no other way.
namespace tritond::compiler {

// Whether, under `to_offset`, (register, lane, warp, block) -> offset, lanes do so with each aligned group of `vec`
// registers. Each group must begin at a multiple of what a warp writes. `vec` is a power of two.
bool HasLanesInOrder(const LinearLayout& to_offset, int32_t vec);

// The layout (register, lane, warp, block) of a tensor in `lanes` lanes of `warps` warps under which they do so. They
// fill `memory`, offset -> tensor, which is one to one. Registers of one group are neighbours in memory, warps take
// turns. Nullopt where the tensor has fewer elements than all threads write at once.
absl::optional<LinearLayout> LayoutInLaneOrder(const LinearLayout& memory, int32_t vec, int32_t lanes, int32_t warps);

}  // namespace tritond::compiler

#endif  // COMPILER_LAYOUT_LANE_ORDER_H_
