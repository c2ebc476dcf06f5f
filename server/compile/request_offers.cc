// SPDX-License-Identifier: Apache-2.0
#include "server/compile/request_offers.h"

#include <memory>
#include <utility>

#include "server/compile/compile_call.h"

namespace tritond::server {

std::string RequestOffers::Write(const JobSpec& spec) const {
  return static_cast<const CompilePayload&>(*spec.payload).request->SerializeAsString();
}

std::optional<JobSpec> RequestOffers::Read(absl::string_view text, const std::string& key, const Requirement& needs) {
  v1::CompileRequest offered;
  if (!offered.ParseFromArray(text.data(), static_cast<int>(text.size())) || offered.target() != needs.target ||
      !CheckCompileRequest(offered, broker_).empty())
    return std::nullopt;
  absl::StatusOr<proto::PreparedRequest> prepared = proto::Prepare(std::move(offered));
  if (!prepared.ok() || prepared->Key(needs.build_id) != key) return std::nullopt;
  // Shared with the job that it becomes.
  auto request = std::make_shared<const v1::CompileRequest>((*std::move(prepared)).TakeMessage());
  JobSpec spec = SpecOf(request, key, needs.build_id);
  spec.id = broker_.activity().NewJobId();
  return spec;
}

}  // namespace tritond::server
