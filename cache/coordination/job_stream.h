// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_COORDINATION_JOB_STREAM_H_
#define CACHE_COORDINATION_JOB_STREAM_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace tritond::cache {

// A stream's name: those of one group can be read with one call.
struct StreamName {
  std::string group, name;
};

// Work that somebody offers. What it is about stays opaque.
struct StreamEntry {
  std::string id;  // the engine's
  StreamName stream;
  std::string key;
  std::string asker;  // who offers it, as the KeyLeaseTable knows that one; "": not known
  // How long anybody goes on to want it, when it is added; what is left of that when it is taken. The machines' clocks
  // need not agree.
  absl::Duration remaining = absl::InfiniteDuration();
  std::string body;
};

// Streams of offers in an engine that a cluster shares. An entry goes to one taker at a time and stays until it is
// removed; what a taker that died had can be taken over. Streams are bounded: old entries go when too many come, and
// idle streams vanish, so an offer may be lost. Its maker must not depend on it.
//
// Thread-safe. Calls may block on a network; each may fail with Unavailable (the engine is away) and Internal.
class JobStream {
 public:
  virtual ~JobStream() = default;

  // Offers; gives the entry's id.
  virtual absl::StatusOr<std::string> Add(const StreamEntry& entry) = 0;
  // Ok when it has gone.
  virtual absl::Status Remove(const StreamName& stream, const std::string& id) = 0;
  // Up to `count` entries that nobody has taken, of the first streams first; the streams are of one group.
  virtual absl::StatusOr<std::vector<StreamEntry>> Take(absl::Span<const StreamName> streams, const std::string& taker,
                                                        int count) = 0;
  // Up to `count` entries that were taken, or taken over, longer than `idle` ago.
  virtual absl::StatusOr<std::vector<StreamEntry>> TakeOver(const StreamName& stream, const std::string& taker,
                                                            absl::Duration idle, int count) = 0;
};

}  // namespace tritond::cache

#endif  // CACHE_COORDINATION_JOB_STREAM_H_
