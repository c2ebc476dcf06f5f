// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_COST_COUNTER_H_
#define TESTS_SUPPORT_COST_COUNTER_H_

#include <functional>

namespace tritond::tests {

// Counts what work costs its thread: instructions in user space where the kernel lets a process count them, which are
// nearly the same each time. Else nanoseconds of processor time, of which the least of several runs is taken. From the
// first counter on, this process keeps the memory that it frees: page faults are no part of the work's cost.
class CostCounter final {
 public:
  CostCounter();
  ~CostCounter();
  CostCounter(const CostCounter&) = delete;
  CostCounter& operator=(const CostCounter&) = delete;

  double CostOf(const std::function<void()>& work) const;
  bool counts_instructions() const { return fd_ >= 0; }

 private:
  double Once(const std::function<void()>& work) const;

  int fd_ = -1;
};

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_COST_COUNTER_H_
