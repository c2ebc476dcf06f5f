// SPDX-License-Identifier: Apache-2.0
#include "server/compile/device_desk.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/errors/error_details.h"

namespace tritond::server {
namespace {

// How long a caller's departure may go unnoticed.
constexpr absl::Duration kLook = absl::Milliseconds(100);

absl::Status Lost(const std::string& why) {
  return WithReason(absl::UnavailableError(why), Reason::kDeviceLost, absl::Seconds(1));
}

}  // namespace

void DeviceDesk::OnAttached(const std::string& id, const v1::Hello& hello) {
  if (hello.devices().empty()) return;
  absl::MutexLock lock(&mu_);
  Worker& worker = workers_[id];
  worker.hello = hello;
  for (const v1::Hello::Device& device : hello.devices()) worker.slots[device.name()].device = device;
}

void DeviceDesk::OnMeasured(v1::MeasureOutcome outcome) {
  absl::MutexLock lock(&mu_);
  auto it = pending_.find(outcome.lease());
  if (it == pending_.end()) return;
  if (outcome.device_lost()) {
    auto worker = workers_.find(it->second.worker);
    if (worker != workers_.end()) worker->second.slots[it->second.device].device.set_lost(outcome.message());
    it->second.outcome = Lost(absl::StrCat(it->second.device, " is lost: ", outcome.message()));
  } else if (outcome.code() != 0) {
    it->second.outcome = absl::Status(static_cast<absl::StatusCode>(outcome.code()), outcome.message());
  } else {
    it->second.outcome = std::move(outcome);
  }
}

void DeviceDesk::OnEnded(const std::string& id, const std::string& why) {
  absl::MutexLock lock(&mu_);
  workers_.erase(id);
  for (auto& [lease, pending] : pending_) {
    if (pending.worker == id && !pending.outcome.has_value())
      pending.outcome = Lost(absl::StrCat("the worker of ", pending.device, " has left: ", why));
  }
}

void DeviceDesk::Stop() {
  absl::MutexLock lock(&mu_);
  stopped_ = true;
  for (auto& [lease, pending] : pending_) {
    if (!pending.outcome.has_value()) pending.outcome = absl::UnavailableError("the daemon shuts down");
  }
}

bool DeviceDesk::Matches(const v1::DeviceSelector& selector, const std::string& id, const v1::Hello& hello,
                         const v1::Hello::Device& device) {
  const auto fits = [](const std::string& wanted, const std::string& is) { return wanted.empty() || wanted == is; };
  for (const auto& [name, value] : selector.labels()) {
    const auto it = hello.labels().find(name);
    if (it == hello.labels().end() || it->second != value) return false;
  }
  return fits(selector.target(), device.target()) && fits(selector.model(), device.model()) &&
         (fits(selector.worker(), id) || selector.worker() == hello.name());
}

absl::StatusOr<DeviceDesk::Choice> DeviceDesk::Choose(const v1::DeviceSelector& selector) const {
  absl::MutexLock lock(&mu_);
  std::optional<Choice> best;
  int fewest = 0;
  std::vector<std::string> others;
  for (const auto& [id, worker] : workers_) {
    for (const auto& [name, slot] : worker.slots) {
      const v1::Hello::Device& device = slot.device;
      const bool matches = Matches(selector, id, worker.hello, device);
      if (!matches || !device.lost().empty()) {
        others.push_back(absl::StrCat(name, " of ", worker.hello.name(), " (", device.model(), ", ", device.target(),
                                      matches ? ", out of service: " : "", device.lost(), ")"));
      } else if (!best.has_value() || slot.wanted < fewest) {
        best = Choice{id, worker.hello.name(), device};
        fewest = slot.wanted;
      }
    }
  }
  if (best.has_value()) return *std::move(best);
  const std::string there = others.empty() ? "No device is attached. Start a worker with --devices"
                                           : absl::StrCat("Attached are ", absl::StrJoin(others, "; "));
  return WithReason(absl::FailedPreconditionError(absl::StrCat("no device matches the selector. ", there)),
                    Reason::kNoDevice);
}

bool DeviceDesk::IsAnyInService() const {
  absl::MutexLock lock(&mu_);
  for (const auto& [id, worker] : workers_) {
    for (const auto& [name, slot] : worker.slots) {
      if (slot.device.lost().empty()) return true;
    }
  }
  return false;
}

void DeviceDesk::Describe(v1::Worker* worker) const {
  absl::MutexLock lock(&mu_);
  const auto known = workers_.find(worker->id());
  if (known == workers_.end()) return;
  for (v1::Hello::Device& device : *worker->mutable_devices()) {
    const auto slot = known->second.slots.find(device.name());
    if (slot != known->second.slots.end()) device.set_lost(slot->second.device.lost());
  }
}

DeviceDesk::Slot* DeviceDesk::FindLocked(const Choice& choice) {
  auto worker = workers_.find(choice.worker);
  if (worker == workers_.end()) return nullptr;
  auto slot = worker->second.slots.find(choice.device.name());
  return slot == worker->second.slots.end() ? nullptr : &slot->second;
}

void DeviceDesk::Want(const Choice& choice, int change) {
  absl::MutexLock lock(&mu_);
  if (Slot* slot = FindLocked(choice); slot != nullptr) slot->wanted += change;
}

std::optional<absl::Status> DeviceDesk::TryBorrow(const Choice& choice, absl::Duration within) {
  absl::MutexLock lock(&mu_);
  auto is_free = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const Slot* slot = FindLocked(choice);
    return stopped_ || slot == nullptr || !slot->lent;
  };
  if (!mu_.AwaitWithTimeout(absl::Condition(&is_free), within)) return std::nullopt;
  Slot* slot = FindLocked(choice);
  if (stopped_ || slot == nullptr) return Lost(absl::StrCat("the worker of ", choice.device.name(), " has left"));
  slot->lent = true;
  return absl::OkStatus();
}

