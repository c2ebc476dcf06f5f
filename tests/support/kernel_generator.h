// SPDX-License-Identifier: Apache-2.0
// Random kernels: well-typed Triton IR over many operations, types and shapes, with the buffers to run it on. Nothing
// in it is undefined, and every result is exact or known to be approximate.
#ifndef TESTS_SUPPORT_KERNEL_GENERATOR_H_
#define TESTS_SUPPORT_KERNEL_GENERATOR_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tritond::tests {

// A kernel parameter: a buffer or an i32.
struct GeneratedParameter {
  std::string element;  // of the buffer; empty for a scalar
  std::string bytes;    // the contents before the launch
  int32_t scalar = 0;
  double tolerance = 0;  // of what the kernel writes, relative to the larger of 1 and the value; 0: exact
};

struct GeneratedKernel {
  std::string ir;
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::vector<GeneratedParameter> parameters;
};

// What a kernel begins with, besides loads.
enum class Theme {
  kAny,      // nothing
  kGathers,  // a loop of products of tiles that lie where tables say
  kOrders    // loops of accesses to places that may meet, and nothing after these
};

// The same kernel for the same seed and theme, always. `steps` bounds the number of operations, roughly.
GeneratedKernel GenerateKernel(uint64_t seed, int steps = 12, Theme theme = Theme::kAny);

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_KERNEL_GENERATOR_H_
