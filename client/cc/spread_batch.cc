// SPDX-License-Identifier: Apache-2.0
#include "client/cc/spread_batch.h"

#include <algorithm>
#include <utility>

#include "client/cc/batch_end.h"
#include "client/cc/retry.h"

namespace tritond::client {

SpreadBatch::SpreadBatch(const std::vector<Daemon>& daemons, Reach* reach,
                         const std::vector<v1::CompileRequest>& requests, std::vector<Order> orders,
                         const Client::BatchCallback& on_result, absl::Time deadline)
    : daemons_(daemons),
      reach_(reach),
      requests_(requests),
      on_result_(on_result),
      deadline_(deadline),
      orders_(std::move(orders)) {
  for (size_t i = 0; i < requests_.size(); ++i) missing_[i];
}

absl::Status SpreadBatch::Attempt() {
  error_ = absl::OkStatus();
  std::vector<size_t> indices;
  for (auto& [index, left] : missing_) {
    left = orders_[index];
    indices.push_back(index);
  }
  AskFor(indices);
  while (!running_.empty()) NextWork()();
  return missing_.empty() ? absl::OkStatus() : error_;
}

absl::Status SpreadBatch::End(const absl::Status& error) {
  std::vector<size_t> indices;
  for (const auto& [index, left] : missing_) indices.push_back(index);
  return EndBatch(error, indices, refusals_, on_result_);
}

void SpreadBatch::AskFor(const std::vector<size_t>& indices) {
  if (!error_.ok() && !MayAskAgain(error_)) return;  // No daemon can better it.
  std::map<size_t, std::vector<size_t>> shares;
  for (const size_t index : indices) {
    Order& left = missing_.at(index);
    if (left.empty()) continue;
    const size_t daemon = reach_->InReachFirst(left)[0];
    left.erase(std::find(left.begin(), left.end(), daemon));
    shares[daemon].push_back(index);
  }
  for (auto& [daemon, share] : shares) {
    const size_t id = begun_++;
    std::thread thread([this, id, daemon = daemon, share = share] {
      absl::Status status = Call(id, daemon, share);
      Post([this, id, status = std::move(status)] { EndShare(id, status); });
    });
    running_[id] = {daemon, std::move(share), std::move(thread), absl::OkStatus()};
  }
}

absl::Status SpreadBatch::Call(size_t id, size_t daemon, const std::vector<size_t>& indices) {
  std::vector<v1::CompileRequest> requests;
  for (const size_t index : indices) requests.push_back(requests_[index]);
  const auto pass_on = [&](size_t at, absl::StatusOr<v1::CompileResponse> result) {
    Post([this, id, index = indices[at], result = std::move(result)]() mutable {
      TakeResult(&running_.at(id), index, std::move(result));
    });
  };
  return daemons_[daemon].client->CompileBatch(requests, pass_on, deadline_);
}

void SpreadBatch::TakeResult(Share* share, size_t index, absl::StatusOr<v1::CompileResponse> result) {
  if (MayAskAgain(result.status())) {
    share->refused = refusals_[index] = result.status();
    return;
  }
  if (AnotherMayHelp(result.status())) {
    Order& order =
        orders_[index];  // It may have left it before: for this request alone, and then with all of its share.
    order.erase(std::remove(order.begin(), order.end(), share->daemon), order.end());
    if (!order.empty()) return;
  }
  missing_.erase(index);
  on_result_(index, std::move(result));
}

void SpreadBatch::EndShare(size_t id, const absl::Status& status) {
  Share share = std::move(running_.at(id));
  running_.erase(id);
  share.thread.join();
  const absl::Status error = status.ok() ? share.refused : status;
  reach_->Learn(share.daemon, error);
  const bool for_others = AnotherMayHelp(error) && !MayAskAgain(error);  // with none of these
  std::vector<size_t> left;
  for (const size_t index : share.indices) {
    if (for_others && missing_.count(index) > 0) TakeResult(&share, index, error);
    if (missing_.count(index) > 0) left.push_back(index);
  }
  if (!error.ok() && !for_others && (error_.ok() || MayAskAgain(error_))) error_ = error;
  AskFor(left);
}

void SpreadBatch::Post(std::function<void()> work) {
  absl::MutexLock lock(&mu_);
  work_.push_back(std::move(work));
}

std::function<void()> SpreadBatch::NextWork() {
  const auto some = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return !work_.empty(); };
  absl::MutexLock lock(&mu_, absl::Condition(&some));
  std::function<void()> work = std::move(work_.front());
  work_.pop_front();
  return work;
}

}  // namespace tritond::client
