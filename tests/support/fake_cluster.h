// SPDX-License-Identifier: Apache-2.0
// An engine that a cluster shares, in memory, with time that a test moves. Not thread-safe.
#ifndef TESTS_SUPPORT_FAKE_CLUSTER_H_
#define TESTS_SUPPORT_FAKE_CLUSTER_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "cache/coordination/job_stream.h"
#include "cache/coordination/key_lease_table.h"
#include "server/cluster/task_timer.h"

namespace tritond::tests {

// Runs tasks at their times, in one thread.
class FakeTime final : public server::TaskTimer {
 public:
  absl::Time Now() const { return now_; }
  void RunAfter(absl::Duration delay, std::function<void()> task) override {
    tasks_.emplace(now_ + delay, std::move(task));
  }
  // Lets time pass, and runs what comes due in it; ZeroDuration runs what is due now.
  void Pass(absl::Duration duration) {
    const absl::Time end = now_ + duration;
    while (!tasks_.empty() && tasks_.begin()->first <= end) {
      now_ = tasks_.begin()->first;
      std::function<void()> task = std::move(tasks_.begin()->second);
      tasks_.erase(tasks_.begin());
      task();
    }
    now_ = end;
  }

 private:
  absl::Time now_ = absl::FromUnixSeconds(1000);
  std::multimap<absl::Time, std::function<void()>> tasks_;
};

class FakeLeases final : public cache::KeyLeaseTable {
 public:
  explicit FakeLeases(const FakeTime& time) : time_(time) {}

  bool away = false;
  std::function<void()> before_answer;  // runs inside of Ask, after the answer has been found
  int asked = 0;
  std::set<std::string> owners;  // who has asked

  std::string ValueOf(const cache::Digest& key) { return entries_[key].value; }
  // As a holder that nobody sees does.
  void Take(const cache::Digest& key, absl::Duration lifetime) { Grant(entries_[key], "somebody", lifetime); }

  absl::StatusOr<Answer> Ask(const cache::Digest& key, const std::string& owner, absl::Duration lifetime,
                             const Wish& wish) override {
    ++asked;
    owners.insert(owner);
    if (away) return absl::UnavailableError("away");
    Entry& entry = entries_[key];
    Answer answer;
    if (!wish.ignore_outcome && !entry.value.empty()) {
      answer.state = State::kDone;
    } else if (!wish.ignore_outcome && !entry.error.empty() && entry.error_until > time_.Now()) {
      answer.state = State::kFailed;
      answer.error = entry.error;
    } else if (auto told = entry.told.find(owner); told != entry.told.end() && told->second.second > time_.Now()) {
      answer.state = State::kFailed;
      answer.error = told->second.first;
    } else if (Held(entry) && !(wish.take && entry.owner == owner)) {
      answer.state = State::kHeld;
      if (wish.follow) entry.wanted_until = time_.Now() + 2 * lifetime;
    } else if (wish.take) {
      if (!Held(entry)) Grant(entry, owner, lifetime);
      answer.state = State::kGranted;
      answer.lease = {key, owner, entry.token};
    }
    if (before_answer) std::exchange(before_answer, nullptr)();
    return answer;
  }
  absl::StatusOr<Renewal> Renew(const cache::KeyLease& lease, absl::Duration lifetime) override {
    if (away) return absl::UnavailableError("away");
    Entry& entry = entries_[lease.key];
    if (entry.token != lease.token) return Renewal{};
    entry.until = time_.Now() + lifetime;
    return Renewal{true, entry.wanted_until > time_.Now()};
  }
  absl::Status Unfollow(const cache::Digest& key) override {
    entries_[key].wanted_until = absl::InfinitePast();
    return absl::OkStatus();
  }
  absl::Status Release(const cache::KeyLease& lease) override {
    Entry& entry = entries_[lease.key];
    if (away) return absl::UnavailableError("away");
    if (entry.token == lease.token) entry.until = absl::InfinitePast();
    return absl::OkStatus();
  }
  absl::StatusOr<bool> Publish(const cache::KeyLease& lease, cache::Blob value) override {
    absl::Status released = Release(lease);
    if (!released.ok()) return released;
    Entry& entry = entries_[lease.key];
    if (!entry.value.empty() && (lease.token == 0 || lease.token < entry.written)) return false;
    entry.value = std::string(value.bytes());
    entry.error.clear();
    entry.written = lease.token;
    return true;
  }
  absl::StatusOr<bool> PublishError(const cache::KeyLease& lease, const std::string& error,
                                    absl::Duration lifetime) override {
    absl::Status released = Release(lease);
    if (!released.ok()) return released;
    Entry& entry = entries_[lease.key];
    if (!entry.value.empty()) return false;
    entry.error = error;
    entry.error_until = time_.Now() + lifetime;
    return true;
  }
  absl::Status Tell(const cache::Digest& key, const std::string& owner, const std::string& error,
                    absl::Duration lifetime) override {
    if (away) return absl::UnavailableError("away");
    entries_[key].told[owner] = {error, time_.Now() + lifetime};
    return absl::OkStatus();
  }
  absl::Status ForgetError(const cache::Digest& key) override {
    entries_[key].error.clear();
    return absl::OkStatus();
  }

