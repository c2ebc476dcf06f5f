// SPDX-License-Identifier: Apache-2.0
// mbarriers of the slots of a ring of buffers, and what loops compute to go around the ring.
#ifndef COMPILER_TARGETS_NVIDIA_SLOT_BARRIERS_H_
#define COMPILER_TARGETS_NVIDIA_SLOT_BARRIERS_H_

#include "compiler/targets/nvidia/ttng_dialect.h"
#include "mlir/IR/Builders.h"

namespace tritond::compiler {

// A row of mbarriers, one for each slot.
class SlotBarriers final {
 public:
  // Makes them, with phases of so many arrivals.
  SlotBarriers(mlir::OpBuilder& b, mlir::Location loc, int64_t slots, int count);
  mlir::Value At(mlir::OpBuilder& b, mlir::Location loc, mlir::Value slot) const;
  void End(mlir::OpBuilder& b, mlir::Location loc) const;

 private:
  mlir::Value row_;
  int64_t slots_;
};

// i1: an i32 is `constant`.
mlir::Value Equals(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, int64_t constant);
// `slot` and `ahead` more, in a ring of so many.
mlir::Value Advanced(mlir::OpBuilder& b, mlir::Location loc, mlir::Value slot, int64_t ahead, int64_t slots);
// `phase`, or the other one if it is true.
mlir::Value Toggled(mlir::OpBuilder& b, mlir::Location loc, mlir::Value phase, mlir::Value if_true);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_SLOT_BARRIERS_H_
