// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_JOB_ID_H_
#define SERVER_JOBS_JOB_ID_H_

#include <cstdint>
#include <string>

#include "absl/random/random.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tritond::server {

// Makes ids of submitted jobs: UUIDs of version 7 (RFC 9562). Ids sort by time of submission, those of one maker
// strictly, and those of several daemons differ. Not thread-safe.
class JobIdMaker final {
 public:
  std::string Next(absl::Time now);

 private:
  absl::BitGen random_;
  uint64_t last_ = 0;  // milliseconds and the 12 bits after them
};

// Whether the text has the form of an id: 36 characters, lowercase.
bool IsJobId(absl::string_view text);

}  // namespace tritond::server

#endif  // SERVER_JOBS_JOB_ID_H_
