// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/slot_barriers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritond::compiler {

namespace arith = mlir::arith;
using mlir::Value;

SlotBarriers::SlotBarriers(mlir::OpBuilder& b, mlir::Location loc, int64_t slots, int count) : slots_(slots) {
  row_ = ttg::LocalAllocOp::create(b, loc, ttng::PlainBufferType({slots, 1}, b.getI64Type()), Value());
  for (int64_t slot = 0; slot < slots; ++slot)
    ttng::InitBarrierOp::create(b, loc, At(b, loc, arith::ConstantIntOp::create(b, loc, slot, 32)), count);
}

Value SlotBarriers::At(mlir::OpBuilder& b, mlir::Location loc, Value slot) const {
  return ttg::MemDescIndexOp::create(b, loc, ttng::PlainBufferType({1}, b.getI64Type()), row_, slot);
}

void SlotBarriers::End(mlir::OpBuilder& b, mlir::Location loc) const {
  for (int64_t slot = 0; slot < slots_; ++slot)
    ttng::InvalBarrierOp::create(b, loc, At(b, loc, arith::ConstantIntOp::create(b, loc, slot, 32)));
}

Value Equals(mlir::OpBuilder& b, mlir::Location loc, Value value, int64_t constant) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value,
                               arith::ConstantIntOp::create(b, loc, constant, 32));
}

Value Advanced(mlir::OpBuilder& b, mlir::Location loc, Value slot, int64_t ahead, int64_t slots) {
  if (ahead % slots == 0) return slot;
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, loc, value, 32); };
  Value sum = arith::AddIOp::create(b, loc, slot, constant(ahead % slots));
  Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, sum, constant(slots));
  return arith::SelectOp::create(b, loc, wraps, arith::SubIOp::create(b, loc, sum, constant(slots)), sum);
}

Value Toggled(mlir::OpBuilder& b, mlir::Location loc, Value phase, Value if_true) {
  Value bit = arith::ExtUIOp::create(b, loc, b.getI32Type(), if_true);
  return arith::XOrIOp::create(b, loc, phase, bit);
}

}  // namespace tritond::compiler
