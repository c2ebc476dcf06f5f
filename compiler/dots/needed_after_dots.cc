// SPDX-License-Identifier: Apache-2.0
#include "compiler/dots/needed_after_dots.h"

#include "compiler/ir/dot_interface.h"

namespace tritond::compiler {
namespace {

using Operations = llvm::DenseSet<mlir::Operation*>;

// Whether `op`, or what is inside of it, has an operand that one of `producers` makes.
bool Uses(mlir::Operation& op, const Operations& producers) {
  return op
      .walk([&](mlir::Operation* inner) {
        auto is_one = [&](mlir::Value operand) { return producers.contains(operand.getDefiningOp()); };
        return llvm::any_of(inner->getOperands(), is_one) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

}  // namespace

bool IsNeededAfterDots(tt::LoadOp load, mlir::scf::ForOp loop) {
  if (llvm::isa<mlir::RankedTensorType>(load.getType())) return false;
  Operations made, reached{load};
  bool meets_made = false;
  for (mlir::Operation& op : loop.getBody()->without_terminator()) {
    const bool is_dot = llvm::isa<tt::DotOpInterface>(op), is_made = Uses(op, made);
    if (Uses(op, reached)) {
      if (is_dot && !is_made) return false;
      if (is_made) {
        meets_made = true;
      } else {
        reached.insert(&op);
      }
    }
    if (is_dot || is_made) made.insert(&op);
  }
  return meets_made;
}

}  // namespace tritond::compiler
