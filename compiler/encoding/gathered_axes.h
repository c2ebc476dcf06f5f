// SPDX-License-Identifier: Apache-2.0
// Along which dimensions a function gathers from its tensors.
#ifndef COMPILER_ENCODING_GATHERED_AXES_H_
#define COMPILER_ENCODING_GATHERED_AXES_H_

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/encoding/access_width.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/tt_dialect.h"

namespace tritond::compiler {

// By shape, for all tensors of one are laid out alike. Shapes that are gathered, reduced or scanned along several
// dimensions count as none.
class GatheredAxes final {
 public:
  explicit GatheredAxes(tt::FuncOp func);

  // The encoding of accesses to tensors of `type`, in which a thread has `size_per_thread` elements. Where the tensors
  // are gathered:
  //
  // - Each warp has the whole gathered dimension, if the others are large enough. Warps have other rows then, each as
  //   before.
  // - A thread may have more neighbours. Known indices take a shuffle for each group of neighbours, so larger groups
  //   take fewer. Accesses become worse, however; without `accesses` it has no more.
  // - Or fewer. Neighbours of a thread make lanes meet in banks, unless each offset is spread over these. Scans and
  // sorts
  //   have more exchanges then, so with these there are none fewer.
  ttg::BlockedEncodingAttr EncodingFor(mlir::RankedTensorType type, llvm::ArrayRef<unsigned> size_per_thread,
                                       llvm::ArrayRef<unsigned> order, llvm::ArrayRef<WideAccess> accesses);

 private:
  using Shape = std::vector<int64_t>;

  void Add(mlir::Value tensor, unsigned axis);

  ttg::BlockedEncodingAttr Whole(ttg::BlockedEncodingAttr encoding, llvm::ArrayRef<int64_t> shape) const;
  double SlotsOf(const Shape& shape, ttg::BlockedEncodingAttr encoding);
  bool MayHaveFewer(mlir::RankedTensorType type, ttg::BlockedEncodingAttr encoding) const;

  const int warps_, lanes_;
  std::map<Shape, std::optional<unsigned>> gathered_;  // nullopt: along several
  std::map<Shape, llvm::SmallVector<tt::GatherOp>> gathers_;
  std::set<int64_t> exchanged_;  // sizes of tensors that are scanned, or sorted in another shape
  std::map<Shape, llvm::DenseMap<mlir::Attribute, double>> slots_;
};

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_GATHERED_AXES_H_
