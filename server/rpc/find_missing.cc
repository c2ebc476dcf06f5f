// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "server/errors/parse_digest.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {

grpc::ServerUnaryReactor* FindMissing(CompileBroker& broker, grpc::CallbackServerContext* context,
                                      const v1::FindMissingRequest* request, v1::FindMissingResponse* response) {
  std::vector<cache::Digest> digests;
  for (int i = 0; i < request->digests_size(); ++i) {
    absl::StatusOr<cache::Digest> digest = ParseDigest(absl::StrCat("digests[", i, "]"), request->digests(i));
    if (!digest.ok()) return FinishNow(context, digest.status());
    digests.push_back(*digest);
  }
  const auto answer = [response](const absl::StatusOr<std::vector<cache::Digest>>& missing) {
    for (size_t i = 0; missing.ok() && i < missing->size(); ++i) response->add_missing((*missing)[i].ToHex());
    return missing.status();
  };
  absl::StatusOr<std::vector<cache::Digest>> missing = broker.own_blobs().FindMissing(digests);
  if (broker.cluster() == nullptr || (missing.ok() && missing->empty())) return FinishNow(context, answer(missing));
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  broker.RunBlocking([&broker, reactor, answer, digests = std::move(digests)] {
    reactor->Finish(ToGrpc(answer(broker.blobs().FindMissing(digests))));
  });
  return reactor;
}

}  // namespace tritond::server
