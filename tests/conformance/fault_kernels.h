// SPDX-License-Identifier: Apache-2.0
// Small kernels that between them use every kind of instruction that lowering emits, and some that other compilers
// emit.
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
  int num_warps = 4;
  workers::Grid grid = {};
  // Instead of `ir`: LLVM IR, and what it is to write.
  LlirKernel llir = {};
  Array expected = {};
  bool is_ttgir =
      false;  // `ir`, which writes `expected` and is launched with `num_warps` warps, those of partitions too
};

// All of them, for emulated devices.
std::vector<FaultKernel> FaultKernels();
// handwritten_kernels.cc: what our compiler does not emit.
std::vector<FaultKernel> HandwrittenKernels();
// partition_kernels.cc: warp-specialised ones, for emulated:cuda:90.
std::vector<FaultKernel> PartitionKernels();
// Those of LLVM IR for AMD's, and of Triton IR: "mma gfx942", "mma gfx1100".
std::vector<FaultKernel> AmdFaultKernels();
// Those of Triton IR for Intel's.
std::vector<FaultKernel> IntelFaultKernels();
// Those of Triton IR that every target takes.
std::vector<FaultKernel> TritonFaultKernels(const std::string& target);
// "scaled": a product of e4m3 and e2m1 with scales, for targets whose matrix unit takes them.
FaultKernel ScaledFaultKernel(const std::string& target);

}  // namespace tritond::conformance

#endif  // TESTS_CONFORMANCE_FAULT_KERNELS_H_
