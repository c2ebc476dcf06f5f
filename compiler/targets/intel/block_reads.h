// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_INTEL_BLOCK_READS_H_
#define COMPILER_TARGETS_INTEL_BLOCK_READS_H_

#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler::intel {

// How the operations of the ttig dialect are lowered.
const LoweringTable& TtigLowerings();

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_BLOCK_READS_H_
