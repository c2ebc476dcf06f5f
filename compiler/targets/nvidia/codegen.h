// SPDX-License-Identifier: Apache-2.0
// LLVM IR to PTX: the steps after NvidiaTarget::Optimize and EmitAsm.
#ifndef COMPILER_TARGETS_NVIDIA_CODEGEN_H_
#define COMPILER_TARGETS_NVIDIA_CODEGEN_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/targets/assembly_text.h"
#include "compiler/targets/nvidia/architecture.h"
#include "compiler/targets/nvidia/toolchain.h"
#include "compiler/targets/target.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace tritond::compiler::nvidia {

// LLVM's description of the device. `ptx_version`: 84 for PTX 8.4; the nearest that LLVM knows is taken. Internal: this
// LLVM has no NVPTX back end.
absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine(const Architecture& arch, int ptx_version,
                                                                       const KernelOptions& options);

// Whether it is a division of 64 bits, or the remainder of one.
bool DividesLong(const llvm::Instruction& instruction);

// branch_tanh.cc. Lets a thread ask once for several elements which form of libdevice's tanh they need.
void BranchTanh(llvm::Module& module);

// branch_divisions.cc. Lets a thread ask once for several divisions of 64 bits by one number whether 32 bits do.
void BranchDivisions(llvm::Module& module);

// compute_in_halves.cc. Computes sums, differences and products of halves that are rounded to halves as pairs of these.
void ComputeInHalves(llvm::Module& module);

// Moves loads from shared memory to their first uses, so that fewer registers are live. Keeps what the module means.
void SinkSharedLoads(llvm::Module& module);

// pack_phis.cc. Lets loops carry whole vectors of a register's size instead of their elements: of loaded words, and
// of the f16 accumulators of wgmma. Words that a branch loads leave it whole.
void PackPhis(llvm::Module& module);

// fill_masked_loads.cc. Gives what the masks of loads leave out a value that the assembler keeps predicates for.
void FillMaskedLoads(llvm::Module& module);

// share_sums.cc. Sums of indices that are equal become one.
void ShareSums(llvm::Module& module);

// undo_sinking.cc. Moves values back to where their operands are made if they take fewer registers than these.
void UndoSinking(llvm::Module& module);

// order_by_use.cc. Computes values where they are first needed, so that few are live at once.
void OrderByUse(llvm::Module& module);

// start_together.cc. Loads whose words go to shared memory start before the first of these is stored.
void StartTogether(llvm::Module& module);

// extend_bytes.cc. Bytes of words that are multiplied become numbers of 32 bits by one instruction.
void ExtendBytes(llvm::Module& module);

// pair_bytes.cc. Pairs of bytes that are put together from one word become half of that word.
void PairBytes(llvm::Module& module);

// register_pressure.cc. Words of a thread that the function's values take at once, in its order of instructions.
int64_t MaxLiveWords(const llvm::Function& function);
// Words that a loop keeps from its first block to its last one, whatever the order of its instructions; the most of any
// loop. 0: the function has no loop.
int64_t WordsThatLoopsKeep(const llvm::Function& function);

// block_target.cc. Says how many blocks a multiprocessor should hold, where the assembler would save registers for
// more. Nothing where the function has no number of threads, or a limit of registers.
void SetBlockTarget(llvm::Function& kernel);
// Whether the matrix units execute it.
bool IsMatrixInstruction(const llvm::Instruction& instruction);

// fuse_multiply_adds.cc. Fuses products with the sums that take them, in every block.
void FuseMultiplyAdds(llvm::Module& module);

// order_async_proxy.cc. Whether this is inline assembly that issues wgmma, or tcgen05.mma.
bool IsWgmma(const llvm::Instruction& instruction);
bool IsTensorMemoryProduct(const llvm::Instruction& instruction);
// Puts the fences that wgmma needs in front of barriers, if the module has any.
void OrderAsyncProxy(llvm::Module& module);

// expand_abs.cc. Magnitudes of integers in a form that the assembler gets right.
void ExpandAbs(llvm::Module& module);

// widen_extrema.cc. The greater and lesser ones of narrow integers, in 32 bits, which the assembler gets right.
void WidenExtrema(llvm::Module& module);

