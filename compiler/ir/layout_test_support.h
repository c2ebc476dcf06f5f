// SPDX-License-Identifier: Apache-2.0
// For tests of encodings: points of layouts, and random parameters.
#ifndef COMPILER_IR_LAYOUT_TEST_SUPPORT_H_
#define COMPILER_IR_LAYOUT_TEST_SUPPORT_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "compiler/ir/encodings.h"

namespace tritond::ttg {

using Coordinates = llvm::SmallVector<int64_t>;

// The element that register `reg` of a thread holds.
inline Coordinates At(const compiler::LinearLayout& layout, int reg, int lane, int warp, int block = 0) {
  auto point = layout.ApplyNamed({{"register", reg}, {"lane", lane}, {"warp", warp}, {"block", block}});
  return Coordinates(point.begin(), point.end());
}
// The element at `offset` of a buffer.
inline Coordinates AtOffset(const compiler::LinearLayout& layout, int offset) {
  auto point = layout.ApplyNamed({{"offset", offset}});
  return Coordinates(point.begin(), point.end());
}

// Reaches every element of `shape`.
inline void ExpectCovers(const compiler::LinearLayout& layout, llvm::ArrayRef<int64_t> shape) {
  EXPECT_TRUE(layout.IsSurjective()) << layout.ToString();
  ASSERT_EQ(layout.OutDims().size(), shape.size());
  for (auto [dim, size] : llvm::zip(layout.OutDims(), shape)) EXPECT_EQ(dim.size(), size) << layout.ToString();
}

// Powers of two, permutations, shapes.
class RandomParameters {
 public:
  unsigned Below(unsigned bound) { return std::uniform_int_distribution<unsigned>(0, bound - 1)(random_); }
  unsigned PowerBelow(unsigned logarithm) { return 1u << Below(logarithm); }
  // `total` split over `rank` factors.
  llvm::SmallVector<unsigned> Split(unsigned total, unsigned rank) {
    llvm::SmallVector<unsigned> parts(rank, 1);
    for (; total > 1; total /= 2) parts[Below(rank)] *= 2;
    return parts;
  }
  llvm::SmallVector<unsigned> Order(unsigned rank) {
    llvm::SmallVector<unsigned> order;
    for (unsigned dim = 0; dim < rank; ++dim) order.push_back(dim);
    std::shuffle(order.begin(), order.end(), random_);
    return order;
  }
  llvm::SmallVector<int64_t> Shape(unsigned rank) {
    llvm::SmallVector<int64_t> shape;
    for (unsigned dim = 0; dim < rank; ++dim) shape.push_back(int64_t{1} << Below(rank > 2 ? 5 : 8));
    return shape;
  }
  // One, two or four blocks along some dimensions, or copies.
  compiler::LinearLayout Cga(unsigned rank) {
    compiler::LinearLayout cga = SingleBlock(rank);
    auto dims = DimNames(rank);
    for (unsigned bits = Below(3); bits > 0; --bits) {
      const std::string& dim = dims[Below(rank)];
      cga *= Below(4) == 0 ? compiler::LinearLayout::Zeros1D(2, "block", dim)
                           : compiler::LinearLayout::Identity1D(2, "block", dim);
    }
    return cga;
  }

 private:
  std::mt19937 random_{7};
};

}  // namespace tritond::ttg

#endif  // COMPILER_IR_LAYOUT_TEST_SUPPORT_H_
