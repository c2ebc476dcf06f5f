// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_IR_LAYOUT_MEMORY_H_
#define COMPILER_IR_LAYOUT_MEMORY_H_

#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "compiler/layout/linear_layout.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/DialectInterface.h"

namespace tritond::ttg {

// The linear layouts of encodings on shapes, as far as passes have asked for them. They ask for the same few layouts at
// every operation, and each takes a dozen products of matrices. Belongs to the dialect ttg, and so to one context,
// whose attributes live as long as it does. Thread-safe.
class LayoutMemory final : public mlir::DialectInterface::Base<LayoutMemory> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LayoutMemory)
  explicit LayoutMemory(mlir::Dialect* dialect) : Base(dialect) {}

  // The layout of `encoding` on `shape`, which `make` makes at the first time.
  static compiler::LinearLayout Recall(mlir::Attribute encoding, llvm::ArrayRef<int64_t> shape,
                                       llvm::function_ref<compiler::LinearLayout()> make);

  // How many it holds. For tests.
  size_t size() const;

 private:
  using Key = std::pair<const void*, std::vector<int64_t>>;

  mutable absl::Mutex mu_;
  absl::flat_hash_map<Key, compiler::LinearLayout> layouts_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::ttg

#endif  // COMPILER_IR_LAYOUT_MEMORY_H_
