// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <vector>

#include "proto/request_key/request_key.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {
namespace {

// Those that the catalog knows. Where no worker is attached, the other builds that made stored results follow.
std::vector<KnownTarget> TargetsOf(const CompileBroker& broker) {
  std::vector<KnownTarget> targets;
  const auto add_stored = [&](const std::string& name, const std::string& active_build) {
    for (const std::string& build : broker.store().index().Builds(name)) {
      if (build == active_build) continue;
      targets.push_back(
          {name, build, "", /*binary_available=*/false, "stored results alone: no worker has this build"});
    }
  };
  std::set<std::string> known;
  for (const KnownTarget& target : broker.targets().List()) {
    known.insert(target.name);
    targets.push_back(target);
    if (!target.attached) add_stored(target.name, target.build_id);
  }
  for (const std::string& name : broker.store().index().Targets()) {
    if (known.count(name) == 0) add_stored(name, "");
  }
  return targets;
}

}  // namespace

void FillDescription(CompileBroker& broker, v1::DescribeResponse* response) {
  response->set_version(broker.config().version);
  response->set_key_schema_version(proto::kKeySchemaVersion);
  response->set_max_ir_bytes(broker.config().limits.max_ir_bytes);
  response->set_max_inline_bytes(broker.config().store.inline_bytes);
  for (const KnownTarget& target : TargetsOf(broker)) {
    v1::DescribeResponse::Target& out = *response->add_targets();
    out.set_name(target.name);
    out.set_build_id(target.build_id);
    out.set_binary_format(target.binary_format);
    out.set_binary_available(target.binary_available);
    out.set_why_not(target.why_not);
    out.set_attached(target.attached);
    for (const OptionRule& rule : target.options) {
      v1::OptionRule& option = *out.add_options();
      option.set_name(rule.name);
      option.set_kind(static_cast<v1::OptionKind>(rule.kind));
      option.set_least(rule.least);
      option.set_most(rule.most);
    }
  }
}

grpc::ServerUnaryReactor* Describe(CompileBroker& broker, grpc::CallbackServerContext* context,
                                   v1::DescribeResponse* response) {
  FillDescription(broker, response);
  return FinishNow(context, absl::OkStatus());
}

}  // namespace tritond::server
