// SPDX-License-Identifier: Apache-2.0
// Steps that the emulation of every vendor's devices has.
#ifndef COMPILER_TARGETS_EMULATED_ANY_DEVICE_H_
#define COMPILER_TARGETS_EMULATED_ANY_DEVICE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace tritond::compiler::emulated {

// InvalidArgument: module assembly, or a variable in shared memory other than the one that lowering declares.
absl::Status CheckGlobals(llvm::Module& module);

// A call of llvm.trap ends the launch.
void ReplaceTrap(llvm::CallInst& call);

// Floats become integers as on devices, which clamp to the integer's range and give 0 for NaN, where LLVM leaves the
// result open. Integers of fewer than `least_bits` go by those.
void ClampConversions(llvm::Module& module, unsigned least_bits);

// masked_accesses.cc. LLVM's masked loads and stores, whose mask is one condition, become checked accesses in a branch.
// InvalidArgument: a mask of several conditions.
absl::Status ExpandMaskedAccesses(llvm::Module& module);

// tritond.execute of `name` with the values, i64 each; one result for each slot, i64. Stack slots go to the function's
// entry block.
std::vector<llvm::Value*> EmitExecute(llvm::IRBuilder<>& b, llvm::Value* site, const std::string& name,
                                      llvm::ArrayRef<llvm::Value*> in, size_t results);

}  // namespace tritond::compiler::emulated

#endif  // COMPILER_TARGETS_EMULATED_ANY_DEVICE_H_
