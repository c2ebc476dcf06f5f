// SPDX-License-Identifier: Apache-2.0
// Along which dimensions a function scans and reduces its tensors.
#ifndef COMPILER_ENCODING_REDUCED_AXES_H_
#define COMPILER_ENCODING_REDUCED_AXES_H_

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/ir/tt_dialect.h"
#include "llvm/ADT/SmallVector.h"

namespace tritond::compiler {

// By shape, for all tensors of one are laid out alike.
class ReducedAxes final {
 public:
  using Shape = std::vector<int64_t>;

  explicit ReducedAxes(tt::FuncOp func);

  // The first dimension but `fast` along which there are scans.
  std::optional<unsigned> ScannedAcross(const Shape& shape, unsigned fast) const;

  // Those along `axis`.
  llvm::SmallVector<tt::ScanOp> ScansAlong(const Shape& shape, unsigned axis) const;

  // `order`, from its dimension number `from` on with the reduced ones last. So they are where they are reduced once
  // they are reshaped: 8 of a tensor of 256x8 that becomes one of 32x64.
  void PutReducedLast(const Shape& shape, llvm::SmallVectorImpl<unsigned>& order, int from) const;

  // Neighbours along the last dimension that a thread should have of those that are reduced to one number, `most` at
  // most. Where a warp of `lanes` has several such groups, all lanes of a group hold what is computed of its result. 1
  // where there are no groups, or larger ones.
  int64_t NeighboursOfGroup(const Shape& shape, int64_t most, int lanes) const;

  // By i: how often pairs of elements 2^i apart along the last dimension are reduced to one number, as in a sort. Empty
  // where none are.
  llvm::ArrayRef<int64_t> ExchangesOf(const Shape& shape) const;

 private:
  void AddReduced(const Shape& shape, unsigned axis);
  void AddGroup(const Shape& shape, int64_t group);
  void AddExchanges(const Shape& from, const Shape& to);
  void AddReshaped(const Shape& from, const Shape& to, unsigned axis);

  std::map<Shape, llvm::SmallVector<tt::ScanOp>> scans_;
  std::map<Shape, std::set<unsigned>> reduced_;
  std::map<std::pair<Shape, unsigned>, int64_t> reductions_;  // how many there are of each
  std::map<Shape, std::vector<int64_t>> exchanges_;
  std::map<Shape, int64_t> groups_;  // the smallest ones along the last dimension
};

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_REDUCED_AXES_H_
