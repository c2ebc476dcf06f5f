// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/layout_memory.h"

#include "mlir/IR/Dialect.h"

namespace tritond::ttg {
namespace {

// A kernel has some dozens. A worker compiles kernels for days in one context.
constexpr size_t kMostLayouts = 4096;

}  // namespace

compiler::LinearLayout LayoutMemory::Recall(mlir::Attribute encoding, llvm::ArrayRef<int64_t> shape,
                                            llvm::function_ref<compiler::LinearLayout()> make) {
  auto* memory = encoding.getDialect().getRegisteredInterface<LayoutMemory>();
  Key key(encoding.getAsOpaquePointer(), shape.vec());
  {
    absl::MutexLock lock(&memory->mu_);
    if (auto found = memory->layouts_.find(key); found != memory->layouts_.end()) return found->second;
  }
  // Without the lock: the layout of an encoding may be made of another one's.
  compiler::LinearLayout layout = make();
  absl::MutexLock lock(&memory->mu_);
  if (memory->layouts_.size() >= kMostLayouts) memory->layouts_.clear();
  memory->layouts_.try_emplace(std::move(key), layout);
  return layout;
}

size_t LayoutMemory::size() const {
  absl::MutexLock lock(&mu_);
  return layouts_.size();
}

}  // namespace tritond::ttg
