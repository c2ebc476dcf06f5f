// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_CONFORMANCE_PLANTED_FAULT_H_
#define TESTS_CONFORMANCE_PLANTED_FAULT_H_

#include <ostream>

#include "tests/conformance/fault_kernels.h"

namespace tritond::conformance {

inline constexpr char kDrop[] = "(the whole line)";
inline constexpr int kAll = -1;

// A mistake in a kernel's LLVM IR.
struct Fault {
  const char* name;
  const char* kernel;
  const char* text;         // in the kernel's LLVM IR
  const char* replacement;  // of it
  int occurrence = kAll;    // from 0
};
void PrintTo(const Fault& fault, std::ostream* os);

// Makes kernels; called once a process.
using MakeKernels = std::vector<FaultKernel> (*)();

// The kernel with the fault fails, or writes something else than it should.
void ExpectFound(const Fault& fault, MakeKernels kernels);
// Without faults all kernels run and are right.
void ExpectRight(MakeKernels kernels);

}  // namespace tritond::conformance

#endif  // TESTS_CONFORMANCE_PLANTED_FAULT_H_
