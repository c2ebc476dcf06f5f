// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_STREAM_SLOTS_H_
#define SERVER_RPC_STREAM_SLOTS_H_

#include <atomic>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/rpc/status.h"

namespace tritond::server {

// How many streams may have a thread of their own at once, and for how long one may stand still. Thread-safe; outlives
// the streams.
class StreamSlots final {
 public:
  explicit StreamSlots(int slots, absl::Duration patience = absl::Seconds(30))
      : slots_(slots), patience_(patience), free_(slots) {}
  // False when none is free; else one is taken until GiveBack.
  bool Take() {
    for (int free = free_; free > 0;) {
      if (free_.compare_exchange_weak(free, free - 1)) return true;
    }
    return false;
  }
  void GiveBack() { ++free_; }
  // A stream whose other end neither sends nor takes anything for so long gives its slot back.
  absl::Duration patience() const { return patience_; }
  // What is answered when none is free.
  absl::Status Full() const {
    return WithReason(absl::ResourceExhaustedError(absl::StrCat(slots_, " bundles are on their way already")),
                      Reason::kTransfersFull, absl::Seconds(5));
  }

 private:
  const int slots_;
  const absl::Duration patience_;
  std::atomic<int> free_;
};

}  // namespace tritond::server

#endif  // SERVER_RPC_STREAM_SLOTS_H_
