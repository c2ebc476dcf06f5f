// SPDX-License-Identifier: Apache-2.0
#include "server/compile/compile_answer.h"

#include "google/protobuf/util/time_util.h"

namespace tritond::server {

std::vector<int> InlinedArtifacts(const CompileAnswer& answer, v1::Delivery delivery, uint64_t inline_bytes) {
  std::vector<int> inlined;
  if (delivery == v1::DELIVERY_DIGESTS) return inlined;
  uint64_t sum = 0;
  for (int i = 0; i < answer.result->action.artifacts_size(); ++i) {
    const cache::Blob& blob = answer.result->artifacts[i];
    if (blob.size() != answer.result->action.artifacts(i).size_bytes() || sum + blob.size() > inline_bytes) continue;
    sum += blob.size();
    inlined.push_back(i);
  }
  return inlined;
}

v1::CompileResponse ToMessage(const CompileAnswer& answer, v1::Delivery delivery, uint64_t inline_bytes) {
  v1::CompileResponse response;
  response.set_key(answer.key);
  response.set_cache(answer.cache);
  response.set_job(answer.job);
  *response.mutable_result() = answer.result->action;
  if (answer.queue_time > absl::ZeroDuration()) {
    *response.mutable_queue_time() =
        google::protobuf::util::TimeUtil::NanosecondsToDuration(absl::ToInt64Nanoseconds(answer.queue_time));
  }
  for (int i : InlinedArtifacts(answer, delivery, inline_bytes)) {
    v1::Blob& out = *response.add_blobs();
    out.set_digest(answer.result->action.artifacts(i).digest());
    out.set_data(answer.result->artifacts[i].data(), answer.result->artifacts[i].size());
  }
  return response;
}

}  // namespace tritond::server
