// SPDX-License-Identifier: Apache-2.0
// Where the threads of a block have to wait for each other's accesses to memory.
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

// Operations with this unit attribute access buffers in an order, among themselves, that something other than barriers
// of the block keeps. Whoever sets it has proved that.
inline constexpr llvm::StringLiteral kOrderedAttr = "ttg.ordered";

// The resource of a declared write by an operation that ends such an order: accesses before it are like others'.
struct OrderedAccesses final : public mlir::SideEffects::Resource::Base<OrderedAccesses> {
  llvm::StringRef getName() final { return "OrderedAccesses"; }
};

// The resource of a declared access to a buffer that is a signal between threads. Of its own accord it orders them, so
// it only has to come after the signal was made, and before its memory is used otherwise.
struct Signals final : public mlir::SideEffects::Resource::Base<Signals> {
  llvm::StringRef getName() final { return "Signals"; }
};

// The resource of a declared write by which one thread tells others that all threads have done what they do before. The
// others wait for it elsewhere. So the threads first wait for accesses to memory that others may still make.
struct Arrivals final : public mlir::SideEffects::Resource::Base<Arrivals> {
  llvm::StringRef getName() final { return "Arrivals"; }
};

// The resource of a declared read of a buffer by a copy that one thread has started for all. The copy goes on until an
// operation that reads the resource alone. From then on other threads need a barrier before they write the buffer.
struct SentReads final : public mlir::SideEffects::Resource::Base<SentReads> {
  llvm::StringRef getName() final { return "SentReads"; }
};

// The resource of a declared write of a buffer by none of the threads. Who reads it waits for a signal, so no barrier
// is needed after it; but all threads have done with the buffer before.
struct Deliveries final : public mlir::SideEffects::Resource::Base<Deliveries> {
  llvm::StringRef getName() final { return "Deliveries"; }
};

struct MissingBarrier {
  mlir::Operation* before;
  bool orders_global = false;  // memory, too
};

// Where `function` needs barriers, in its order. Expects what AllocateSharedMemory
// has placed, and cf control flow: scf operations that hold accesses fail, with a diagnostic.
//
// Two accesses to overlapping bytes conflict unless both read. On every path from one to a conflicting other lies a
// barrier. It is one of the result, one in the function already, or the one that operations with scratch hold. Such
// operations write their area, wait, and read it (see ScratchOf). A call counts as an access to the whole frame of its
// callee. What an asynchronous copy writes counts as written by the wait for it. Until then no barrier would help, and
// reading it is the program's mistake. Device functions that may return before their copies have ended fail, with a
// diagnostic.
//
// Accesses to global memory by different threads are in the program's order, too, where GlobalAccess::ConflictsWith.
// After a write that takes a barrier that orders global memory; after a read any barrier does. Accesses in regions and
// in device functions are not looked at.
//
// A kernel that one thread runs needs none (kOneThreadAttr).
//
// A barrier is one of the threads that run the operation after it. Partitions of a warp-specialised kernel have theirs,
// which come after the function's in the result. What threads of several partitions do is the program's to order.
mlir::FailureOr<llvm::SmallVector<MissingBarrier>> FindMissingBarriers(tt::FuncOp function);

// Whether lowering `op` begins with a barrier of all threads and all memory. A scalar atomic that publishes is ordered
// after what every thread of the program wrote, and so is polling.
bool BeginsWithBarrier(mlir::Operation* op);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_BARRIERS_H_
