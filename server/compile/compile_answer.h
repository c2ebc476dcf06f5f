// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_COMPILE_COMPILE_ANSWER_H_
#define SERVER_COMPILE_COMPILE_ANSWER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/v1/compile.pb.h"
#include "server/results/result_store.h"

namespace tritond::server {

// How a compile is answered.
struct CompileAnswer {
  std::string key;
  v1::CacheStatus cache = v1::CACHE_STATUS_UNSPECIFIED;
  std::shared_ptr<const StoredResult> result;  // Shared with the cache and other callers.
  absl::Duration queue_time;
  std::string job;  // the id of the compile; "": there was none
};

// Which of its result's artifacts are sent along: in order, while their sum is at most `inline_bytes`.
std::vector<int> InlinedArtifacts(const CompileAnswer& answer, v1::Delivery delivery, uint64_t inline_bytes);

// The answer as a message, with those artifacts.
v1::CompileResponse ToMessage(const CompileAnswer& answer, v1::Delivery delivery, uint64_t inline_bytes);

}  // namespace tritond::server

#endif  // SERVER_COMPILE_COMPILE_ANSWER_H_
