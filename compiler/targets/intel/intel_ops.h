// SPDX-License-Identifier: Apache-2.0
// The instructions of Intel GPUs, as LLVM's own operations and calls of OpenCL's functions; no inline assembly.
#ifndef COMPILER_TARGETS_INTEL_INTEL_OPS_H_
#define COMPILER_TARGETS_INTEL_INTEL_OPS_H_

#include "compiler/lowering/target_ops.h"
#include "compiler/targets/intel/architecture.h"

namespace tritond::compiler {

// Immutable, so usable from any thread. Families of methods live in files of their own: memory_ops.cc, atomic_ops.cc,
// math_ops.cc, matrix_ops.cc, debug_ops.cc; the rest is in intel_ops.cc. A warp is a sub-group, a block a work-group.
class IntelOps final : public TargetOps {
 public:
  // `own_lowerings` as OwnLowerings has it; must outlive this.
  explicit IntelOps(const intel::Device& device, const LoweringTable* own_lowerings = nullptr)
      : device_(device), own_lowerings_(own_lowerings) {}

  const LoweringTable* OwnLowerings() const override { return own_lowerings_; }

  int WarpSize() const override { return device_.lanes; }
  mlir::Value ThreadId(mlir::OpBuilder& b, mlir::Location loc) const override;
  mlir::Value ProgramId(mlir::OpBuilder& b, mlir::Location loc, tt::ProgramDim axis) const override;
  mlir::Value NumPrograms(mlir::OpBuilder& b, mlir::Location loc, tt::ProgramDim axis) const override;
  void Barrier(mlir::OpBuilder& b, mlir::Location loc) const override;
  void SharedBarrier(mlir::OpBuilder& b, mlir::Location loc) const override;
  void WarpBarrier(mlir::OpBuilder& b, mlir::Location loc) const override;
  mlir::Value ShuffleXor(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, int mask) const override;
  mlir::Value ShuffleIndex(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, mlir::Value lane) const override;
  // Sums, minima and maxima.
  std::optional<mlir::Value> WarpReduce(mlir::OpBuilder& b, mlir::Location loc, mlir::Operation* combiner,
                                        mlir::Value value) const override;
  // OpenCL's fmax and fmin may give either of two zeros.
  bool FloatsCommute() const override { return false; }
  // Always a failure: the target takes no assembly (TargetInfo::takes_foreign_assembly).
  mlir::FailureOr<mlir::Value> InlineAsm(mlir::OpBuilder& b, mlir::Location loc, mlir::Type result,
                                         mlir::ValueRange args, llvm::StringRef text, llvm::StringRef constraints,
                                         bool has_side_effects) const override;

  llvm::SmallVector<mlir::Value> Load(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                                      mlir::ValueRange others) const override;
  void Store(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
             mlir::ValueRange values) const override;

  // What the device has no instruction for is a loop around a compare-and-swap of the word that holds the value.
  mlir::FailureOr<mlir::Value> AtomicRmw(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                         tt::RmwOp op, mlir::Value value) const override;
  mlir::FailureOr<mlir::Value> AtomicCas(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                         mlir::Value compare, mlir::Value value) const override;

  mlir::FailureOr<mlir::Value> Math(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef op,
                                    mlir::ValueRange args) const override;
  // Functions of other vendors' device libraries that OpenCL has, too.
  mlir::FailureOr<mlir::Value> CallExtern(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef symbol,
                                          mlir::Type result, mlir::ValueRange args) const override;

  // OpenCL's mul_hi for i64, as SPIR-V has no wider integers; null for others.
  mlir::FailureOr<mlir::Value> MultiplyHigh(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x, mlir::Value y,
                                            bool is_signed) const override;

  // None: bf16 is LLVM's type until remove_bfloat.cc, the 8-bit formats are integer arithmetic.
  llvm::SmallVector<mlir::Value> ConvertFloat(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType from,
                                              mlir::FloatType to, tt::RoundingMode rounding,
                                              mlir::ValueRange values) const override {
    return {};
  }

  // DPAS, for results of encoding dpas.
  std::optional<MatrixInstruction> FindMatrixInstruction(tt::DotOp dot) const override;
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> MultiplyMatrices(mlir::OpBuilder& b, mlir::Location loc,
                                                                   const MatrixInstruction& instruction,
                                                                   mlir::ValueRange a_elements,
                                                                   mlir::ValueRange b_elements,
                                                                   mlir::ValueRange c_elements) const override;

  // A diagnostic: SPIR-V has no trap, and a program that goes on after a failed assertion would be wrong.
  void Assert(mlir::OpBuilder& b, mlir::Location loc, mlir::Value condition, const AssertSite& site) const override;
  // OpenCL's printf.
  mlir::LogicalResult Print(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef format,
                            mlir::ValueRange args) const override;

 private:
  const intel::Device device_;
  const LoweringTable* const own_lowerings_;
};

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_INTEL_INTEL_OPS_H_
