// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/compile_children.h"

#include <signal.h>

#include <algorithm>

namespace tritond::compiler {

CompileChildren& CompileChildren::Get() {
  static auto* const children = new CompileChildren;
  return *children;
}

void CompileChildren::Begin() {
  absl::MutexLock lock(&mu_);
  abandoned_ = false;
  usage_ = Usage();
}

void CompileChildren::Abandon() {
  absl::MutexLock lock(&mu_);
  abandoned_ = true;
  if (working_ != 0) kill(working_, SIGKILL);
}

absl::Status CompileChildren::StillWanted() const {
  absl::MutexLock lock(&mu_);
  return abandoned_ ? absl::CancelledError("the compile was abandoned") : absl::OkStatus();
}

void CompileChildren::AddUsage(const Usage& usage) {
  absl::MutexLock lock(&mu_);
  usage_.cpu += usage.cpu;
  usage_.peak_bytes = std::max(usage_.peak_bytes, usage.peak_bytes);
}

CompileChildren::Usage CompileChildren::usage() const {
  absl::MutexLock lock(&mu_);
  return usage_;
}

CompileChildren::Working::Working(pid_t child) {
  CompileChildren& children = Get();
  absl::MutexLock lock(&children.mu_);
  children.working_ = child;
  if (children.abandoned_) kill(child, SIGKILL);
}

CompileChildren::Working::~Working() {
  CompileChildren& children = Get();
  absl::MutexLock lock(&children.mu_);
  children.working_ = 0;
}

}  // namespace tritond::compiler
