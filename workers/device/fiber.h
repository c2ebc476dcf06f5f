// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_FIBER_H_
#define WORKERS_DEVICE_FIBER_H_

#include "workers/device/stack_pool.h"

namespace tritond::workers {

// A thread of control with its own stack that changes only where it says so. Used by one system thread.
//
// A fiber may be destroyed while it is suspended: what is on its stack is then abandoned, not unwound. So nothing that
// must be released may live there across Suspend; foreign code with or without unwind tables may.
class Fiber final {
 public:
  // Takes a stack of the pool, which must outlive the fiber. `body` must never return: its last act is Suspend.
  Fiber(StackPool& stacks, Stack stack, void (*body)(void*), void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // From outside: runs the fiber until it suspends itself.
  void Resume();
  // From inside: returns to who resumed it, until the next Resume.
  void Suspend();

 private:
  // Contexts are Boost.Context's fcontext_t.
  struct Switch;

  StackPool& stacks_;
  const Stack stack_;
  void (*const body_)(void*);
  void* const argument_;
  void* context_;                    // where Resume goes on
  void* resumer_ = nullptr;          // where Suspend goes on
  void* resumers_shadow_ = nullptr;  // AddressSanitizer's records of the two stacks
  void* own_shadow_ = nullptr;
  const void* resumers_bottom_ = nullptr;
  size_t resumers_size_ = 0;
};

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_FIBER_H_
