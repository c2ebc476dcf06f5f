// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_CLUSTER_REMOTE_WAITERS_H_
#define SERVER_CLUSTER_REMOTE_WAITERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// Waiters of this daemon's scheduler that stand for callers at other daemons. Their job was taken from there, or they
// follow a job of this daemon's own. While a job runs, each renewal of its lease tells whether
// anybody follows. As long as somebody does, the job's time does not run out, and it goes on when its own callers have
// left. When nobody does, since all have left or their daemons are lost, these waiters leave.
//
// Thread-safe. Does not own the host.
class RemoteWaiters final {
 public:
  struct Config {
    absl::Duration lease = absl::Seconds(5);
    int silences =
        2;  // renewals in a row at which nobody follows, once somebody did: it takes a moment to say so again
  };
  // The scheduler's waiters. Called without a lock. Thread-safe.
  class Host {
   public:
    virtual ~Host() = default;
    // Makes a waiter for the job in flight under the key; 0 when there is none. `ended` runs with its outcome.
    virtual uint64_t JoinJob(const std::string& key, absl::Time deadline, std::function<void()> ended) = 0;
    // False when it had not to wait any more.
    virtual bool LeaveJob(uint64_t waiter) = 0;
    virtual void ExtendWait(uint64_t waiter, absl::Time deadline) = 0;
  };

  RemoteWaiters(Config config, Clock clock, Host& host);

  // A job is taken; the number names it among those of its key. `left` runs if its waiter is made to leave.
  uint64_t Begin(const std::string& key, std::function<void()> left);
  // The waiter that stands for its callers; nothing happens when the job has ended.
  void Waits(const std::string& key, uint64_t id, uint64_t waiter);
  void Ended(const std::string& key, uint64_t id);
  // A renewal of the key's lease told whether anybody follows.
  void Heard(const std::string& key, bool followed);

 private:
  struct Remote {
    std::function<void()> left;
    uint64_t waiter = 0;  // 0: none yet
  };
  struct Key {
    std::map<uint64_t, Remote> waiters;
    bool followed = false;                      // somebody has followed since it runs
    int silences = 0;                           // since
    absl::Time heard = absl::InfiniteFuture();  // the first time
  };

  // For those who follow a job that was not taken from them.
  void Join(const std::string& key);

  const Config config_;
  const Clock clock_;
  Host& host_;
  absl::Mutex mu_;
  uint64_t next_ ABSL_GUARDED_BY(mu_) = 1;
  absl::flat_hash_map<std::string, Key> keys_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::server

#endif  // SERVER_CLUSTER_REMOTE_WAITERS_H_
