// SPDX-License-Identifier: Apache-2.0
// The instructions of AMD GPUs, as LLVM's own operations and its amdgcn intrinsics.
#ifndef COMPILER_TARGETS_AMD_AMD_OPS_H_
#define COMPILER_TARGETS_AMD_AMD_OPS_H_

#include "compiler/lowering/target_ops.h"
#include "compiler/targets/amd/architecture.h"
#include "compiler/targets/amd/lane_moves.h"

namespace tritond::compiler {

// Immutable, so usable from any thread. Families of methods live in files of their own: memory_ops.cc, atomic_ops.cc,
// copy_ops.cc, math_ops.cc, matrix_ops.cc, convert_ops.cc, debug_ops.cc; the rest is in amd_ops.cc.
class AmdOps final : public TargetOps {
 public:
  // `architecture` must outlive this.
  explicit AmdOps(const amd::Architecture& architecture) : arch_(architecture) {}

  int WarpSize() const override { return arch_.lanes; }
  mlir::Value ThreadId(mlir::OpBuilder& b, mlir::Location loc) const override;
  mlir::Value ProgramId(mlir::OpBuilder& b, mlir::Location loc, tt::ProgramDim axis) const override;
  // What the launch writes after the kernel's arguments ("Kernarg Segment", hidden_block_count_x).
  mlir::Value NumPrograms(mlir::OpBuilder& b, mlir::Location loc, tt::ProgramDim axis) const override;
  void Barrier(mlir::OpBuilder& b, mlir::Location loc) const override;
  // Loads of the next iteration go on across it.
  void SharedBarrier(mlir::OpBuilder& b, mlir::Location loc) const override;
  void WarpBarrier(mlir::OpBuilder& b, mlir::Location loc) const override;
  // By MoveLanes where it has moves for that, else by ds_bpermute.
  mlir::Value ShuffleXor(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, int mask) const override;
  mlir::Value ShuffleIndex(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, mlir::Value lane) const override;
  // None: several moves by DPP are as good as any.
  std::optional<mlir::Value> WarpReduce(mlir::OpBuilder& b, mlir::Location loc, mlir::Operation* combiner,
                                        mlir::Value value) const override {
    return std::nullopt;
  }
  // Cycles. DPP, v_permlane…, v_readlane or ds_swizzle (lane_moves.h); none where only ds_bpermute serves.
  int MoveCost(llvm::ArrayRef<int> sources) const override;
  mlir::Value MoveLanes(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value,
                        llvm::ArrayRef<int> sources) const override;
  // Of instructions alone (CheckInlineAssembly).
  mlir::FailureOr<mlir::Value> InlineAsm(mlir::OpBuilder& b, mlir::Location loc, mlir::Type result,
                                         mlir::ValueRange args, llvm::StringRef text, llvm::StringRef constraints,
                                         bool has_side_effects) const override;

  llvm::SmallVector<mlir::Value> Load(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                                      mlir::ValueRange others) const override;
  void Store(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
             mlir::ValueRange values) const override;

  // Straight to LDS, where there is such a load of that size.
  bool AsyncCopy(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                 const SharedDestination& to) const override;
  void AsyncCommitGroup(mlir::OpBuilder& b, mlir::Location loc) const override;
  void AsyncWaitGroup(mlir::OpBuilder& b, mlir::Location loc, int num) const override;

  mlir::FailureOr<mlir::Value> AtomicRmw(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                         tt::RmwOp op, mlir::Value value) const override;
  // Pairs of f16 and bf16, where there is an instruction.
  int MaxAtomicAdds(mlir::Type element) const override;
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> AtomicAdds(mlir::OpBuilder& b, mlir::Location loc,
                                                             const AtomicAccess& access,
                                                             mlir::ValueRange values) const override;
  mlir::FailureOr<mlir::Value> AtomicCas(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                         mlir::Value compare, mlir::Value value) const override;
  // The counter of constant rate, which is 100 MHz on all of these.
  mlir::FailureOr<mlir::Value> Nanoseconds(mlir::OpBuilder& b, mlir::Location loc) const override;

  mlir::FailureOr<mlir::Value> Math(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef op,
                                    mlir::ValueRange args) const override;
  // Functions of the device libraries, and those of other vendors' that these have under names of their own.
  mlir::FailureOr<mlir::Value> CallExtern(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef symbol,
                                          mlir::Type result, mlir::ValueRange args) const override;

  // Down-conversions to 8-bit floats saturate: infinities and what is too large become the largest finite value.
  llvm::SmallVector<mlir::Value> ConvertFloat(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType from,
                                              mlir::FloatType to, tt::RoundingMode rounding,
                                              mlir::ValueRange values) const override;

  // MFMA for results of encoding amd_mfma, WMMA for those of amd_wmma.
  std::optional<MatrixInstruction> FindMatrixInstruction(tt::DotOp dot) const override;
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> MultiplyMatrices(mlir::OpBuilder& b, mlir::Location loc,
                                                                   const MatrixInstruction& instruction,
                                                                   mlir::ValueRange a_elements,
                                                                   mlir::ValueRange b_elements,
                                                                   mlir::ValueRange c_elements) const override;

  // MFMA with scales, for results of encoding amd_mfma.
  std::optional<ScaledInstruction> FindScaledInstruction(tt::DotScaledOp dot) const override;
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> MultiplyScaled(mlir::OpBuilder& b, mlir::Location loc,
                                                                 const ScaledInstruction& instruction,
                                                                 mlir::ValueRange a_bytes, mlir::ValueRange b_bytes,
                                                                 mlir::ValueRange c_elements, ScaleByte a_scale,
                                                                 ScaleByte b_scale) const override;

  void Assert(mlir::OpBuilder& b, mlir::Location loc, mlir::Value condition, const AssertSite& site) const override;
  mlir::LogicalResult Print(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef format,
                            mlir::ValueRange args) const override;

 private:
  // `kept` is null where the move keeps nothing.
  mlir::Value Move(mlir::OpBuilder& b, mlir::Location loc, const amd::LaneMove& move, mlir::Value value,
                   mlir::Value kept) const;

  const amd::Architecture& arch_;
};

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_AMD_AMD_OPS_H_
