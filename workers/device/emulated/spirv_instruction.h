// SPDX-License-Identifier: Apache-2.0
// The functions of OpenCL and SPIR-V that the lanes of a sub-group execute together.
#ifndef WORKERS_DEVICE_EMULATED_SPIRV_INSTRUCTION_H_
#define WORKERS_DEVICE_EMULATED_SPIRV_INSTRUCTION_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "workers/device/emulated/amdgcn_name.h"
#include "workers/device/emulated/instruction.h"

namespace tritond::workers::emulated {

// The function of a text as ParseAmdName takes it: "sub_group_shuffle pvc 1x32 : 1x32 1x32". InvalidArgument, naming
// it, when there is none.
absl::StatusOr<Instruction> FindSpirv(absl::string_view text);

// spirv_blocks.cc: intel_sub_group_2d_block_read_…; null for all others. The words are a result.
Runner FindBlockRead(const AmdName& name);
// intel_sub_group_2d_block_prefetch_…, likewise; there is no result.
Runner FindBlockPrefetch(const AmdName& name);

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_SPIRV_INSTRUCTION_H_
