// SPDX-License-Identifier: Apache-2.0
// How long a launch takes by the machine's rates, and what it waits for.
#ifndef COMPILER_COSTS_KERNEL_TIME_H_
#define COMPILER_COSTS_KERNEL_TIME_H_

#include <string>
#include <vector>

#include "compiler/costs/program_costs.h"
#include "compiler/targets/target_info.h"

namespace tritond::compiler {

struct Launch {
  double programs = 1;
  int warps = 4;             // of a program
  int64_t shared_bytes = 0;  // of a program
  int64_t registers = 0;     // of a thread; 0: not known, they limit nothing
  // Bytes of the buffers that arguments point to: memory moves each no more than once. Others: what programs ask for.
  llvm::SmallDenseMap<mlir::Value, double> buffer_bytes;
};

struct Resource {
  std::string name;
  double microseconds = 0;
};

struct KernelTime {
  // What each resource of the machine needs for the launch, if it were the only one; the longest first.
  std::vector<Resource> resources;
  double waves = 0;         // rounds of programs that multiprocessors run at once
  double memory_bytes = 0;  // that the device's memory moves

  double microseconds() const { return resources.empty() ? 0 : resources.front().microseconds; }
};

// No resources where the target's rates are not known, or a program does not fit.
KernelTime TimeOf(const ProgramCosts& costs, const Launch& launch, const TargetInfo& info);

}  // namespace tritond::compiler

#endif  // COMPILER_COSTS_KERNEL_TIME_H_
