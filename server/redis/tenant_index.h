// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_REDIS_TENANT_INDEX_H_
#define SERVER_REDIS_TENANT_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "cache/api/digest.h"
#include "server/retention/result_index.h"

namespace tritond::server {

// Which values each tenant has, and which of them go when there is too much. A tenant has a limit of its own. When all
// together have too much, the tenants that store most give: nobody loses a value while another tenant stores more.
// Thread-safe.
class TenantIndex final {
 public:
  // Bytes; 0: no limit.
  struct Limits {
    uint64_t all = 0, tenant = 0;
  };

  explicit TenantIndex(Limits limits) : limits_(limits) {}

  // In place of an earlier value of the same key, whose tenant is the same.
  void Add(const std::string& tenant, const IndexedResult& value);
  // The value was used; nothing when it is not there.
  void Touch(const cache::Digest& key);
  void Remove(const cache::Digest& key);
  // Takes out what is above the limits, of each tenant what is worth least, but not what came last.
  std::vector<cache::Digest> Shrink();

  bool Has(const cache::Digest& key) const;
  size_t size() const;
  uint64_t size_bytes() const;

 private:
  // The most that each tenant may have, so that all together have no more than their limit.
  uint64_t ShareOfEach() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Limits limits_;
  mutable absl::Mutex mu_;
  std::map<std::string, ResultIndex> tenants_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<cache::Digest, ResultIndex*> owners_ ABSL_GUARDED_BY(mu_);  // in `tenants_`
};

}  // namespace tritond::server

#endif  // SERVER_REDIS_TENANT_INDEX_H_
