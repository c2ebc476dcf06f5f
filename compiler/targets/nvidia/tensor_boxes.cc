// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/tensor_boxes.h"

#include "compiler/ir/encodings.h"
#include "compiler/layout/layout_algebra.h"

namespace tritond::ttng {
namespace {

using compiler::LinearLayout;

constexpr int64_t kMostOfBox = 256;

// The dimensions of the block that the buffer has; nothing where it lacks others than those of one element.
std::optional<llvm::SmallVector<int>> DimsIn(llvm::ArrayRef<int64_t> block, llvm::ArrayRef<int64_t> buffer) {
  llvm::SmallVector<int> dims;
  for (int dim = static_cast<int>(block.size()) - 1, left = static_cast<int>(buffer.size()); dim >= 0; --dim) {
    const bool is_there = left > 0 && buffer[left - 1] == block[dim];
    if (!is_there && block[dim] != 1) return std::nullopt;
    if (!is_there) continue;
    --left;
    dims.insert(dims.begin(), dim);
  }
  if (dims.size() != buffer.size()) return std::nullopt;
  return dims;
}

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

}  // namespace

bool IsMadeOfBoxes(llvm::ArrayRef<int64_t> block, ttg::MemDescType buffer) {
  return ttg::HasAllocShape(buffer) && FindSwizzle(buffer) && DimsIn(block, buffer.getShape());
}

int64_t SwizzleBytesOf(ttg::MemDescType buffer) { return *FindSwizzle(buffer); }

llvm::SmallVector<int64_t> BoxOf(llvm::ArrayRef<int64_t> block, ttg::MemDescType buffer) {
  llvm::SmallVector<int64_t> box;
  for (int64_t size : block) box.push_back(std::min(size, kMostOfBox));
  if (int64_t row = SwizzleBytesOf(buffer) / ElementBytes(buffer); row > 0) box.back() = std::min(box.back(), row);
  return box;
}

mlir::FailureOr<llvm::SmallVector<BoxPlace>> BoxesOf(llvm::ArrayRef<int64_t> block, ttg::MemDescType buffer) {
  auto offset_of = compiler::PseudoInvert(ttg::ToLinearLayout(buffer));
  if (!offset_of.ok()) return mlir::failure();
  const llvm::SmallVector<int> dims = *DimsIn(block, buffer.getShape());
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
    for (auto [dim, name] : llvm::zip(dims, ttg::DimNames(dims.size())))
      for (int bit = 0; bit < offset_of->InBits(name); ++bit)
        if (place.origin[dim] >> bit & 1) offset ^= offset_of->Basis(name, bit, "offset");
    place.bytes = offset * ElementBytes(buffer);
  }
  return places;
}

}  // namespace tritond::ttng
