// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/buffer_operand.h"

#include "compiler/layout/layout_algebra.h"
#include "compiler/lowering/shared_access.h"

namespace tritond::compiler::nvidia {
namespace {

using mlir::Value;

// What says how the matrix is swizzled, in its place.
uint64_t SwizzleBits(uint64_t width, DescriptorForm form) {
  const uint64_t number = width == 128 ? 1 : width == 64 ? 2 : 3;
  return form == DescriptorForm::kWgmma ? number << 62 : uint64_t{1} << 46 | number << 62;
}

}  // namespace

BufferOperand::BufferOperand(FunctionLowering& f, Value buffer, unsigned k)
    : type_(llvm::cast<ttg::MemDescType>(buffer.getType())),
      nvmma_(llvm::cast<ttg::NvmmaSharedEncodingAttr>(type_.getEncoding())),
      k_(k),
      to_offset_(*PseudoInvert(ttg::ToLinearLayout(type_))),
      base_(PlaceOf(f, buffer).base) {}

int64_t BufferOperand::OffsetOf(llvm::ArrayRef<int32_t> element) const {
  int64_t offset = 0;
  for (auto [dim, name] : llvm::enumerate(ttg::DimNames(2)))
    for (int bit = 0; bit < to_offset_.InBits(name); ++bit)
      if (element[dim] >> bit & 1) offset ^= to_offset_.Basis(name, bit, "offset");
  return offset * type_.getElementType().getIntOrFloatBitWidth() / 8;
}

Value BufferOperand::Descriptor(Emitter& e, Value bytes, DescriptorForm form) const {
  Value address = e.Add(mlir::LLVM::PtrToIntOp::create(e.b, e.loc, e.b.getI32Type(), base_), bytes);
  uint64_t width = nvmma_.getSwizzlingByteWidth(), rows = type_.getShape()[1 - Contiguous()];
  uint64_t column = rows * width, eight_rows = 8 * width;
  uint64_t rest = (column / 16 & 0x3fff) << 16 | (eight_rows / 16 & 0x3fff) << 32 | SwizzleBits(width, form);
  Value low = e.ZExt(e.And(e.LShr(address, 4), e.Int(0x3fff)), 64);
  return e.Or(low, e.Int(static_cast<int64_t>(rest), 64));
}

}  // namespace tritond::compiler::nvidia
