// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_API_JOURNAL_H_
#define CACHE_API_JOURNAL_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tritond::cache {

// Named records that, unlike a Cache's entries, are there until they are removed: what a daemon has promised. Names are
// any bytes, ordered as such. Thread-safe; calls may block on a disk.
class Journal {
 public:
  using Visitor = std::function<void(absl::string_view name, absl::string_view value)>;

  virtual ~Journal() = default;

  // On return the record survives a crash of the process and of the machine. ResourceExhausted when the disk is full;
  // Unavailable for other trouble with it: then the record is as it was before.
  virtual absl::Status Put(absl::string_view name, absl::string_view value) = 0;
  // Ok when there is no such record.
  virtual absl::Status Remove(absl::string_view name) = 0;
  // NotFound, DataLoss.
  virtual absl::StatusOr<std::string> Get(absl::string_view name) = 0;
  // Why Put fails now, for people; "" when it does not.
  virtual std::string Trouble() const { return ""; }
  // Every record whose name begins with `prefix`, in order of names. DataLoss when one is damaged; those before it have
  // been visited.
  virtual absl::Status Visit(absl::string_view prefix, const Visitor& visitor) = 0;
};

}  // namespace tritond::cache

#endif  // CACHE_API_JOURNAL_H_
