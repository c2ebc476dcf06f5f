// SPDX-License-Identifier: Apache-2.0
// Operands of wgmma that the assembler loses in a loop, and products that it leaves out.
#ifndef COMPILER_TARGETS_NVIDIA_LOST_OPERANDS_H_
#define COMPILER_TARGETS_NVIDIA_LOST_OPERANDS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/targets/nvidia/cubin_instructions.h"

namespace tritond::compiler::nvidia {

// Whether a loop of this code for sm_90 makes operand a of a product in registers in which it keeps that of another
// one. What is not understood counts as right.
bool LosesOperands(absl::Span<const Instruction> code);
// The same of a kernel in a cubin. Other devices than those of compute capability 9.0 have no such products.
bool LosesOperands(absl::string_view cubin, absl::string_view kernel, int compute_capability);

// Whether `ptx` adds up parts of products (warp_group_dots.cc) and the kernel has fewer products of wgmma than it. The
// assembler (13.0) has taken parts for each other that shared registers. Elsewhere it leaves out what nobody needs, as
// it has done where the kernel has none at all.
bool LosesProducts(absl::string_view ptx, absl::string_view cubin, absl::string_view kernel, int compute_capability);

// `ptx` with a copy of every operand a that products of wgmma take from registers, in front of each product.
std::string CopyOperands(absl::string_view ptx);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_LOST_OPERANDS_H_
