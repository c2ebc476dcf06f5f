// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "server/errors/error_details.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {
namespace {

constexpr size_t kLeastDigits = 4, kMostDigits = 64, kMostKeys = 64;

bool IsPrefix(const std::string& text) {
  return text.size() >= kLeastDigits && text.size() <= kMostDigits &&
         std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f'); });
}

}  // namespace

grpc::ServerUnaryReactor* FindKeys(CompileBroker& broker, grpc::CallbackServerContext* context,
                                   const v1::FindKeysRequest* request, v1::FindKeysResponse* response) {
  if (!IsPrefix(request->prefix()))
    return FinishNow(context, WithReason(absl::InvalidArgumentError("prefix: must be 4 to 64 lowercase hex digits"),
                                         Reason::kBadRequest));
  std::vector<std::string> keys = broker.store().index().KeysWithPrefix(request->prefix(), kMostKeys + 1);
  response->set_more(keys.size() > kMostKeys);
  if (keys.size() > kMostKeys) keys.resize(kMostKeys);
  for (std::string& key : keys) response->add_keys(std::move(key));
  return FinishNow(context, absl::OkStatus());
}

}  // namespace tritond::server
