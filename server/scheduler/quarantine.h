// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_SCHEDULER_QUARANTINE_H_
#define SERVER_SCHEDULER_QUARANTINE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace tritond::server {

// Remembers which keys killed workers, and locks up those that did it `kills` times for `period`. A key whose kills lie
// longer apart than `period` starts afresh. Of a worker that vanished it may turn out later that it was killed: until
// then its leases are suspects. Bounded: the oldest entries and suspects are forgotten first. Not thread-safe.
class Quarantine final {
 public:
  struct Entry {
    std::string key;
    std::string label, tenant;           // of the job that killed last
    std::vector<std::string> reports;    // one a kill
    std::optional<std::string> by_hand;  // the operator's reason, which may be ""; none: it is locked by its kills
    absl::Time since;                    // of the last kill, or since it was locked by hand
    bool locked = false;

    // Why it is locked up, for its callers.
    std::string Why() const;
  };

  Quarantine(int kills, absl::Duration period, size_t max_entries = 1024)
      : kills_(kills), period_(period), max_entries_(max_entries) {}

  // Notes a kill; true when the key is locked up now.
  bool AddKill(const std::string& key, const std::string& label, const std::string& tenant, const std::string& report,
               absl::Time now);
  // A worker vanished with this lease of the key's, nobody knows how.
  void Suspect(uint64_t lease, const std::string& key, const std::string& label, const std::string& tenant);
  // It was killed: AddKill for the lease's key, once. The key when it is locked up now; "" when not, or when the lease
  // is no suspect.
  std::string Convict(uint64_t lease, const std::string& report, absl::Time now);
  // Locks a key up at once, for a reason of the operator's, or "".
  void Lock(const std::string& key, const std::string& reason, absl::Time now);
  // The entry of a key that is locked up; null when it is free.
  const Entry* Find(const std::string& key, absl::Time now);
  // What is known of a key so far, locked up or not.
  Entry EntryOf(const std::string& key) const;
  // False when it is not in.
  bool Release(const std::string& key);
  std::vector<Entry> Locked() const;

 private:
  struct SuspectedJob {
    std::string key, label, tenant;
  };

  Entry& Touch(const std::string& key, absl::Time now);

  const int kills_;
  const absl::Duration period_;
  const size_t max_entries_;
  std::map<std::string, Entry> entries_;
  std::map<uint64_t, SuspectedJob> suspects_;  // by lease: the oldest first
};

}  // namespace tritond::server

#endif  // SERVER_SCHEDULER_QUARANTINE_H_
