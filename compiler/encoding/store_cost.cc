// SPDX-License-Identifier: Apache-2.0
#include "compiler/encoding/store_cost.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/encodings.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::compiler {
namespace {

constexpr double kStore = 8;   // with its address and its predicate
constexpr double kSector = 6;  // issue slots of a multiprocessor while the memory takes one of its sectors
constexpr int kSectorBytes = 32, kMostStoreBytes = 16;

// Whether a bit of `in` stands for a step of `step` along `dim` and nothing else.
bool HasStep(const LinearLayout& layout, absl::string_view in, const LayoutDim& dim, int step) {
  const uint64_t image = uint64_t{1} << (dim.shift + step);
  for (int bit = 0; bit < layout.InBits(in); ++bit)
    if (layout.columns()[layout.In(in).shift + bit] == image) return true;
  return false;
}

// Bits of `in` that are no copies of elements.
int OwnBits(const LinearLayout& layout, absl::string_view in) {
  int bits = 0;
  for (int bit = 0; bit < layout.InBits(in); ++bit) bits += layout.columns()[layout.In(in).shift + bit] != 0;
  return bits;
}

}  // namespace

double StoreCost(tt::StoreOp store, mlir::Attribute encoding, const AxisInfoAnalysis& axes) {
  auto type = llvm::cast<mlir::RankedTensorType>(store.getPtr().getType());
  const LinearLayout layout = llvm::cast<ttg::DistributedEncoding>(encoding).ToLinearLayout(type.getShape());
  mlir::Type element = tt::ElementOf(store.getValue().getType());
  const int bytes = element.isIntOrFloat() ? std::max(1u, element.getIntOrFloatBitWidth() / 8) : 8;
  unsigned fast = 0;
  for (unsigned dim = 1; dim < type.getRank(); ++dim)
    if (axes.PointerContiguity(store.getPtr(), dim) > axes.PointerContiguity(store.getPtr(), fast)) fast = dim;
  const int run = llvm::Log2_32(axes.PointerContiguity(store.getPtr(), fast));
  const LayoutDim& dim = layout.OutDims()[fast];
  int vector = 0;
  while (vector < run && (bytes << vector) < kMostStoreBytes && HasStep(layout, "register", dim, vector)) ++vector;
  int shared = vector;  // the logarithm of the elements in a sector
  for (int step = vector; step < run && (bytes << step) < kSectorBytes; ++step)
    shared += HasStep(layout, "lane", dim, step);
  const double instructions = std::exp2(OwnBits(layout, "register") - vector);
  const double sectors = static_cast<double>(type.getNumElements()) / std::exp2(shared);
  return kStore * instructions + kSector * sectors / ttg::NumWarps(store);
}

}  // namespace tritond::compiler
