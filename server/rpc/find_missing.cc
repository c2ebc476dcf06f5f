// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {

grpc::ServerUnaryReactor* FindMissing(Engine& engine, grpc::CallbackServerContext* context,
                                      const v1::FindMissingRequest* request, v1::FindMissingResponse* response) {
  std::vector<cache::Digest> digests;
  for (int i = 0; i < request->digests_size(); ++i) {
    absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(request->digests(i));
    if (!digest.ok()) {
      return FinishNow(context, InvalidRequest({{absl::StrCat("digests[", i, "]"), "must be 64 hexadecimal digits"}}));
    }
    digests.push_back(*digest);
  }
  absl::StatusOr<std::vector<cache::Digest>> missing = engine.blobs().FindMissing(digests);
  if (!missing.ok()) return FinishNow(context, missing.status());
  for (const cache::Digest& digest : *missing) response->add_missing(digest.ToHex());
  return FinishNow(context, absl::OkStatus());
}

}  // namespace tritond::server
