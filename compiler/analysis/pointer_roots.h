// SPDX-License-Identifier: Apache-2.0
// Which of a kernel's arguments an address comes from.
#ifndef COMPILER_ANALYSIS_POINTER_ROOTS_H_
#define COMPILER_ANALYSIS_POINTER_ROOTS_H_

#include <optional>

#include "compiler/ir/tt_dialect.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tritond::compiler {

// Pointers of a kernel's launch.
using PointerRoots = llvm::SmallPtrSet<mlir::Value, 2>;

// The arguments of the kernel that `pointer`, or an element of it, may be an offset from, through arithmetic, scf.for,
// scf.if and branches. Nullopt: also something else, or not known. Arguments of functions that are called are not
// known: two of them may be one pointer.
std::optional<PointerRoots> RootsOfPointer(mlir::Value pointer);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_POINTER_ROOTS_H_
