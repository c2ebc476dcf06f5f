// SPDX-License-Identifier: Apache-2.0
// Where the accumulators of a dot are in the next iteration of its loop.
#ifndef COMPILER_TARGETS_NVIDIA_CARRIED_ACCUMULATORS_H_
#define COMPILER_TARGETS_NVIDIA_CARRIED_ACCUMULATORS_H_

#include <optional>

#include "compiler/targets/nvidia/ttng_dialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// What a loop carries. Nothing uses it in the iteration that makes it, or only a branch does, as that which stores the
// tile of a flattened loop:
//
//   %d = ttng.warp_group_dot %a, %b, %sum
//   %e = scf.if %is_last {              // `reader`
//     … %d …
//     scf.yield %d
//   } else {
//     scf.yield %d
//   }
//   scf.yield %e
struct CarriedAccumulators {
  mlir::BlockArgument next;  // in the next iteration
  mlir::scf::IfOp reader;    // null: no branch uses them
};

// The branch in the block of `sum` that all uses of it are in; null where there is none.
mlir::scf::IfOp BranchOfUses(mlir::Value sum);

// Nullopt where `dot` is in no loop's body, where its loop carries its accumulators in another way, and where they
// share the registers of wgmma with others.
std::optional<CarriedAccumulators> CarriedAccumulatorsOf(ttng::WarpGroupDotOp dot);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_CARRIED_ACCUMULATORS_H_
