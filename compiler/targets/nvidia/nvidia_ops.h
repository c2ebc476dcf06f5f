// SPDX-License-Identifier: Apache-2.0
// The instructions of NVIDIA GPUs from compute capability 8.0 on, as LLVM intrinsics and inline PTX. The manual is the
// "PTX ISA"; section names in the sources are its own.
#ifndef COMPILER_TARGETS_NVIDIA_NVIDIA_OPS_H_
#define COMPILER_TARGETS_NVIDIA_NVIDIA_OPS_H_

#include "compiler/lowering/target_ops.h"

namespace tritond::compiler {

// Immutable, so usable from any thread. Families of methods live in files of their own: memory_ops.cc, copy_ops.cc,
// atomic_ops.cc, math_ops.cc, matrix_ops.cc, byte_ops.cc, convert_ops.cc, debug_ops.cc; the rest is in nvidia_ops.cc.
class NvidiaOps final : public TargetOps {
 public:
  // `compute_capability`: 80 for 8.0. `own_lowerings` as OwnLowerings has it; must outlive this.
  explicit NvidiaOps(int compute_capability, const LoweringTable* own_lowerings = nullptr)
      : compute_capability_(compute_capability), own_lowerings_(own_lowerings) {}

  const LoweringTable* OwnLowerings() const override { return own_lowerings_; }

  // Of 4352 that all have together (PTX ISA, "Kernel Function Parameters").
  int64_t MaxByValueBytes() const override { return 4096; }
  int WarpSize() const override { return 32; }
  mlir::Value ThreadId(mlir::OpBuilder& b, mlir::Location loc) const override;
  // In a module of more than one block a cluster (ttg.num-ctas) a program is a cluster.
  mlir::Value ProgramId(mlir::OpBuilder& b, mlir::Location loc, tt::ProgramDim axis) const override;
  bool HasClusters() const override;
  mlir::Value BlockInCluster(mlir::OpBuilder& b, mlir::Location loc) const override;
  void ClusterBarrier(mlir::OpBuilder& b, mlir::Location loc) const override;
  mlir::Value NumPrograms(mlir::OpBuilder& b, mlir::Location loc, tt::ProgramDim axis) const override;
  void Barrier(mlir::OpBuilder& b, mlir::Location loc) const override;
  void WarpBarrier(mlir::OpBuilder& b, mlir::Location loc) const override;
  // PTX ISA, "bar" and "setmaxnreg".
  int NumPartBarriers() const override { return 16; }
  void PartBarrier(mlir::OpBuilder& b, mlir::Location loc, int number, int threads) const override;
  int WarpsOfGroup() const override;
  void ExchangeRegisters(mlir::OpBuilder& b, mlir::Location loc, int from, int to) const override;
  mlir::Value ShuffleXor(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, int mask) const override;
  mlir::Value ShuffleIndex(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, mlir::Value lane) const override;
  std::optional<mlir::Value> WarpReduce(mlir::OpBuilder& b, mlir::Location loc, mlir::Operation* combiner,
                                        mlir::Value value) const override;
  mlir::FailureOr<mlir::Value> InlineAsm(mlir::OpBuilder& b, mlir::Location loc, mlir::Type result,
                                         mlir::ValueRange args, llvm::StringRef text, llvm::StringRef constraints,
                                         bool has_side_effects) const override;

  llvm::SmallVector<mlir::Value> Load(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                                      mlir::ValueRange others) const override;
  void Store(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
             mlir::ValueRange values) const override;

  // fence.release and fence.acquire, from 9.0 on, else fence.acq_rel (PTX ISA, "Parallel synchronization: fence").
  bool HasFences() const override { return true; }
  void Fence(mlir::OpBuilder& b, mlir::Location loc, bool releases, tt::MemSyncScope scope,
             mlir::Value predicate) const override;
  mlir::FailureOr<mlir::Value> AtomicRmw(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                         tt::RmwOp op, mlir::Value value) const override;
  // From 9.0 on 16 bytes of f16, bf16 or f32 (PTX ISA, "Parallel synchronization: atom", vector types).
  int MaxAtomicAdds(mlir::Type element) const override;
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> AtomicAdds(mlir::OpBuilder& b, mlir::Location loc,
                                                             const AtomicAccess& access,
                                                             mlir::ValueRange values) const override;
  mlir::FailureOr<mlir::Value> AtomicCas(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                         mlir::Value compare, mlir::Value value) const override;
  mlir::FailureOr<mlir::Value> AtomicLoad(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                          mlir::Type type) const override;
  // %globaltimer.
  mlir::FailureOr<mlir::Value> Nanoseconds(mlir::OpBuilder& b, mlir::Location loc) const override;

