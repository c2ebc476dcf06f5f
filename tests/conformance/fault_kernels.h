// SPDX-License-Identifier: Apache-2.0
// Small kernels that between them use every kind of instruction that lowering for NVIDIA emits, and some that other
// compilers emit.
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
  // Not of Triton IR, but written as LLVM IR: `ir` is empty then, and the result is `expected`.
  LlirKernel llir = {};
  Array expected = {};
};

// All of them, for emulated devices.
std::vector<FaultKernel> FaultKernels();
// handwritten_kernels.cc: what our compiler does not emit.
std::vector<FaultKernel> HandwrittenKernels();

}  // namespace tritond::conformance

#endif  // TESTS_CONFORMANCE_FAULT_KERNELS_H_
