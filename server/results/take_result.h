// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RESULTS_TAKE_RESULT_H_
#define SERVER_RESULTS_TAKE_RESULT_H_

#include "absl/status/statusor.h"
#include "proto/v1/artifact.pb.h"
#include "server/results/result_store.h"

namespace tritond::server {

// The parts of a record that BundleVerifier has visited, to be kept.
absl::StatusOr<FreshResult> TakeResult(v1::BundleRecord record);

}  // namespace tritond::server

#endif  // SERVER_RESULTS_TAKE_RESULT_H_
