// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_ADMISSION_BYTE_BUDGET_H_
#define SERVER_ADMISSION_BYTE_BUDGET_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace tritond::server {

// Bounds the memory of what waits. A keeper takes bytes, and gives them back when it destroys the hold. Calls nothing
// and never blocks, so it may be used under any lock. Thread-safe. Must outlive its holds.
class ByteBudget final {
 public:
  // Bytes that are taken until its end. Movable; an empty one holds nothing.
  class Hold final {
   public:
    Hold() = default;
    // See ByteBudget::Take.
    static std::optional<Hold> Of(ByteBudget& budget, uint64_t bytes);
    Hold(Hold&& other) noexcept : budget_(other.budget_), bytes_(std::exchange(other.bytes_, 0)) {}
    Hold& operator=(Hold&& other) noexcept;
    ~Hold() { Release(); }

    uint64_t bytes() const { return bytes_; }
    // Part of it, at most all, as a hold of its own.
    Hold Split(uint64_t bytes);

   private:
    Hold(ByteBudget* budget, uint64_t bytes) : budget_(budget), bytes_(bytes) {}
    void Release();

    ByteBudget* budget_ = nullptr;
    uint64_t bytes_ = 0;
  };

  // 0: no limit; what is held is counted all the same.
  explicit ByteBudget(uint64_t limit) : limit_(limit) {}

  // Nothing when it would be too much. While nothing is held there is room for any number of bytes.
  std::optional<Hold> Take(uint64_t bytes) { return Hold::Of(*this, bytes); }
  bool HasRoom(uint64_t bytes) const;

  uint64_t limit() const { return limit_; }
  uint64_t held() const;

 private:
  bool HasRoomLocked(uint64_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const uint64_t limit_;
  mutable absl::Mutex mu_;
  uint64_t held_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace tritond::server

#endif  // SERVER_ADMISSION_BYTE_BUDGET_H_