absl::Status DeviceDesk::Borrow(const Choice& choice, WaitingCaller& caller) {
  Want(choice, 1);
  std::optional<absl::Status> borrowed = TryBorrow(choice, absl::ZeroDuration());
  if (!borrowed.has_value()) caller.OnWait(absl::StrCat(choice.device.name(), " measures another tuning"));
  while (!borrowed.has_value()) {
    borrowed = TryBorrow(choice, kLook);
    if (borrowed.has_value() || !caller.IsGone()) continue;
    Want(choice, -1);
    return absl::CancelledError("nobody waits for the tuning any more");
  }
  return *std::move(borrowed);
}

void DeviceDesk::GiveBack(const Choice& choice) {
  absl::MutexLock lock(&mu_);
  Slot* slot = FindLocked(choice);
  if (slot == nullptr) return;
  slot->lent = false;
  --slot->wanted;
}

absl::StatusOr<v1::MeasureOutcome> DeviceDesk::Measure(const Choice& choice, v1::MeasureJob job) {
  v1::Lease lease;
  {
    absl::MutexLock lock(&mu_);
    if (stopped_ || FindLocked(choice) == nullptr)
      return Lost(absl::StrCat("the worker of ", choice.device.name(), " has left"));
    lease.set_id(next_lease_++);
    pending_[lease.id()] = {choice.worker, choice.device.name(), std::nullopt};
  }
  const uint64_t id = lease.id();
  lease.set_key(job.tuning());
  *lease.mutable_measure() = std::move(job);
  pool_->Start(choice.worker, std::move(lease), absl::InfiniteFuture());
  absl::MutexLock lock(&mu_);
  Pending& pending = pending_[id];
  auto is_there = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return pending.outcome.has_value(); };
  mu_.Await(absl::Condition(&is_there));
  absl::StatusOr<v1::MeasureOutcome> outcome = *std::move(pending.outcome);
  pending_.erase(id);
  return outcome;
}

}  // namespace tritond::server
