// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RESULTS_OUTCOME_ERROR_H_
#define SERVER_RESULTS_OUTCOME_ERROR_H_

#include <string>

#include "absl/status/status.h"
#include "server/scheduler/job.h"

namespace tritond::server {

// Why a job of the scheduler's failed, with everything known about it.
absl::Status FromOutcome(const std::string& key, const Outcome& outcome);

}  // namespace tritond::server

#endif  // SERVER_RESULTS_OUTCOME_ERROR_H_
