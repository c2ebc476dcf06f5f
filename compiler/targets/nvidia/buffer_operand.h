// SPDX-License-Identifier: Apache-2.0
// Operands of wgmma and tcgen05.mma in shared memory, and the descriptors by which these find them. The PTX ISA has
// them under "Matrix descriptor format" and "Shared memory descriptor":
//
//   bits 0-13   address / 16
//   bits 16-29  bytes / 16 from one column of the swizzle's width to the next; where K is contiguous it is not used
//   bits 32-45  bytes / 16 from eight rows to the next eight
//   wgmma       bits 62-63, swizzle: 1 for 128 bytes, 2 for 64, 3 for 32
//   tcgen05     bits 46-48, 1; bits 61-63, swizzle: 2 for 128 bytes, 4 for 64, 6 for 32: the same bits
//
// A column is as nvmma_shared has it. A part of an operand that begins at a multiple of eight rows has the offset of
// its first element there. No swizzle moves the group of 16 bytes of that element.
#ifndef COMPILER_TARGETS_NVIDIA_BUFFER_OPERAND_H_
#define COMPILER_TARGETS_NVIDIA_BUFFER_OPERAND_H_

#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler::nvidia {

enum class DescriptorForm { kWgmma, kTcgen05 };

// Lives while one operation is lowered.
class BufferOperand final {
 public:
  // `k`: the dimension of `buffer`, a matrix of encoding nvmma_shared, that is K.
  BufferOperand(FunctionLowering& f, mlir::Value buffer, unsigned k);

  // Whether K is not the contiguous dimension.
  bool IsTransposed() const { return Contiguous() != k_; }
  // Of the element (row, column), in bytes.
  int64_t OffsetOf(llvm::ArrayRef<int32_t> element) const;
  // The descriptor (i64) of what begins `bytes` (i32, a multiple of 16) after the buffer's first element.
  mlir::Value Descriptor(Emitter& e, mlir::Value bytes, DescriptorForm form) const;

 private:
  unsigned Contiguous() const { return nvmma_.getTransposed() ? 0 : 1; }

  ttg::MemDescType type_;
  ttg::NvmmaSharedEncodingAttr nvmma_;
  unsigned k_;
  LinearLayout to_offset_;
  mlir::Value base_;
};

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_BUFFER_OPERAND_H_
