// SPDX-License-Identifier: Apache-2.0
// The instructions of the host target: calls of its run-time, plain x86-64 memory accesses and libm.
#ifndef COMPILER_TARGETS_HOST_HOST_OPS_H_
#define COMPILER_TARGETS_HOST_HOST_OPS_H_

#include "compiler/lowering/target_ops.h"

namespace tritond::compiler {

// Immutable, so usable from any thread. Families of methods live in files of their own: copy_ops.cc,
// memory_ops.cc, atomic_ops.cc, math_ops.cc, extern_functions.cc; the rest is in host_ops.cc.
//
// What a predicate switches off is a branch in a function of its own, one for each type of access and module. Calls are
// small, and kernels have many.
class HostOps final : public TargetOps {
 public:
  // `warp_size`: 32 or 64.
  explicit HostOps(int warp_size) : warp_size_(warp_size) {}

  int WarpSize() const override { return warp_size_; }
  mlir::Value ThreadId(mlir::OpBuilder& b, mlir::Location loc) const override;
  mlir::Value ProgramId(mlir::OpBuilder& b, mlir::Location loc, tt::ProgramDim axis) const override;
  mlir::Value NumPrograms(mlir::OpBuilder& b, mlir::Location loc, tt::ProgramDim axis) const override;
  void Barrier(mlir::OpBuilder& b, mlir::Location loc) const override;
  void WarpBarrier(mlir::OpBuilder& b, mlir::Location loc) const override;
  // Fibers could wait at more; GPUs have 16.
  int NumPartBarriers() const override { return 16; }
  void PartBarrier(mlir::OpBuilder& b, mlir::Location loc, int number, int threads) const override;
  mlir::Value ShuffleXor(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, int mask) const override;
  mlir::Value ShuffleIndex(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, mlir::Value lane) const override;
  std::optional<mlir::Value> WarpReduce(mlir::OpBuilder& b, mlir::Location loc, mlir::Operation* combiner,
                                        mlir::Value value) const override;

  // x86-64 gives the first NaN of two, and the second zero.
  bool FloatsCommute() const override { return false; }

  // Where the predicate is false and there are no others, the elements are zero.
  llvm::SmallVector<mlir::Value> Load(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                                      mlir::ValueRange others) const override;
  void Store(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
             mlir::ValueRange values) const override;
  // The run-time delays what it copies until the wait, so that code which waits too little is found out.
  bool AsyncCopy(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                 const SharedDestination& to) const override;
  bool CopiesBeginnings() const override { return true; }
  void AsyncCommitGroup(mlir::OpBuilder& b, mlir::Location loc) const override;
  void AsyncWaitGroup(mlir::OpBuilder& b, mlir::Location loc, int num) const override;
  // Of integers and floats of 8 to 64 bits; fadd of f16, bf16, f32 and f64.
  mlir::FailureOr<mlir::Value> AtomicRmw(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                         tt::RmwOp op, mlir::Value value) const override;
  mlir::FailureOr<mlir::Value> AtomicCas(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                         mlir::Value compare, mlir::Value value) const override;
  // The C library's CLOCK_MONOTONIC.
  mlir::FailureOr<mlir::Value> Nanoseconds(mlir::OpBuilder& b, mlir::Location loc) const override;

  mlir::FailureOr<mlir::Value> Math(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef op,
                                    mlir::ValueRange args) const override;
  // Takes the names of CUDA's libdevice, which is what kernels for any target call in practice.
  mlir::FailureOr<mlir::Value> CallExtern(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef symbol,
                                          mlir::Type result, mlir::ValueRange args) const override;
  llvm::SmallVector<mlir::Value> ConvertFloat(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType from,
                                              mlir::FloatType to, tt::RoundingMode rounding,
                                              mlir::ValueRange values) const override;
  // Always a failure: inline assembly is another target's.
  mlir::FailureOr<mlir::Value> InlineAsm(mlir::OpBuilder& b, mlir::Location loc, mlir::Type result,
                                         mlir::ValueRange args, llvm::StringRef text, llvm::StringRef constraints,
                                         bool has_side_effects) const override;

  void Assert(mlir::OpBuilder& b, mlir::Location loc, mlir::Value condition, const AssertSite& site) const override;
  mlir::LogicalResult Print(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef format,
                            mlir::ValueRange args) const override;

 private:
  const int warp_size_;
};

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_HOST_HOST_OPS_H_
