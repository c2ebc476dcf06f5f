// SPDX-License-Identifier: Apache-2.0
// A server may refuse items of a batch for now, because it drains or its queue is full. They are asked for again, like
// a call of their own, and reported only when no further try follows.
#ifndef CLIENT_CC_BATCH_END_H_
#define CLIENT_CC_BATCH_END_H_

#include <map>
#include <vector>

#include "absl/status/status.h"
#include "client/cc/client.h"

namespace tritond::client {

// The latest refusal of each item that had one, by index.
using Refusals = std::map<size_t, absl::Status>;

// Reports the refusals of those `missing` that have one. Ok when that is all of them: every result has come then; else
// `status`.
absl::Status EndBatch(const absl::Status& status, const std::vector<size_t>& missing, const Refusals& refusals,
                      const Client::BatchCallback& on_result);

}  // namespace tritond::client

#endif  // CLIENT_CC_BATCH_END_H_
