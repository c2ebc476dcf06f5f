// SPDX-License-Identifier: Apache-2.0
// Statements that one thread executes for all that run an operation.
#ifndef COMPILER_TARGETS_NVIDIA_FIRST_THREAD_H_
#define COMPILER_TARGETS_NVIDIA_FIRST_THREAD_H_

#include "compiler/lowering/function_lowering.h"
#include "compiler/targets/nvidia/ptx_builder.h"

namespace tritond::compiler::nvidia {

// i1: true in one thread of those that run this region, where `predicate` (null: always) holds.
mlir::Value IsFirstThread(FunctionLowering& f, mlir::Value predicate = {});

// "[$0]", the operand of an instruction: where a buffer in shared memory is, `bytes` (i32, null: none) on.
std::string AddSharedAddress(FunctionLowering& f, PtxBuilder& ptx, mlir::Value buffer, mlir::Value bytes = {});

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_FIRST_THREAD_H_
