// SPDX-License-Identifier: Apache-2.0
#include "server/compile/text_pool.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "server/errors/error_details.h"
#include "timing/turns/turns.h"

namespace tritond::server {
namespace {

// What a turn costs besides the text.
constexpr uint64_t kTurnBytes = uint64_t{4} << 10;
constexpr absl::Duration kRestartDelay = absl::Seconds(2);

}  // namespace

TextPool::TextPool(const Config& config) : config_(config) {
  for (int i = 0; i < std::max(config.threads, 1); ++i) {
    threads_.emplace_back([this] {
      timing::GiveWay();
      Loop(&TextPool::small_);
    });
    threads_.emplace_back([this] {
      timing::GiveWay();
      Loop(&TextPool::large_);
    });
  }
}

TextPool::~TextPool() { Stop(); }

TextPool::Ticket TextPool::Run(const std::string& caller, uint64_t bytes, Task task) {
  absl::MutexLock lock(&mu_);
  return Enqueue(caller, bytes, 0, std::move(task));
}

std::optional<TextPool::Ticket> TextPool::TryRun(const std::string& caller, uint64_t bytes, Task task) {
  absl::MutexLock lock(&mu_);
  if (config_.waiting_bytes > 0) {
    auto own = bytes_of_.find(caller);
    const bool too_much = bytes_ > 0 && bytes_ + bytes > config_.waiting_bytes;
    const bool too_much_of_caller = own != bytes_of_.end() && own->second + bytes > config_.waiting_bytes / 2;
    if (too_much || too_much_of_caller) return std::nullopt;
  }
  return Enqueue(caller, bytes, bytes, std::move(task));
}

TextPool::Ticket TextPool::Enqueue(const std::string& caller, uint64_t bytes, uint64_t counted_bytes, Task task) {
  const Ticket ticket = next_++;
  if (stopping_) return ticket;
  const bool small = bytes <= kSmallBytes;
  (small ? small_ : large_).Push(caller, ticket, kTurnBytes + bytes);
  waiting_[ticket] = {std::move(task), caller, counted_bytes, small};
  bytes_ += counted_bytes;
  if (counted_bytes > 0) bytes_of_[caller] += counted_bytes;
  return ticket;
}

TextPool::Waiting TextPool::TakeLocked(Ticket ticket) {
  auto found = waiting_.find(ticket);
  Waiting taken = std::move(found->second);
  waiting_.erase(found);
  bytes_ -= taken.counted_bytes;
  if (taken.counted_bytes > 0) {
    auto own = bytes_of_.find(taken.caller);
    own->second -= taken.counted_bytes;
    if (own->second == 0) bytes_of_.erase(own);
  }
  return taken;
}

bool TextPool::Drop(Ticket ticket) {
  Waiting dropped;  // Its task may own much, and goes without the lock.
  absl::MutexLock lock(&mu_);
  auto found = waiting_.find(ticket);
  if (found == waiting_.end()) return false;
  (found->second.small ? small_ : large_).Remove(ticket);
  dropped = TakeLocked(ticket);
  return true;
}

void TextPool::Loop(TurnQueue TextPool::*turns) {
  const auto has_work = [this, turns]()
                            ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return stopping_ || (this->*turns).size() > 0; };
  while (true) {
    Waiting next;
    absl::Status status;
    {
      absl::MutexLock lock(&mu_, absl::Condition(&has_work));
      if (stopping_) return;
      next = TakeLocked(*(this->*turns).Pop());
      status = refusal_;
    }
    next.task(status);
  }
}

void TextPool::Refuse() {
  const absl::Status refusal =
      WithReason(absl::UnavailableError("this server is shutting down; ask another, or this one later"),
                 Reason::kDraining, kRestartDelay);
  std::vector<Waiting> refused;
  {
    absl::MutexLock lock(&mu_);
    refusal_ = refusal;
    for (TurnQueue* turns : {&small_, &large_}) {
      while (const std::optional<uint64_t> ticket = turns->Pop()) refused.push_back(TakeLocked(*ticket));
    }
  }
  for (const Waiting& waiting : refused) waiting.task(refusal);
}

void TextPool::Stop() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

size_t TextPool::waiting() const {
  absl::MutexLock lock(&mu_);
  return waiting_.size();
}

uint64_t TextPool::waiting_bytes() const {
  absl::MutexLock lock(&mu_);
  return bytes_;
}

}  // namespace tritond::server
