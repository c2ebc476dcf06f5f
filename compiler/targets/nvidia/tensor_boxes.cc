// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/tensor_boxes.h"

#include "compiler/ir/collapsed_block.h"
#include "compiler/ir/encodings.h"
#include "compiler/layout/layout_algebra.h"

namespace tritond::ttng {
namespace {

using compiler::LinearLayout;

constexpr int64_t kMostOfBox = 256;

int64_t ElementBytes(ttg::MemDescType buffer) { return buffer.getElementType().getIntOrFloatBitWidth() / 8; }

// The same buffer, with 16 bytes of a row exchanged as bulk copies do it within `swizzle` bytes.
ttg::MemDescType WithSwizzle(ttg::MemDescType buffer, int64_t swizzle) {
  auto encoding = ttg::NvmmaSharedEncodingAttr::get(
      buffer.getContext(), static_cast<unsigned>(swizzle),
      /*transposed=*/false, static_cast<unsigned>(8 * ElementBytes(buffer)),
      /*fp4_padded=*/false, llvm::cast<ttg::SwizzledSharedEncodingAttr>(buffer.getEncoding()).getCga());
  return ttg::MemDescType::get(buffer.getContext(), buffer.getShape(), buffer.getElementType(), encoding,
                               buffer.getMemorySpace(), buffer.getMutableMemory(), buffer.getAllocShape());
}

// Within how many bytes bulk copies exchange parts of a row to fill the buffer; nothing: they do not fill it.
std::optional<int64_t> FindSwizzle(ttg::MemDescType buffer) {
  if (auto nvmma = llvm::dyn_cast<ttg::NvmmaSharedEncodingAttr>(buffer.getEncoding())) {
    if (nvmma.getTransposed() || nvmma.getFp4Padded()) return std::nullopt;
    return nvmma.getSwizzlingByteWidth();
  }
  auto swizzled = llvm::dyn_cast<ttg::SwizzledSharedEncodingAttr>(buffer.getEncoding());
  if (!swizzled || !llvm::is_sorted(swizzled.getOrder(), std::greater<>())) return std::nullopt;
  for (int64_t swizzle : {0, 32, 64, 128}) {
    // Slots begin where the pattern does.
    if (ttg::Product(buffer.getShape()) * ElementBytes(buffer) % BoxAlignment(swizzle) != 0) continue;
    const bool is_same = swizzle == 0
                             ? swizzled.getMaxPhase() == 1
                             : buffer.getShape().back() * ElementBytes(buffer) == swizzle &&
                                   ttg::ToLinearLayout(WithSwizzle(buffer, swizzle)) == ttg::ToLinearLayout(buffer);
    if (is_same) return swizzle;
  }
  return std::nullopt;
}

// For each dimension of the block, and each bit of an index along it, where in the buffer the element is, in elements.
// The place of any element is the exclusive or of those of its bits.
mlir::FailureOr<llvm::SmallVector<llvm::SmallVector<int64_t>>> OffsetsOf(llvm::ArrayRef<int64_t> block,
                                                                         ttg::MemDescType buffer) {
  auto offset_of = compiler::PseudoInvert(ttg::ToLinearLayout(buffer));
  if (!offset_of.ok()) return mlir::failure();
  const llvm::SmallVector<int> dims = *compiler::CollapsedDims(block, buffer.getShape());
  const auto names = ttg::DimNames(buffer.getShape().size());
  llvm::SmallVector<int> used(buffer.getShape().size(), 0);  // bits of the buffer's dimensions
  llvm::SmallVector<llvm::SmallVector<int64_t>> offsets(block.size());
  for (size_t dim = block.size(); dim-- > 0;)
    for (int64_t rest = block[dim]; rest > 1; rest /= 2)
      offsets[dim].push_back(offset_of->Basis(names[dims[dim]], used[dims[dim]]++, "offset"));
  return offsets;
}

// Whether the rows of a box follow each other in the buffer, as a copy writes them. Within a row, the swizzle is known
// to be right.
bool HaveBoxesTheirRows(llvm::ArrayRef<int64_t> block, ttg::MemDescType buffer) {
  auto offsets = OffsetsOf(block, buffer);
  if (failed(offsets)) return false;
  const llvm::SmallVector<int64_t> box = BoxOf(block, buffer);
  int64_t place = box.back();
  for (size_t dim = block.size() - 1; dim-- > 0;)
    for (size_t bit = 0; box[dim] >> bit > 1; ++bit, place *= 2)
      if ((*offsets)[dim][bit] / box.back() * box.back() != place) return false;
  return true;
}

}  // namespace

bool IsMadeOfBoxes(llvm::ArrayRef<int64_t> block, ttg::MemDescType buffer) {
  return ttg::HasAllocShape(buffer) && FindSwizzle(buffer) && compiler::CollapsedDims(block, buffer.getShape()) &&
         HaveBoxesTheirRows(block, buffer);
}

int64_t SwizzleBytesOf(ttg::MemDescType buffer) { return *FindSwizzle(buffer); }

llvm::SmallVector<int64_t> BoxOf(llvm::ArrayRef<int64_t> block, ttg::MemDescType buffer) {
  llvm::SmallVector<int64_t> box(block.size(), 1);
  box.back() = std::min(block.back(), kMostOfBox);
  if (int64_t row = SwizzleBytesOf(buffer) / ElementBytes(buffer); row > 0) box.back() = std::min(box.back(), row);
  for (size_t dim = block.size() - 1; dim-- > 0;) {
    box[dim] = std::min(block[dim], kMostOfBox);
    if (box[dim] < block[dim]) break;
  }
  return box;
}

mlir::FailureOr<llvm::SmallVector<BoxPlace>> BoxesOf(llvm::ArrayRef<int64_t> block, ttg::MemDescType buffer) {
  auto offsets = OffsetsOf(block, buffer);
  if (failed(offsets)) return mlir::failure();
  const llvm::SmallVector<int64_t> box = BoxOf(block, buffer);
  llvm::SmallVector<BoxPlace> places = {{llvm::SmallVector<int64_t>(block.size(), 0)}};
  for (size_t dim = 0; dim < block.size(); ++dim) {
    for (size_t i = 0, count = places.size(); i < count; ++i) {
      for (int64_t at = box[dim]; at < block[dim]; at += box[dim]) {
        BoxPlace place = places[i];
        place.origin[dim] = at;
        places.push_back(place);
      }
    }
  }
  for (BoxPlace& place : places) {
    int64_t offset = 0;
    for (size_t dim = 0; dim < block.size(); ++dim)
      for (auto [bit, of_bit] : llvm::enumerate((*offsets)[dim]))
        if (place.origin[dim] >> bit & 1) offset ^= of_bit;
    place.bytes = offset * ElementBytes(buffer);
  }
  return places;
}

}  // namespace tritond::ttng
