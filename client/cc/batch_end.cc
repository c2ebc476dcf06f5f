// SPDX-License-Identifier: Apache-2.0
#include "client/cc/batch_end.h"

namespace tritond::client {

absl::Status EndBatch(const absl::Status& status, const std::vector<size_t>& missing, const Refusals& refusals,
                      const Client::BatchCallback& on_result) {
  bool all = true;
  for (const size_t index : missing) {
    const auto refusal = refusals.find(index);
    all = all && refusal != refusals.end();
    if (refusal != refusals.end()) on_result(index, refusal->second);
  }
  return all ? absl::OkStatus() : status;
}

}  // namespace tritond::client
