// SPDX-License-Identifier: Apache-2.0
// For tests: a kernel of LLVM dialect operations written by hand, compiled to PTX.
#ifndef COMPILER_TARGETS_NVIDIA_TEST_KERNEL_H_
#define COMPILER_TARGETS_NVIDIA_TEST_KERNEL_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/targets/nvidia/architecture.h"
#include "compiler/targets/nvidia/toolchain.h"
#include "compiler/targets/target.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace tritond::compiler::nvidia {

// A module with one kernel, "kernel", whose body a test fills in at builder(). One compile per object.
class TestKernel {
 public:
  // Letters of the parameters' types: p pointer to global memory. Integers: b i1, c i8, h i16, i i32, l i64.
  // Floats: e f16, g bf16, f f32, d f64.
  explicit TestKernel(const std::string& params);

  mlir::OpBuilder& builder() { return builder_; }
  mlir::Location loc() { return builder_.getUnknownLoc(); }
  mlir::Value arg(int index) { return kernel_.getArgument(index); }
  mlir::Type TypeOf(char letter);
  mlir::ModuleOp module() { return *module_; }
  // The first diagnostic so far; empty when there is none.
  const std::string& error() const { return error_; }

  // Stores `value` through parameter `index`, so that it is not dead.
  void Keep(int index, mlir::Value value);

  // Through translation, OptimizeModule and EmitPtx for the device of this compute capability, as PTX `ptx_version`.
  absl::StatusOr<std::string> ToPtx(int compute_capability, Toolchain& toolchain, const KernelOptions& options = {},
                                    int ptx_version = 90);

 private:
  std::unique_ptr<mlir::MLIRContext> context_;
  mlir::OpBuilder builder_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::LLVM::LLVMFuncOp kernel_;
  std::string error_;
};

const Architecture& ArchitectureOf(int compute_capability);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_TEST_KERNEL_H_
