// SPDX-License-Identifier: Apache-2.0
#include "server/scheduler/quarantine.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::server {

std::string Quarantine::Entry::Why() const {
  std::string why;
  if (by_hand.has_value())
    why = absl::StrCat("this kernel is quarantined by hand", by_hand->empty() ? "" : ": ", *by_hand);
  if (reports.empty()) return why;
  const std::string killed = absl::StrCat("compiling this kernel killed ", reports.size(), " worker(s)");
  return by_hand.has_value() ? absl::StrCat(why, "; ", killed, ". Last: ", reports.back())
                             : absl::StrCat(killed, "; it is quarantined. Last: ", reports.back());
}

Quarantine::Entry& Quarantine::Touch(const std::string& key, absl::Time now) {
  auto it = entries_.find(key);
  if (it != entries_.end() && now - it->second.since > period_) {
    entries_.erase(it);
    it = entries_.end();
  }
  if (it == entries_.end() && entries_.size() >= max_entries_) {
    entries_.erase(std::min_element(entries_.begin(), entries_.end(),
                                    [](const auto& a, const auto& b) { return a.second.since < b.second.since; }));
  }
  Entry& entry = entries_[key];
  entry.key = key;
  entry.since = now;
  return entry;
}

bool Quarantine::AddKill(const std::string& key, const std::string& label, const std::string& tenant,
                         const std::string& report, absl::Time now) {
  Entry& entry = Touch(key, now);
  entry.label = label;
  entry.tenant = tenant;
  entry.reports.push_back(report);
  if (static_cast<int>(entry.reports.size()) >= kills_) entry.locked = true;
  return entry.locked;
}

void Quarantine::Suspect(uint64_t lease, const std::string& key, const std::string& label, const std::string& tenant) {
  suspects_[lease] = {key, label, tenant};
  if (suspects_.size() > max_entries_) suspects_.erase(suspects_.begin());
}

std::string Quarantine::Convict(uint64_t lease, const std::string& report, absl::Time now) {
  auto it = suspects_.find(lease);
  if (it == suspects_.end()) return "";
  const SuspectedJob job = std::move(it->second);
  suspects_.erase(it);
  return AddKill(job.key, job.label, job.tenant, report, now) ? job.key : "";
}

void Quarantine::Lock(const std::string& key, const std::string& reason, absl::Time now) {
  Entry& entry = Touch(key, now);
  entry.by_hand = reason;
  entry.locked = true;
}

const Quarantine::Entry* Quarantine::Find(const std::string& key, absl::Time now) {
  auto it = entries_.find(key);
  if (it == entries_.end() || !it->second.locked) return nullptr;
  if (now - it->second.since > period_) {
    entries_.erase(it);
    return nullptr;
  }
  return &it->second;
}

Quarantine::Entry Quarantine::EntryOf(const std::string& key) const {
  auto it = entries_.find(key);
  return it == entries_.end() ? Entry() : it->second;
}

bool Quarantine::Release(const std::string& key) { return entries_.erase(key) != 0; }

std::vector<Quarantine::Entry> Quarantine::Locked() const {
  std::vector<Entry> locked;
  for (const auto& [key, entry] : entries_) {
    if (entry.locked) locked.push_back(entry);
  }
  return locked;
}

}  // namespace tritond::server
