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

// Attribute of a kernel that more blocks on a multiprocessor may make faster; its value says how many are worth a try.
inline constexpr llvm::StringLiteral kMoreBlocksAttr = "tritond.more_blocks";
inline constexpr llvm::StringLiteral kSecondBlock = "second block", kAllWarps = "all warps";

// Attribute of a kernel: the bytes that a thread could load at once, if it has the registers.
inline constexpr llvm::StringLiteral kLoadsAtOnceAttr = "tritond.loads_at_once";
// How often a thread waits for loads all the same, as it needs some for what it loads next; once where it is missing.
inline constexpr llvm::StringLiteral kWaitsAttr = "tritond.waits";
// Of a kernel whose programs take turns with the iterations of a loop: how many these are.
inline constexpr llvm::StringLiteral kProgramsAttr = "tritond.programs";

// Writes into `ptx`, the text of `module`, what its kernel's attributes say, as comments. These also say how much
// shared memory a block has, and how many words its loops keep. Nothing where the module has several kernels.
void NoteMoreBlocks(const llvm::Module& module, std::string& ptx);

// What the assembler makes of `ptx`; fails as it does. Where it loses operands, the text gets copies of them. It is
// asked once more, and the better binary is kept,
//   - for as many blocks as it leaves room for, then for all registers, where it stores values although a thread may
//     have more registers,
//   - for waits after groups of products of wgmma, where it makes each product wait,
//   - for more blocks of `num_warps` warps, where the text has that comment and registers alone keep them out,
//   - for all registers that as many blocks leave, or fewer blocks, where an iteration waits for memory more than once
//     and threads load less at once than they could,
//   - for as many blocks as it leaves room for, where products of mma wait for each other most of the time.
absl::StatusOr<std::string> AssembleBest(const Assembler& assembler, const std::string& ptx,
                                         const AssembleOptions& options, int num_warps, const TargetInfo& info);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_SECOND_ASSEMBLY_H_
