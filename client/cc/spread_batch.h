// SPDX-License-Identifier: Apache-2.0
// A batch that several daemons share. Each request goes to the daemon that it prefers, to all daemons at the same time.
// What one of them leaves goes to the next one at once, while the others go on with their shares.
#ifndef CLIENT_CC_SPREAD_BATCH_H_
#define CLIENT_CC_SPREAD_BATCH_H_

#include <deque>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/cc/client.h"
#include "client/cc/reach.h"
#include "client/cc/spread_client.h"

namespace tritond::client {

class SpreadBatch final {
 public:
  // `orders` has for each request the daemons to ask. All but `orders` are borrowed for as long as the batch lives;
  // `on_result` is called by the thread that calls Attempt and End.
  SpreadBatch(const std::vector<Daemon>& daemons, Reach* reach, const std::vector<v1::CompileRequest>& requests,
              std::vector<Order> orders, const Client::BatchCallback& on_result, absl::Time deadline);

  // Asks for what is missing, until each of it has come or was asked of every daemon in its order. OK when nothing is
  // missing; else an error that no daemon can better, or the last one.
  absl::Status Attempt();

  // No attempt follows: reports the refusals. OK when every request has a result then; else `error`.
  absl::Status End(const absl::Status& error);

 private:
  // What one daemon is asked for in one call.
  struct Share {
    size_t daemon;
    std::vector<size_t> indices;  // of requests
    std::thread thread;
    absl::Status refused;  // the latest refusal of one of them
  };

  // Begins a share for each daemon that is next for some of `indices`; those that no daemon is left for stay missing.
  void AskFor(const std::vector<size_t>& indices);
  // What asking again or elsewhere may better stays missing.
  void TakeResult(Share* share, size_t index, absl::StatusOr<v1::CompileResponse> result);
  // Joins the share and asks others for what it leaves. `status` is that of its call.
  void EndShare(size_t id, const absl::Status& status);

  // The share's thread makes the call; the caller's thread does the rest, in the order in which it is posted.
  absl::Status Call(size_t id, size_t daemon, const std::vector<size_t>& indices);
  void Post(std::function<void()> work);
  std::function<void()> NextWork();

  const std::vector<Daemon>& daemons_;
  Reach* const reach_;
  const std::vector<v1::CompileRequest>& requests_;
  const Client::BatchCallback& on_result_;
  const absl::Time deadline_;

  std::vector<Order> orders_;                // those that may help with a request
  std::map<size_t, Order> missing_;          // by request: those of its order not asked yet in this attempt
  std::map<size_t, absl::Status> refusals_;  // the latest of each request that is missing
  std::map<size_t, Share> running_;
  size_t begun_ = 0;
  absl::Status error_;

  absl::Mutex mu_;
  std::deque<std::function<void()>> work_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::client

#endif  // CLIENT_CC_SPREAD_BATCH_H_
