// SPDX-License-Identifier: Apache-2.0
// Gives every buffer, scratch area and called function's frame its place in shared memory.
//
//   %a = ttg.convert_layout %x : tensor<1024xf32, #blocked> -> tensor<1024xf32, #blocked1>
//   %b = ttg.convert_layout %a : tensor<1024xf32, #blocked1> -> tensor<1024xf32, #blocked2>
// becomes, in a module with ttg.shared = 4096, since the first conversion is over when the second begins,
//   %a = ttg.convert_layout %x {allocation.offset = 0 : i32} : …
//   %b = ttg.convert_layout %a {allocation.offset = 0 : i32} : …
//
// Runs after every pass that makes or removes operations with scratch. How places are chosen: analysis/allocation.cc.
#include "compiler/analysis/allocation.h"
#include "compiler/passes/passes.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_ALLOCATESHAREDMEMORYPASS
#include "compiler/passes/passes.h.inc"

namespace {

struct AllocateSharedMemoryPass : impl::AllocateSharedMemoryPassBase<AllocateSharedMemoryPass> {
  void runOnOperation() override {
    if (failed(AllocateSharedMemory(getOperation()))) signalPassFailure();
  }
};

}  // namespace
}  // namespace tritond::compiler
