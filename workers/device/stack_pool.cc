// SPDX-License-Identifier: Apache-2.0
#include "workers/device/stack_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace tritond::workers {

StackPool::StackPool(size_t stack_bytes)
    : guard_bytes_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
      stack_bytes_((stack_bytes + guard_bytes_ - 1) / guard_bytes_ * guard_bytes_) {}

StackPool::~StackPool() {
  for (const Stack& stack : free_) munmap(stack.bottom - guard_bytes_, guard_bytes_ + stack.size);
}

absl::StatusOr<Stack> StackPool::Take() {
  {
    absl::MutexLock lock(&mu_);
    if (!free_.empty()) {
      const Stack stack = free_.back();
      free_.pop_back();
      return stack;
    }
  }
  const size_t bytes = guard_bytes_ + stack_bytes_;
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, guard_bytes_, PROT_NONE) != 0) {
    const std::string why = std::strerror(errno);
    if (memory != MAP_FAILED) munmap(memory, bytes);
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a thread's stack of ", stack_bytes_, " bytes: ", why));
  }
  return Stack{static_cast<char*>(memory) + guard_bytes_, stack_bytes_};
}

void StackPool::GiveBack(Stack stack) {
  absl::MutexLock lock(&mu_);
  free_.push_back(stack);
}

}  // namespace tritond::workers
