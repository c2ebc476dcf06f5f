// SPDX-License-Identifier: Apache-2.0
// The table of AMD's instructions.
#ifndef WORKERS_DEVICE_EMULATED_AMDGCN_INSTRUCTION_H_
#define WORKERS_DEVICE_EMULATED_AMDGCN_INSTRUCTION_H_

#include <functional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "workers/device/emulated/instruction.h"

namespace tritond::workers::emulated {

// amdgcn_instruction.cc. The instruction "mfma.f32.32x32x8f16": LLVM's name without "llvm.amdgcn.". InvalidArgument,
// naming it, when there is none.
absl::StatusOr<Instruction> FindAmdgcn(absl::string_view name);

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_AMDGCN_INSTRUCTION_H_
