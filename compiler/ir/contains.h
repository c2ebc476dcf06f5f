// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_IR_CONTAINS_H_
#define COMPILER_IR_CONTAINS_H_

#include "mlir/IR/Operation.h"

namespace tritond::compiler {

// Whether `root` is one of these operations, or one stands in its regions.
template <typename... Ops>
bool Contains(mlir::Operation* root) {
  auto result = root->walk([](mlir::Operation* op) {
    return llvm::isa<Ops...>(op) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return result.wasInterrupted();
}

}  // namespace tritond::compiler

#endif  // COMPILER_IR_CONTAINS_H_