 private:
  struct Entry {
    std::string value, error, owner;
    std::map<std::string, std::pair<std::string, absl::Time>> told;  // by owner: what, and until when
    absl::Time until = absl::InfinitePast(), wanted_until = absl::InfinitePast(), error_until;
    uint64_t token = 0, written = 0;
  };
  bool Held(const Entry& entry) const { return entry.until > time_.Now(); }
  void Grant(Entry& entry, const std::string& owner, absl::Duration lifetime) {
    entry.owner = owner;
    entry.until = time_.Now() + lifetime;
    ++entry.token;
  }

  const FakeTime& time_;
  std::map<cache::Digest, Entry> entries_;
};

class FakeStreams final : public cache::JobStream {
 public:
  explicit FakeStreams(const FakeTime& time) : time_(time) {}

  bool away = false;
  int takes = 0;        // calls of Take
  std::string refused;  // a body that is not taken; "": none
  size_t size() const { return entries_.size(); }
  void Lose() { entries_.clear(); }

  absl::StatusOr<std::string> Add(const cache::StreamEntry& entry) override {
    if (away) return absl::UnavailableError("away");
    if (!refused.empty() && entry.body == refused) return absl::InvalidArgumentError("refused");
    const int id = next_++;
    entries_[id].entry = entry;
    entries_[id].until = time_.Now() + entry.remaining;
    entries_[id].entry.id = absl::StrCat(id);
    return absl::StrCat(id);
  }
  absl::Status Remove(const cache::StreamName&, const std::string& id) override {
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->second.entry.id != id) continue;
      entries_.erase(it);
      break;
    }
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<cache::StreamEntry>> Take(absl::Span<const cache::StreamName> streams, const std::string&,
                                                       int count) override {
    ++takes;
    if (away) return absl::UnavailableError("away");
    std::vector<cache::StreamEntry> taken;
    int left = count;
    for (const cache::StreamName& stream : streams) {
      for (auto& [id, one] : entries_) {
        if (one.taken != absl::InfiniteFuture() || !IsOf(one.entry, stream) || left == 0) continue;
        one.taken = time_.Now();
        taken.push_back(one.entry);
        taken.back().remaining = one.until - time_.Now();
        --left;
      }
    }
    return taken;
  }
  absl::StatusOr<std::vector<cache::StreamEntry>> TakeOver(const cache::StreamName& stream, const std::string&,
                                                           absl::Duration idle, int count) override {
    std::vector<cache::StreamEntry> taken;
    for (auto& [id, one] : entries_) {
      if (!IsOf(one.entry, stream) || one.taken > time_.Now() - idle || static_cast<int>(taken.size()) == count)
        continue;
      one.taken = time_.Now();
      taken.push_back(one.entry);
      taken.back().remaining = one.until - time_.Now();
    }
    return taken;
  }

 private:
  struct One {
    cache::StreamEntry entry;
    absl::Time taken = absl::InfiniteFuture();
    absl::Time until;
  };
  static bool IsOf(const cache::StreamEntry& entry, const cache::StreamName& stream) {
    return entry.stream.group == stream.group && entry.stream.name == stream.name;
  }

  const FakeTime& time_;
  std::map<int, One> entries_;
  int next_ = 1;
};

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_FAKE_CLUSTER_H_
