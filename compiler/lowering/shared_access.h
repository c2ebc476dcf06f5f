// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_LOWERING_SHARED_ACCESS_H_
#define COMPILER_LOWERING_SHARED_ACCESS_H_

#include "compiler/layout/bank_spread.h"
#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler {

// A buffer in shared memory, or a part of one. A buffer's value is lowered to `base`, followed by `offset` where its
// type is a part (ttg::HasAllocShape).
struct SharedPlace {
  SharedPlace(mlir::Value base) : base(base) {}  // all of it, without gaps

  mlir::Value base;    // !llvm.ptr<3>: element 0 of the whole buffer
  mlir::Value offset;  // i32 that is XORed to the offset of an element; null: none
  llvm::ArrayRef<ttg::Padding> padding;
  bool is_operand = false;  // of a dot, which takes words of neighbouring registers
  // Aligned runs of so many elements stay runs, whatever `offset` and `padding` do.
  int run = 1 << 16;

  // The address of the element of `type` at offset `constant` XOR `thread`, which is the thread's part of `to_offset`.
  mlir::Value Address(FunctionLowering& f, const LinearLayout& to_offset, mlir::Value thread, int constant,
                      mlir::Type type) const;
};
SharedPlace PlaceOf(FunctionLowering& f, mlir::Value buffer);

// (register, lane, warp, block) -> offset in a buffer; failure, with a diagnostic at `op`, when the shapes do not fit.
mlir::FailureOr<LinearLayout> OffsetsIn(FunctionLowering& f, mlir::Operation* op, mlir::RankedTensorType tensor,
                                        ttg::MemDescType buffer);
// The element offset of register r of thread 0.
int OffsetOf(const LinearLayout& to_offset, int r);

// Writes the registers `values` to shared memory. Register r of a thread goes to the element offset to_offset(r, lane,
// warp). Accesses have `vec` elements (at most LargestAccess and the place's run). i1 takes a byte, pointers eight.
void StoreShared(FunctionLowering& f, const LinearLayout& to_offset, const SharedPlace& place, int vec,
                 ValueList values);
// Reads them back: one value of LLVM type `type` a register.
Values LoadShared(FunctionLowering& f, const LinearLayout& to_offset, const SharedPlace& place, int vec,
                  mlir::Type type);

// `count` neighbouring values at `ptr` (shared memory), in one access. `type` as it lies in memory.
void StoreVector(Emitter& e, mlir::Value ptr, ValueList values);
Values LoadVector(Emitter& e, mlir::Value ptr, mlir::Type type, int count);

// Where `spread` places what is at `offset` (i32).
mlir::Value SpreadOf(Emitter& e, const BankSpread& spread, mlir::Value offset);

// The LLVM type under which `type` lies in shared memory: i8 for i1, i64 for pointers.
mlir::Type SharedType(Emitter& e, mlir::Type type);
mlir::Value ToShared(Emitter& e, mlir::Value x);
mlir::Value FromShared(Emitter& e, mlir::Value x, mlir::Type type);

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_SHARED_ACCESS_H_
