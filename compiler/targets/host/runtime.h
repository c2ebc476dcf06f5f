// SPDX-License-Identifier: Apache-2.0
// The run-time functions that host code calls, as the module under compilation sees them: declared functions.
// BindRuntime (codegen.h) gives them bodies that jump through the table which the device provides. The contract with
// the device, field by field, is documented where the host device is; a test compiles a kernel and runs it there.
#ifndef COMPILER_TARGETS_HOST_RUNTIME_H_
#define COMPILER_TARGETS_HOST_RUNTIME_H_

#include <cstdint>

#include "llvm/IR/Module.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace tritond::compiler::host {

// The version of the contract that this code follows.
inline constexpr uint32_t kAbiVersion = 3;
inline constexpr llvm::StringLiteral kAbiVersionSymbol = "tritond_host_abi";
inline constexpr llvm::StringLiteral kRuntimeSymbol = "tritond_host_runtime";

// Each value is the function's place in the table of pointers that follows the table's version.
enum class RuntimeFunction {
  kThreadId = 1,
  kProgramId,
  kNumPrograms,
  kSharedMemory,
  kBarrier,
  kWarpBarrier,
  kShuffle,
  kCheckAccess,
  kFail,
  kPrint,
  kAsyncCopy,
  kAsyncCommit,
  kAsyncWait,
  kExecute
};
inline constexpr RuntimeFunction kRuntimeFunctions[] = {
    RuntimeFunction::kThreadId,     RuntimeFunction::kProgramId,   RuntimeFunction::kNumPrograms,
    RuntimeFunction::kSharedMemory, RuntimeFunction::kBarrier,     RuntimeFunction::kWarpBarrier,
    RuntimeFunction::kShuffle,      RuntimeFunction::kCheckAccess, RuntimeFunction::kFail,
    RuntimeFunction::kPrint,        RuntimeFunction::kAsyncCopy,   RuntimeFunction::kAsyncCommit,
    RuntimeFunction::kAsyncWait,    RuntimeFunction::kExecute};

// The kinds of check_access; address space 3 adds kSharedAccess.
// kWorkGroupAccess: an atomic update of global memory whose scope is smaller than the device.
enum AccessKind : uint32_t {
  kReadAccess = 0,
  kWriteAccess = 1,
  kAtomicAccess = 2,
  kSharedAccess = 4,
  kWorkGroupAccess = 32
};

// Functions with this attribute take a pointer to the place of the call first. Calls pass null, until
// InstrumentAccesses fills in the place that their debug location names. Accesses inside them are checked already.
inline constexpr llvm::StringLiteral kSiteAttr = "tritond.site";

// The C library's clock, which HostOps calls: the one function besides libm's that kernels may.
inline constexpr llvm::StringLiteral kClockFunction = "clock_gettime";

// "tritond.barrier"
llvm::StringRef NameOf(RuntimeFunction function);

// Calls `function` in the LLVM dialect; a null site is put before `args` of functions that take one. Null when it
// returns nothing.
mlir::Value EmitRuntimeCall(mlir::OpBuilder& b, mlir::Location loc, RuntimeFunction function, mlir::ValueRange args);

// check_access of `bytes` at `ptr`, from inside a function that got `site`.
void EmitCheckAccess(mlir::OpBuilder& b, mlir::Location loc, mlir::Value site, mlir::Value ptr, int64_t bytes,
                     AccessKind kind);

// Calls the internal function `name` of `type`, whose first parameter is the site; `args` are the others. The first
// call in a module defines it: `body` emits its blocks, with the insertion point at the end of the entry block.
mlir::Value EmitSharedCall(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name, mlir::Type result,
                           mlir::ValueRange args, llvm::function_ref<void(mlir::Block* entry)> body);

// From `entry` of such a function, whose argument 1 is the predicate: where it is true, `act` emits the action. Returns
// the block after, where the builder then stands; its argument, when `type` is not null, is what `act` returned or
// `otherwise`.
mlir::Block* EmitBranch(mlir::OpBuilder& b, mlir::Location loc, mlir::Block* entry, mlir::Type type,
                        mlir::Value otherwise, llvm::function_ref<mlir::Value()> act);

// Executes the run-time's instruction `name` with the operands `in`, i64 each, from inside a function that got `site`.
void EmitExecute(mlir::OpBuilder& b, mlir::Location loc, mlir::Value site, llvm::StringRef name, mlir::ValueRange in);

// Ends the launch with `message`, from inside a function that got `site`.
void EmitFail(mlir::OpBuilder& b, mlir::Location loc, mlir::Value site, mlir::Value message);

// The declaration of `function` in a module of LLVM IR, with what the optimiser may know about it.
llvm::Function* DeclareRuntime(llvm::Module& module, RuntimeFunction function);

}  // namespace tritond::compiler::host

#endif  // COMPILER_TARGETS_HOST_RUNTIME_H_
