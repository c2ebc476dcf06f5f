// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/handover.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

#include "absl/strings/escaping.h"

namespace tritond::workers {

std::unique_ptr<Handover> Handover::Create() {
  std::string random(16, 0);
  if (getentropy(random.data(), random.size()) != 0) return nullptr;
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  return std::unique_ptr<Handover>(new Handover(new (memory) Shared, absl::BytesToHexString(random)));
}

Handover::~Handover() { munmap(shared_, sizeof(Shared)); }

void Handover::Settle(int wait_status) {
  if (shared_->told.exchange(false)) last_.reset();
  const uint64_t lease = shared_->lease.exchange(0);
  if (lease == 0) return;
  if (WIFSIGNALED(wait_status)) last_ = End{lease, WTERMSIG(wait_status), 0};
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) != 0) last_ = End{lease, 0, WEXITSTATUS(wait_status)};
}

}  // namespace tritond::workers
