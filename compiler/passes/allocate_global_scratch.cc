// SPDX-License-Identifier: Apache-2.0
// Gives every buffer of a program in global memory its place.
//
//   %a = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 96 : i32} : !tt.ptr<i8>
//   %b = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 64 : i32} : !tt.ptr<i8>
// becomes, in a module with ttg.global_scratch_memory_size = 256 and ttg.global_scratch_memory_alignment = 128,
//   %a = ttg.global_scratch_alloc {…, ttg.global_scratch_memory_offset = 0 : i32} : !tt.ptr<i8>
//   %b = ttg.global_scratch_alloc {…, ttg.global_scratch_memory_offset = 128 : i32} : !tt.ptr<i8>
//
// Who launches the kernel gives it so much memory for each program of the grid.
#include "compiler/analysis/global_scratch.h"
#include "compiler/passes/passes.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_ALLOCATEGLOBALSCRATCHPASS
#include "compiler/passes/passes.h.inc"

namespace {

struct AllocateGlobalScratchPass : impl::AllocateGlobalScratchPassBase<AllocateGlobalScratchPass> {
  void runOnOperation() override {
    if (failed(AllocateGlobalScratch(getOperation()))) signalPassFailure();
  }
};

}  // namespace
}  // namespace tritond::compiler
