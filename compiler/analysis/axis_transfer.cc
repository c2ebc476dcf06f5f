// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/axis_transfer.h"

#include <algorithm>

#include "compiler/analysis/scratch.h"
#include "compiler/ir/tt_dialect.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::compiler::axis {

int64_t PowerOfTwoIn(int64_t value) { return value == 0 ? kUnbounded : std::min(kUnbounded, value & (0 - value)); }

int64_t Times(int64_t a, int64_t b) {
  unsigned log = llvm::Log2_64(a) + llvm::Log2_64(b);
  return log >= 62 ? kUnbounded : int64_t{1} << log;
}

llvm::SmallVector<int64_t, 2> ShapeOf(mlir::Type type) {
  if (auto ptr = llvm::dyn_cast<tt::PtrType>(type)) type = ptr.getPointeeType();
  if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type)) {
    return llvm::SmallVector<int64_t, 2>(tensor.getShape());
  }
  return {1};
}

int64_t StepOf(mlir::Type type) {
  auto ptr = llvm::dyn_cast<tt::PtrType>(tt::ElementOf(type));
  if (!ptr) return 1;
  return ElementBytes(tt::ElementOf(ptr.getPointeeType()));
}

AxisInfo Unknown(unsigned rank) {
  AxisInfo info;
  info.dims.resize(rank);
  return info;
}

AxisInfo Constant(llvm::ArrayRef<int64_t> shape, int64_t value) {
  AxisInfo info;
  for (int64_t size : shape) info.dims.push_back({1, PowerOfTwoIn(value), size});
  info.constant = value;
  info.non_negative = value >= 0;
  return info;
}

int64_t Normalised(int64_t value, unsigned width) {
  if (width == 1) return value & 1;
  return width >= 64 ? value : llvm::SignExtend64(static_cast<uint64_t>(value), width);
}

unsigned WidthOf(mlir::Type type) {
  type = tt::ElementOf(type);
  if (type.isIndex()) return 64;
  return type.isInteger() ? type.getIntOrFloatBitWidth() : 0;
}

int64_t StartDivisibility(const AxisDim& dim, int64_t group, int64_t step) {
  if (dim.contiguity == kUnbounded || group >= dim.contiguity) return dim.divisibility;
  return std::min(dim.divisibility, Times(group, step));
}

int64_t ValueDivisibility(const AxisInfo& info, int64_t step) {
  int64_t result = 1;
  for (const AxisDim& dim : info.dims) result = std::max(result, StartDivisibility(dim, 1, step));
  return result;
}

AxisInfo Join(const AxisInfo& a, const AxisInfo& b, int64_t step) {
  AxisInfo info;
  for (auto [x, y] : llvm::zip_equal(a.dims, b.dims)) {
    int64_t group = std::min(x.contiguity, y.contiguity);
    info.dims.push_back({group, std::min(StartDivisibility(x, group, step), StartDivisibility(y, group, step)),
                         std::min(x.constancy, y.constancy)});
  }
  if (a.constant == b.constant) info.constant = a.constant;
  info.non_negative = a.non_negative && b.non_negative;
  return info;
}

void Normalise(AxisInfo& info) {
  int64_t all = 1;
  for (const AxisDim& dim : info.dims) {
    if (dim.contiguity == 1) all = std::max(all, dim.divisibility);
  }
  for (AxisDim& dim : info.dims) dim.divisibility = std::max(dim.divisibility, all);
  info.non_negative |= info.constant.value_or(-1) >= 0;
}

}  // namespace tritond::compiler::axis
