// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_IDLE_WATCH_H_
#define SERVER_APP_IDLE_WATCH_H_

#include <cstdint>

#include "absl/time/time.h"

namespace tritond::server {

// Says when nobody has asked the daemon for anything for a while. One thread's.
class IdleWatch final {
 public:
  // `limit` zero: never. The time begins at `now`.
  IdleWatch(absl::Duration limit, absl::Time now) : limit_(limit), since_(now) {}

  // `asked`: requests since the daemon began; `busy`: some of them wait or run. True when `limit` has passed at `now`
  // since either last changed that.
  bool Observe(uint64_t asked, bool busy, absl::Time now);

 private:
  const absl::Duration limit_;
  absl::Time since_;
  uint64_t asked_ = 0;
};

}  // namespace tritond::server

#endif  // SERVER_APP_IDLE_WATCH_H_