  mlir::FailureOr<mlir::Value> Math(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef op,
                                    mlir::ValueRange args) const override;
  mlir::FailureOr<mlir::Value> CallExtern(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef symbol,
                                          mlir::Type result, mlir::ValueRange args) const override;

  // Down-conversions to 8-bit floats saturate: infinities and what is too large become the largest finite value.
  llvm::SmallVector<mlir::Value> ConvertFloat(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType from,
                                              mlir::FloatType to, tt::RoundingMode rounding,
                                              mlir::ValueRange values) const override;

  // By choices of bytes: byte_ops.cc.
  llvm::SmallVector<mlir::Value> UnpackFp4(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType to,
                                           mlir::ValueRange words) const override;
  llvm::SmallVector<mlir::Value> ConvertBytes(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType to,
                                              bool is_signed, bool in_words, mlir::ValueRange values) const override;

  // By cvt: convert_ops.cc.
  llvm::SmallVector<mlir::Value> ConvertWords(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType to,
                                              bool is_signed, mlir::ValueRange values) const override;

  // mma.sync for results of encoding nvidia_mma, version 2: f16, bf16, tf32 (f32), s8, and fp8 from 8.9 on.
  std::optional<MatrixInstruction> FindMatrixInstruction(tt::DotOp dot) const override;
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> MultiplyMatrices(mlir::OpBuilder& b, mlir::Location loc,
                                                                   const MatrixInstruction& instruction,
                                                                   mlir::ValueRange a_elements,
                                                                   mlir::ValueRange b_elements,
                                                                   mlir::ValueRange c_elements) const override;
  // mma.sync with block_scale.
  std::optional<ScaledInstruction> FindScaledInstruction(tt::DotScaledOp dot) const override;
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> MultiplyScaled(mlir::OpBuilder& b, mlir::Location loc,
                                                                 const ScaledInstruction& instruction,
                                                                 mlir::ValueRange a_bytes, mlir::ValueRange b_bytes,
                                                                 mlir::ValueRange c_elements, ScaleByte a_scale,
                                                                 ScaleByte b_scale) const override;
  SharedMemoryShape SharedMemory() const override;
  // ldmatrix (PTX ISA, "Warp-level matrix load instruction: ldmatrix").
  std::optional<llvm::SmallVector<mlir::Value>> LoadTiles(FunctionLowering& f, const LinearLayout& to_offset,
                                                          const SharedPlace& place, int vec,
                                                          mlir::Type type) const override;
  // stmatrix, from 9.0 on (PTX ISA, "Warp-level matrix store instruction: stmatrix").
  bool StoreTiles(FunctionLowering& f, const LinearLayout& to_offset, const SharedPlace& place, int vec,
                  llvm::ArrayRef<mlir::Value> values) const override;
  // griddepcontrol, from 9.0 on (PTX ISA, "Parallel synchronization: griddepcontrol").
  void GridDependencyWait(mlir::OpBuilder& b, mlir::Location loc) const override;
  void GridDependencyLaunchDependents(mlir::OpBuilder& b, mlir::Location loc) const override;

  // cp.async of 4, 8 or 16 bytes (PTX ISA, "Data Movement and Conversion Instructions: Non-bulk copy").
  bool AsyncCopy(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                 const SharedDestination& to) const override;
  bool ReadsWholeWords() const override { return true; }
  bool CopiesBeginnings() const override { return true; }
  void AsyncCommitGroup(mlir::OpBuilder& b, mlir::Location loc) const override;
  void AsyncWaitGroup(mlir::OpBuilder& b, mlir::Location loc, int num) const override;

  void Assert(mlir::OpBuilder& b, mlir::Location loc, mlir::Value condition, const AssertSite& site) const override;
  mlir::LogicalResult Print(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef format,
                            mlir::ValueRange args) const override;

 private:
  int compute_capability_;
  const LoweringTable* own_lowerings_;
};

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_NVIDIA_OPS_H_
