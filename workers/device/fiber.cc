// SPDX-License-Identifier: Apache-2.0
#include "workers/device/fiber.h"

#include <boost/context/detail/fcontext.hpp>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define TRITOND_FIBER_ASAN 1
#else
#define TRITOND_FIBER_ASAN 0
#endif

namespace tritond::workers {

namespace fcontext = boost::context::detail;

// The two halves of a change of stacks, as AddressSanitizer wants to be told of it.
struct Fiber::Switch {
  static void Start(void** shadow, const void* bottom, size_t size) {
#if TRITOND_FIBER_ASAN
    __sanitizer_start_switch_fiber(shadow, bottom, size);
#endif
  }
  static void Finish(void* shadow, const void** bottom, size_t* size) {
#if TRITOND_FIBER_ASAN
    __sanitizer_finish_switch_fiber(shadow, bottom, size);
#endif
  }

  static void Enter(fcontext::transfer_t from) {
    Fiber* fiber = static_cast<Fiber*>(from.data);
    fiber->resumer_ = from.fctx;
    Finish(nullptr, &fiber->resumers_bottom_, &fiber->resumers_size_);
    fiber->body_(fiber->argument_);
  }
};

Fiber::Fiber(StackPool& stacks, Stack stack, void (*body)(void*), void* argument)
    : stacks_(stacks),
      stack_(stack),
      body_(body),
      argument_(argument),
      context_(fcontext::make_fcontext(stack.bottom + stack.size, stack.size, &Switch::Enter)) {}

Fiber::~Fiber() {
#if TRITOND_FIBER_ASAN
  __asan_unpoison_memory_region(stack_.bottom, stack_.size);  // abandoned frames leave marks
#endif
  stacks_.GiveBack(stack_);
}

void Fiber::Resume() {
  Switch::Start(&resumers_shadow_, stack_.bottom, stack_.size);
  const fcontext::transfer_t back = fcontext::jump_fcontext(context_, this);
  Switch::Finish(resumers_shadow_, nullptr, nullptr);
  context_ = back.fctx;
}

void Fiber::Suspend() {
  Switch::Start(&own_shadow_, resumers_bottom_, resumers_size_);
  const fcontext::transfer_t back = fcontext::jump_fcontext(resumer_, nullptr);
  Switch::Finish(own_shadow_, &resumers_bottom_, &resumers_size_);
  resumer_ = back.fctx;
}

}  // namespace tritond::workers
