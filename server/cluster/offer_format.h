// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_CLUSTER_OFFER_FORMAT_H_
#define SERVER_CLUSTER_OFFER_FORMAT_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// The text in which daemons offer each other what a job is about. Thread-safe.
class OfferFormat {
 public:
  virtual ~OfferFormat() = default;
  virtual std::string Write(const JobSpec& spec) const = 0;
  // The job of a text that was offered under this key, with a new id. Nothing when the text has another key, is for
  // another target than that of `needs`, or is nothing that this daemon compiles.
  virtual std::optional<JobSpec> Read(absl::string_view text, const std::string& key, const Requirement& needs) = 0;
};

}  // namespace tritond::server

#endif  // SERVER_CLUSTER_OFFER_FORMAT_H_
