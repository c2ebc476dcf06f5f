// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_SCHEDULER_OFFER_FILTER_H_
#define SERVER_SCHEDULER_OFFER_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "server/scheduler/job.h"

namespace tritond::server {

// Which of the scheduler's waiting jobs are to be offered to other daemons. Called with the scheduler locked: must
// neither block nor call back.
struct OfferFilter {
  enum class Choice {
    kOffer,
    kNotNow,  // it is asked about again the next time
    kNever,   // it is not, while it stays in the queue
  };
  std::function<size_t(const Requirement& needs)> most;  // with these needs
  std::function<Choice(uint64_t job, const JobSpec& spec)> choose;
};

}  // namespace tritond::server

#endif  // SERVER_SCHEDULER_OFFER_FILTER_H_
