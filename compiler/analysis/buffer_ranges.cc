// SPDX-License-Identifier: Apache-2.0
// Views are followed up to their allocation. A constant index into a row of buffers picks one. A part of a buffer
// covers the run of offsets that its elements' offsets differ in. Transposed and reshaped views cover what their source
// does.
#include "compiler/analysis/buffer_ranges.h"

#include <limits>

#include "compiler/analysis/scratch.h"
#include "compiler/ir/encodings.h"
#include "compiler/layout/layout_algebra.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {
namespace {

using mlir::Value;

// Elements [begin, end) of a buffer of `type`, whose first byte is at `base`.
MemoryRange BytesOf(ttg::MemDescType type, int64_t base, int64_t begin, int64_t end) {
  auto padding = ttg::PaddingOf(type);
  int64_t bytes = ElementBytes(type.getElementType());
  return {base + ttg::PaddedOffset(begin, padding) * bytes, base + (ttg::PaddedOffset(end - 1, padding) + 1) * bytes};
}

// The part of `range` at `index`; `range` itself unless it is the whole of the row of buffers.
MemoryRange Indexed(ttg::MemDescIndexOp op, const MemoryRange& range) {
  ttg::MemDescType row = op.getSrc().getType(), one = op.getType();
  llvm::APInt index;
  if (!mlir::matchPattern(op.getIndex(), mlir::m_ConstantInt(&index)) || !ttg::HasAllocShape(row) ||
      range.end - range.begin != BufferBytes(row))
    return range;
  int64_t i = index.getSExtValue(), elements = ttg::BufferElements(one);
  if (i < 0 || i >= row.getShape()[0]) return range;
  return BytesOf(row, range.begin, i * elements, (i + 1) * elements);
}

MemoryRange Sliced(ttg::MemDescSubsliceOp op, const MemoryRange& range) {
  ttg::MemDescType whole = op.getSrc().getType(), part = op.getType();
  if (!ttg::HasAllocShape(whole) || range.end - range.begin != BufferBytes(whole)) return range;
  auto inverse = PseudoInvert(ttg::ToLinearLayout(whole));
  if (!inverse.ok()) return range;
  // The offset of the part's first element, and the bits by which those of the others differ from it.
  uint64_t first = 0, differing = 0;
  for (auto [dim, name] : llvm::enumerate(ttg::DimNames(part.getShape().size()))) {
    for (int bit = 0; bit < inverse->InBits(name); ++bit) {
      uint64_t basis = inverse->Basis(name, bit, "offset");
      if ((int64_t{1} << bit) < part.getShape()[dim]) {
        differing |= basis;
      } else if ((op.getOffsets()[dim] >> bit) & 1) {
        first ^= basis;
      }
    }
  }
  int64_t run = int64_t{1} << (differing == 0 ? 0 : llvm::Log2_64(differing) + 1);
  int64_t begin = first & -run;
  return BytesOf(whole, range.begin, begin, std::min(begin + run, ttg::BufferElements(whole)));
}

}  // namespace

MemoryRanges RangesOf(Value buffer, const BufferAliases& aliases) {
  MemoryRanges ranges;
  auto from = [&](Value source, auto narrow) {
    for (const MemoryRange& range : RangesOf(source, aliases)) ranges.push_back(narrow(range));
    return ranges;
  };
  auto same = [](const MemoryRange& range) { return range; };
  mlir::Operation* op = buffer.getDefiningOp();
  if (auto index = llvm::dyn_cast_if_present<ttg::MemDescIndexOp>(op))
    return from(index.getSrc(), [&](const MemoryRange& range) { return Indexed(index, range); });
  if (auto slice = llvm::dyn_cast_if_present<ttg::MemDescSubsliceOp>(op))
    return from(slice.getSrc(), [&](const MemoryRange& range) { return Sliced(slice, range); });
  if (llvm::isa_and_present<ttg::MemDescTransOp, ttg::MemDescReshapeOp, ttg::MemDescReinterpretOp>(op))
    return from(op->getOperand(0), same);
  llvm::ArrayRef<mlir::Operation*> owners = aliases.Of(buffer);
  for (mlir::Operation* allocation : owners)
    if (auto range = AllocatedRange(allocation)) ranges.push_back(*range);
  if (owners.empty()) ranges.push_back({0, std::numeric_limits<int64_t>::max()});
  return ranges;
}

}  // namespace tritond::compiler