// guard_magnitudes.cc. Magnitudes of floats compared with negative numbers, as the assembler gets it right.
void GuardMagnitudes(llvm::Module& module);

// hide_negations.cc. PTX whose negations the assembler does not lose.
std::string HideNegations(absl::string_view ptx);

// guard_high_products.cc. High halves of products in a form that the assembler subtracts from rightly.
void GuardHighProducts(llvm::Module& module);

// guard_rotations.cc. Sums and differences of shifts in a form that the assembler takes for no rotation.
void GuardRotations(llvm::Module& module);

// guard_unsigned.cc. Floats of unsigned numbers that are sign-extended, and words of such bytes of 16 bits, in a form
// that the assembler gets right.
void GuardUnsigned(llvm::Module& module);

// sign_products.cc. Products of numbers that are both extended with their signs are one instruction.
void SignProducts(llvm::Module& module);

// select_words.cc. Elements that are selected by the same conditions in many words are masked as words.
void SelectWords(llvm::Module& module);

// mask_words.cc. Masks of halves in a form that the assembler gets right.
void MaskWords(llvm::Module& module);

// define_phis.cc. Loops carry no value that nothing has written, for which the assembler takes others.
void DefinePhis(llvm::Module& module);

// select_signed_bits.cc. Bits with a sign become floats in a form that LLVM's back end gets right.
void SelectSignedBits(llvm::Module& module);

// widen_again.cc. Keeps halves as words between barriers, where a kernel has more values than registers.
void WidenAgain(llvm::Module& module);

// join_bounds.cc. Indices that are compared with zero and with a size are compared once.
void JoinBounds(llvm::Module& module);

// join_early.cc. Values become one where they are made, if that one takes fewer registers.
void JoinEarly(llvm::Module& module);

// carry_sums.cc. Addresses that advance in loops of wgmma are added word by word.
void CarrySums(llvm::Module& module);

// carry_rows.cc. Of addresses that advance together, loops carry those of rows.
void CarryRows(llvm::Module& module);

// merge_tails.cc. Versions of a kernel that end alike share their end.
void MergeTails(llvm::Module& module);

// renew_operands.cc. Operands of wgmma that loops do not change are copied in each iteration where ptxas loses them.
void RenewOperands(llvm::Module& module);

// keep_loops.cc. Loops that issue wgmma are not unrolled by the assembler.
void KeepWgmmaLoops(llvm::Module& module);

// optimize.cc. Sets the module's triple and data layout, gives functions with the attribute "tritond.kernel" an entry
// point's annotations, and everything else internal linkage. Links libdevice when one of its functions is called; runs
// the passes. InvalidArgument: no kernel, or a call of an unknown function, which the message names.
// FailedPrecondition: libdevice is needed and not there.
absl::Status OptimizeModule(llvm::Module& module, llvm::TargetMachine& machine, Toolchain& toolchain,
                            const KernelOptions& options);

// link_libdevice.cc. Resolves the module's open "__nv_" functions. Ok at once when there are none.
absl::Status LinkLibdevice(llvm::Module& module, Toolchain& toolchain);

// ptxas moves code itself, and knows the registers. LLVM's sinking leaves the operands alive instead of one result.
inline constexpr CodeMotion kPtxMotion{.hoists = true, .sinks = false};

// emit_ptx.cc. PTX of version `ptx_version` for `arch`, by a writer with kPtxMotion.
// Internal: LLVM's back end rejects the module.
absl::StatusOr<std::string> EmitPtx(llvm::Module& module, AssemblyWriter& writer, const Architecture& arch,
                                    int ptx_version, const KernelOptions& options);

// check_cubin.cc. The name of the first entry function of PTX text, comments left out; empty when there is none.
std::string EntryOf(absl::string_view ptx);
// cubin_resources.cc. What the cubin says of this kernel; nothing where the bytes are no cubin or do not say.
BinaryResources ResourcesOfCubin(absl::string_view cubin, absl::string_view kernel);
// Ok when the bytes are an executable ELF file for `arch` that defines the kernel, and no loop of it loses operands
// (lost_operands.h). Internal with what is wrong.
absl::Status CheckCubin(absl::string_view cubin, const Architecture& arch, absl::string_view kernel);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_CODEGEN_H_
