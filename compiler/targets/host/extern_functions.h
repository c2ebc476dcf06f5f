// SPDX-License-Identifier: Apache-2.0
// Functions of device libraries on the host, and the ways to libm.
#ifndef COMPILER_TARGETS_HOST_EXTERN_FUNCTIONS_H_
#define COMPILER_TARGETS_HOST_EXTERN_FUNCTIONS_H_

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace tritond::compiler::host {

// The intrinsic `name` ("llvm.exp") for the type of `args`, f32 or f64, which the result has too.
mlir::Value EmitFloatIntrinsic(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name, mlir::ValueRange args);

// libm's function on f32 or f64; `name` is that on f64. A null `result` is the type of the first argument. Null when
// the module has something else of that name.
mlir::Value EmitLibmCall(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name, mlir::ValueRange args,
                         mlir::Type result = {});

mlir::Value EmitReciprocalSqrt(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x);

// Whether `name` is a function of libm that the emitters above call.
bool IsLibmFunction(llvm::StringRef name);

}  // namespace tritond::compiler::host

#endif  // COMPILER_TARGETS_HOST_EXTERN_FUNCTIONS_H_
