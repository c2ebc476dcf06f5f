// SPDX-License-Identifier: Apache-2.0
// Small kernels that between them use every kind of instruction that lowering for NVIDIA emits.
#ifndef TESTS_CONFORMANCE_FAULT_KERNELS_H_
#define TESTS_CONFORMANCE_FAULT_KERNELS_H_

#include <string>
#include <vector>

#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {

struct FaultKernel {
  std::string name;
  std::string target;  // "emulated:cuda:80"
  std::string ir;
  std::string options;
  std::vector<Array> arrays;  // the parameters, the last one written
  double tolerance = 0;
};

// All of them, for emulated devices.
std::vector<FaultKernel> FaultKernels();

}  // namespace tritond::conformance

#endif  // TESTS_CONFORMANCE_FAULT_KERNELS_H_
