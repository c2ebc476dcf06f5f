// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_MAPPED_TENSOR_H_
#define WORKERS_DEVICE_MAPPED_TENSOR_H_

#include <cstdint>
#include <vector>

namespace tritond::workers {

// A tensor of which a launch passes a map (CUDA driver API, "CUtensorMap"), and what the kernel's metadata says of it
// (tensordesc_meta). The outermost dimension comes first. Sizes and strides are in elements; the last stride is 1.
struct MappedTensor {
  uint64_t address = 0;
  std::vector<int64_t> shape, strides;
  bool has_nans = false;  // outside; else zeros

  int swizzle = 0;  // none, 32, 64 or 128 bytes: 0 … 3
  int element_bytes = 0;
  int element_type = 0;  // PTX ISA, "tensormap.replace", elemtype
  std::vector<int64_t> box;
};

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_MAPPED_TENSOR_H_
