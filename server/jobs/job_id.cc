// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/job_id.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace tritond::server {

std::string JobIdMaker::Next(absl::Time now) {
  // Ids of one millisecond are told apart by counting; a clock that steps back does not step the ids back.
  last_ = std::max(last_ + 1, static_cast<uint64_t>(absl::ToUnixMillis(now)) << 12);
  const uint64_t milliseconds = last_ >> 12;
  const uint64_t random = absl::Uniform<uint64_t>(random_);
  return absl::StrFormat("%08x-%04x-7%03x-%04x-%012x", milliseconds >> 16, milliseconds & 0xffff, last_ & 0xfff,
                         0x8000 | (random >> 50), random & 0xffffffffffff);
}

bool IsJobId(absl::string_view text) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool hex = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
    if (dash ? text[i] != '-' : !hex) return false;
  }
  return true;
}

}  // namespace tritond::server
