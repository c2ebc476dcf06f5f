// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_COORDINATION_KEY_LEASE_TABLE_H_
#define CACHE_COORDINATION_KEY_LEASE_TABLE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cache/api/blob.h"
#include "cache/api/digest.h"

namespace tritond::cache {

// Somebody's right to make the value of a key, for a while. The token grows with every lease of the key. It fences
// writes: a holder that lost a lease without noticing cannot replace what a later holder wrote.
struct KeyLease {
  Digest key;
  std::string owner;   // of this one attempt: no two attempts share it
  uint64_t token = 0;  // 0: no lease; what is written under it gives way to everything else
};

// Leases by key in an engine that a cluster shares, beside the values that are made under them. A lease saves work and
// protects nothing: it may be lost at any time, and the same value made twice must do no harm.
//
// Thread-safe. Calls may block on a network; each may fail with Unavailable (the engine is away) and Internal.
class KeyLeaseTable {
 public:
  enum class State {
    kGranted,  // the lease is the caller's
    kHeld,     // it is another's
    kFree,     // it is nobody's, and was not to be taken
    kDone,     // the value is there
    kFailed,   // making it failed for good a short while ago, or for this owner
  };
  struct Answer {
    State state = State::kFree;
    KeyLease lease;     // with kGranted
    std::string error;  // with kFailed: what PublishError or Tell was given
  };
  struct Wish {
    bool take = true;             // otherwise only look
    bool ignore_outcome = false;  // neither kDone nor kFailed: it is to be made anew
    bool follow = false;          // its holder, if there is one, hears for two lifetimes that somebody waits
  };
  struct Renewal {
    bool kept = false;      // false: another has had the lease since
    bool followed = false;  // somebody does
  };

  virtual ~KeyLeaseTable() = default;

  // Looks for the value, then for the lease. Asking again as the same owner gives the same lease.
  virtual absl::StatusOr<Answer> Ask(const Digest& key, const std::string& owner, absl::Duration lifetime,
                                     const Wish& wish) = 0;
  // Whether the lease is still, or again, its owner's, for another `lifetime`.
  virtual absl::StatusOr<Renewal> Renew(const KeyLease& lease, absl::Duration lifetime) = 0;
  // One follower is gone: the holder hears of none, until another asks again. Ok when there was none.
  virtual absl::Status Unfollow(const Digest& key) = 0;
  // Ok when it was lost before.
  virtual absl::Status Release(const KeyLease& lease) = 0;
  // Stores the value made under the lease, and releases it. False, and nothing changes, when a later holder's value is
  // there, or any value when the token is 0.
  virtual absl::StatusOr<bool> Publish(const KeyLease& lease, Blob value) = 0;
  // The same for a failure that would come again, kept for `lifetime`. A value that is there stays.
  virtual absl::StatusOr<bool> PublishError(const KeyLease& lease, const std::string& error,
                                            absl::Duration lifetime) = 0;
  // Has `owner`, and nobody else, find that making it failed, also when it ignores outcomes; for `lifetime`.
  virtual absl::Status Tell(const Digest& key, const std::string& owner, const std::string& error,
                            absl::Duration lifetime) = 0;
  // Forgets the failure. Ok when there is none.
  virtual absl::Status ForgetError(const Digest& key) = 0;
};

}  // namespace tritond::cache

#endif  // CACHE_COORDINATION_KEY_LEASE_TABLE_H_
