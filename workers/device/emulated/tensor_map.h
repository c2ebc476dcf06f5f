// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_EMULATED_TENSOR_MAP_H_
#define WORKERS_DEVICE_EMULATED_TENSOR_MAP_H_

#include <cstdint>

namespace tritond::workers::emulated {

constexpr int kMaxRank = 5;
constexpr uint64_t kMapBytes = 128;

// What is at the start of a tensor map's bytes. Those of a GPU are opaque. The innermost dimension comes first; numbers
// are those of PTX ("tensormap.replace").
struct TensorMap {
  uint64_t address;
  uint64_t strides[kMaxRank - 1];  // bytes, of dimensions 1 …
  uint32_t dims[kMaxRank], box[kMaxRank], element_strides[kMaxRank];
  uint32_t rank_minus_one, element_type, swizzle, interleave, fill;
};
static_assert(sizeof(TensorMap) <= kMapBytes, "it lies in the map");

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_TENSOR_MAP_H_
