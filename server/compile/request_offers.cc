// SPDX-License-Identifier: Apache-2.0
#include "server/compile/request_offers.h"

#include <memory>
#include <utility>

#include "server/compile/compile_call.h"
#include "server/compile/source_places.h"

namespace tritond::server {

std::string RequestOffers::Write(const JobSpec& spec) const {
  return static_cast<const CompilePayload&>(*spec.payload).request->SerializeAsString();
}

std::optional<JobSpec> RequestOffers::Read(absl::string_view text, const std::string& key, const Requirement& needs) {
  v1::CompileRequest offered;
  if (!offered.ParseFromArray(text.data(), static_cast<int>(text.size())) || offered.target() != needs.target)
    return std::nullopt;
  absl::StatusOr<proto::PreparedRequest> read = PrepareRequest(std::move(offered), broker_.config().limits);
  if (!read.ok()) return std::nullopt;
  // Shared with the job that it becomes.
  const auto prepared = std::make_shared<const proto::PreparedRequest>(*std::move(read));
  if (!CheckCompileRequest(*prepared, broker_).empty() || prepared->Key(needs.build_id) != key) return std::nullopt;
  JobSpec spec = SpecOf(prepared, key, needs.build_id);
  spec.id = broker_.activity().NewJobId();
  return spec;
}

}  // namespace tritond::server
