// SPDX-License-Identifier: Apache-2.0
// Where the threads of a block have to wait for each other's accesses to shared memory.
#ifndef COMPILER_ANALYSIS_BARRIERS_H_
#define COMPILER_ANALYSIS_BARRIERS_H_

#include "compiler/ir/tt_dialect.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

// The resource of a declared read of a buffer that earlier operations began (ttg::OngoingReads) and that is over with
// this one. Nothing is read anew, so earlier writes do not matter; later ones need a barrier.
struct EndedReads final : public mlir::SideEffects::Resource::Base<EndedReads> {
  llvm::StringRef getName() final { return "EndedReads"; }
};

// The operations of `function` that need a barrier right before them, in its order. Expects what AllocateSharedMemory
// has placed, and cf control flow: scf operations that hold accesses fail, with a diagnostic.
//
// Two accesses to overlapping bytes conflict unless both read. On every path from one to a conflicting other lies a
// barrier: one of the result, one in the function already, or the one that operations with scratch hold (see
// ScratchOf: they write their area, wait, and read it). A call counts as an access to the whole frame of its callee.
// What an asynchronous copy writes counts as written by the wait for it: until then no barrier would help, and reading
// it is the program's mistake. Device functions that may return before their copies have ended fail, with a diagnostic.
mlir::FailureOr<llvm::SmallVector<mlir::Operation*>> FindMissingBarriers(tt::FuncOp function);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_BARRIERS_H_
