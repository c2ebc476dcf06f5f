// SPDX-License-Identifier: Apache-2.0
// A kernel is assembled once more where its registers turn out to be too few, or more than it needs.
#ifndef COMPILER_TARGETS_NVIDIA_SECOND_ASSEMBLY_H_
#define COMPILER_TARGETS_NVIDIA_SECOND_ASSEMBLY_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/targets/nvidia/assembler.h"
#include "compiler/targets/target_info.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::nvidia {

// Attribute of a kernel that a second block may make faster.
inline constexpr llvm::StringLiteral kSecondBlockAttr = "tritond.second_block";

// Writes into `ptx`, the text of `module`, that a second block is worth a try, as a comment that says how much shared
// memory a block has. Nothing where the module has several kernels.
void NoteSecondBlock(const llvm::Module& module, std::string& ptx);

// What the assembler makes of `ptx`; fails as it does. It is asked once more, and the better binary is kept,
//   - for all registers, where it stores values although a thread may have more registers,
//   - for two blocks of `num_warps` warps, where the text has that comment and registers alone keep a second block out.
absl::StatusOr<std::string> AssembleBest(const Assembler& assembler, const std::string& ptx,
                                         const AssembleOptions& options, int num_warps, const TargetInfo& info);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_SECOND_ASSEMBLY_H_
