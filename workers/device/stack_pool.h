// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_STACK_POOL_H_
#define WORKERS_DEVICE_STACK_POOL_H_

#include <cstddef>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace tritond::workers {

// A fiber's stack: bytes [bottom, bottom + size), below them a page that faults.
struct Stack {
  char* bottom = nullptr;
  size_t size = 0;
};

// Stacks of one size, kept for the next use until the pool dies; memory is touched only as far as fibers use it.
// Thread-safe.
class StackPool final {
 public:
  explicit StackPool(size_t stack_bytes);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  // ResourceExhausted when the system gives no more memory.
  absl::StatusOr<Stack> Take();
  void GiveBack(Stack stack);

 private:
  const size_t guard_bytes_;
  const size_t stack_bytes_;
  absl::Mutex mu_;
  std::vector<Stack> free_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_STACK_POOL_H_
