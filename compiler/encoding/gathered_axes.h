// SPDX-License-Identifier: Apache-2.0
// Along which dimensions a function gathers from its tensors.
#ifndef COMPILER_ENCODING_GATHERED_AXES_H_
#define COMPILER_ENCODING_GATHERED_AXES_H_

#include <map>
#include <optional>
#include <vector>

#include "compiler/ir/encodings.h"
#include "compiler/ir/tt_dialect.h"

namespace tritond::compiler {

// By shape, for all tensors of one are laid out alike. Shapes that are gathered, reduced or scanned along several
// dimensions count as none.
class GatheredAxes final {
 public:
  explicit GatheredAxes(tt::FuncOp func);

  // `encoding` with as many warps, such that none lacks a part of the gathered dimension. Warps have other rows then,
  // each as before. The same encoding where other dimensions are too small for that, or there is nothing to do.
  ttg::BlockedEncodingAttr Whole(ttg::BlockedEncodingAttr encoding, llvm::ArrayRef<int64_t> shape) const;

 private:
  using Shape = std::vector<int64_t>;

  void Add(mlir::Value tensor, unsigned axis);

  std::map<Shape, std::optional<unsigned>> gathered_;  // nullopt: along several
};

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_GATHERED_AXES_H_
