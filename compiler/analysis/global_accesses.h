// SPDX-License-Identifier: Apache-2.0
// What the threads of a block do to each other's data in global memory.
#ifndef COMPILER_ANALYSIS_GLOBAL_ACCESSES_H_
#define COMPILER_ANALYSIS_GLOBAL_ACCESSES_H_

#include <optional>

#include "compiler/analysis/pointer_distance.h"
#include "compiler/analysis/pointer_roots.h"

namespace tritond::compiler {

// Attribute of a kernel whose warps end at the entry if their number has one of these bits (i32).
inline constexpr llvm::StringLiteral kEndedWarpsAttr = "ttg.ended_warps";

// An access through a pointer or a tensor of pointers.
struct GlobalAccess {
  mlir::Value pointer;
  std::optional<PointerRoots> roots;
  std::optional<PointerSum> sum;
  bool writes = false, is_atomic = false;
  bool is_gathered = false;           // what is written, by indices that each iteration of a loop loads
  bool is_shuffled = false;           // what is written, in an order that each iteration of a loop changes
  bool comes_back = false;            // the same, where it may be at an address that it had
  std::optional<tt::RmwOp> combines;  // an atomic operation that commutes with its like, and whose result is not used
  bool has_copies = false;            // an element belongs to several threads that do not end at the entry

  // Whether a thread may access here what another accesses by `other`, one of them writes, and the order is seen.
  // Pointers that come from different arguments of the kernel, or one from an argument and one from elsewhere, point to
  // different data. So do those whose sums are apart. One value for both is taken to give each thread its own elements,
  // also in later iterations of a loop, unless it has copies or meets itself there as constants tell. So it may where
  // each iteration loads its indices, but atomic operations have no order then. So it may where each iteration changes
  // the order of elements, but writes alone are then taken to meet nowhere. Copies are read by all threads that
  // hold them and written by the first of these.
  bool ConflictsWith(const GlobalAccess& other) const;
};

// Of loads, stores, atomic operations and asynchronous copies; nullopt for all other operations.
std::optional<GlobalAccess> GlobalAccessOf(mlir::Operation* op);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_GLOBAL_ACCESSES_H_
