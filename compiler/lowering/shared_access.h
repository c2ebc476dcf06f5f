// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LOWERING_SHARED_ACCESS_H_
#define COMPILER_LOWERING_SHARED_ACCESS_H_

#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler {

// Writes the registers `values` to shared memory at `base`: register r of a thread goes to the element offset
// to_offset(r, lane, warp), in accesses of `vec` elements (at most LargestAccess). i1 takes a byte, pointers eight.
void StoreShared(FunctionLowering& f, const LinearLayout& to_offset, mlir::Value base, int vec, ValueList values);
// Reads them back: one value of LLVM type `type` a register.
Values LoadShared(FunctionLowering& f, const LinearLayout& to_offset, mlir::Value base, int vec, mlir::Type type);

// `count` neighbouring values at `ptr` (shared memory), in one access. `type` as it lies in memory.
void StoreVector(Emitter& e, mlir::Value ptr, ValueList values);
Values LoadVector(Emitter& e, mlir::Value ptr, mlir::Type type, int count);

// The LLVM type under which `type` lies in shared memory: i8 for i1, i64 for pointers.
mlir::Type SharedType(Emitter& e, mlir::Type type);
mlir::Value ToShared(Emitter& e, mlir::Value x);
mlir::Value FromShared(Emitter& e, mlir::Value x, mlir::Type type);

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_SHARED_ACCESS_H_
