// SPDX-License-Identifier: Apache-2.0
#include "server/scheduler/worker_table.h"

#include <algorithm>

namespace tritond::server {
namespace {

int SlotsOf(const WorkerTable::Worker& worker) { return std::max(worker.offer.slots, 1); }

int FreeSlotsOf(const WorkerTable::Worker& worker) {
  return worker.retired ? 0 : std::max(SlotsOf(worker) - static_cast<int>(worker.leases.size()), 0);
}

bool IsIdle(const WorkerTable::Worker& worker) { return worker.leases.empty() && !worker.retired; }

}  // namespace

void WorkerTable::Attach(const std::string& name, WorkerOffer offer) {
  Worker& worker = workers_[name];
  worker.name = name;
  worker.offer = std::move(offer);
}

void WorkerTable::Retire(const std::string& name) {
  auto it = workers_.find(name);
  if (it != workers_.end()) it->second.retired = true;
}

std::optional<std::vector<std::pair<uint64_t, uint64_t>>> WorkerTable::Remove(const std::string& name) {
  auto it = workers_.find(name);
  if (it == workers_.end()) return std::nullopt;
  std::vector<std::pair<uint64_t, uint64_t>> ended;
  for (const uint64_t id : it->second.leases) {
    auto lease = leases_.find(id);
    ended.emplace_back(id, lease->second.job);
    if (lease->second.job == 0) --disowned_;
    leases_.erase(lease);
  }
  workers_.erase(it);
  return ended;
}

void WorkerTable::Grant(uint64_t lease, uint64_t job, const std::string& worker) {
  workers_.at(worker).leases.insert(lease);
  leases_[lease] = {job, worker};
}

const WorkerTable::Lease* WorkerTable::Find(uint64_t lease) const {
  auto it = leases_.find(lease);
  return it == leases_.end() ? nullptr : &it->second;
}

void WorkerTable::Disown(uint64_t lease) {
  auto it = leases_.find(lease);
  if (it == leases_.end() || it->second.job == 0) return;
  it->second.job = 0;
  ++disowned_;
}

WorkerTable::Worker& WorkerTable::Erase(absl::flat_hash_map<uint64_t, Lease>::iterator lease) {
  Worker& worker = workers_.at(lease->second.worker);
  worker.leases.erase(lease->first);
  if (lease->second.job == 0) --disowned_;
  leases_.erase(lease);
  return worker;
}

std::optional<WorkerTable::Lease> WorkerTable::End(uint64_t lease) {
  auto it = leases_.find(lease);
  if (it == leases_.end()) return std::nullopt;
  Lease ended = it->second;
  ++Erase(it).done;
  return ended;
}

void WorkerTable::Return(uint64_t lease) {
  auto it = leases_.find(lease);
  if (it != leases_.end()) Erase(it);
}

std::vector<const WorkerTable::Worker*> WorkerTable::WithFreeSlot() const {
  std::vector<const Worker*> free;
  for (const auto& [name, worker] : workers_) {
    if (FreeSlotsOf(worker) > 0) free.push_back(&worker);
  }
  std::stable_sort(free.begin(), free.end(),
                   [](const Worker* a, const Worker* b) { return a->leases.size() < b->leases.size(); });
  return free;
}

const WorkerTable::Worker* WorkerTable::FindSpare(const Requirement& needs, const std::string& but) const {
  std::vector<const Worker*> idle;
  for (const auto& [name, worker] : workers_) {
    if (IsIdle(worker) && name != but) idle.push_back(&worker);
  }
  const auto replaced = [&](const Worker* worker, const Requirement& offered) {
    return std::any_of(idle.begin(), idle.end(),
                       [&](const Worker* other) { return other != worker && other->offer.CanRun(offered); });
  };
  for (const Worker* worker : idle) {
    const auto& targets = worker->offer.targets;
    const bool spare = std::all_of(targets.begin(), targets.end(), [&](const auto& target) {
      return replaced(worker, {target.first, worker->offer.build_id, target.second});
    });
    if (spare && worker->offer.CanRun(needs)) return worker;
  }
  return nullptr;
}

bool WorkerTable::MayRun(const Worker& worker, const Requirement& needs) const {
  if (!worker.offer.CanRun(needs)) return false;
  return needs.not_on != worker.name || !AnyCanRun(needs, worker.name);
}

bool WorkerTable::AnyCanRun(const Requirement& needs, const std::string& but) const {
  return std::any_of(workers_.begin(), workers_.end(), [&](const auto& entry) {
    return entry.first != but && !entry.second.retired && entry.second.offer.CanRun(needs);
  });
}

int WorkerTable::Slots() const {
  int slots = 0;
  for (const auto& [name, worker] : workers_) slots += worker.retired ? 0 : SlotsOf(worker);
  return slots;
}

std::map<Requirement, int> WorkerTable::IdleSlots(const std::map<Requirement, int>& arriving) const {
  std::map<Requirement, int> idle;
  std::map<Requirement, int> left = arriving;
  for (const auto& [name, worker] : workers_) {
    int free = FreeSlotsOf(worker);
    for (auto& [needs, jobs] : left) {
      if (free == 0) break;
      if (!worker.offer.CanRun(needs)) continue;
      const int given = std::min(free, jobs);
      free -= given;
      jobs -= given;
    }
    if (free == 0) continue;
    for (const auto& [target, binary] : worker.offer.targets) {
      idle[{target, worker.offer.build_id, false}] += free;
      if (binary) idle[{target, worker.offer.build_id, true}] += free;
    }
  }
  return idle;
}

std::vector<uint64_t> WorkerTable::JobsOf(const std::string& worker) const {
  std::vector<uint64_t> jobs;
  auto it = workers_.find(worker);
  if (it == workers_.end()) return jobs;
  for (const uint64_t lease : it->second.leases) {
    if (const uint64_t job = leases_.at(lease).job; job != 0) jobs.push_back(job);
  }
  return jobs;
}

}  // namespace tritond::server
