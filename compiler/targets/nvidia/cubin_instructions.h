// SPDX-License-Identifier: Apache-2.0
// The instructions of a kernel, as its cubin holds them. They have 16 bytes, as two little-endian words. The positions
// below are those at which `nvdisasm -hex` shows the fields that it prints.
#ifndef COMPILER_TARGETS_NVIDIA_CUBIN_INSTRUCTIONS_H_
#define COMPILER_TARGETS_NVIDIA_CUBIN_INSTRUCTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tritond::compiler::nvidia {

struct Instruction {
  uint64_t low = 0, high = 0;
};

inline constexpr uint64_t kBranchOpcode = 0x947, kExitOpcode = 0x94d;

inline uint64_t Opcode(const Instruction& i) { return i.low & 0xfff; }

// Whether it is executed whatever the thread has computed.
inline bool IsAlways(const Instruction& i) { return (i.low >> 12 & 0xf) == 7; }

// Instructions from the one after a branch to its target.
int64_t Distance(const Instruction& branch, int compute_capability);

// None where the bytes are no cubin with this kernel.
std::vector<Instruction> InstructionsOf(absl::string_view cubin, absl::string_view kernel);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_CUBIN_INSTRUCTIONS_H_
