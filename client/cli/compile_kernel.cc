// SPDX-License-Identifier: Apache-2.0
#include "client/cli/compile_kernel.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cc/retry.h"
#include "proto/plain_text/nearest_word.h"

namespace tritond::client {
namespace {

constexpr absl::Duration kDescribeLimit = absl::Seconds(2);

// "" when the server does not say, or has nothing alike.
std::string LikelyTarget(Client& client, const std::string& target) {
  const auto described = client.Describe(absl::Now() + kDescribeLimit);
  if (!described.ok()) return "";
  std::vector<std::string> names;
  for (const auto& known : described->targets()) names.push_back(known.name());
  return proto::NearestTarget(target, names);
}

}  // namespace

absl::StatusOr<v1::CompileResponse> CompileKernel(Client& client, const v1::CompileRequest& request,
                                                  absl::Time deadline) {
  auto response = client.Compile(request, deadline);
  if (response.ok() || ReasonOf(response.status()) != "UNKNOWN_TARGET") return response;
  const std::string likely = LikelyTarget(client, request.target());
  if (likely.empty() || likely == request.target()) return response;
  const absl::Status error = response.status();
  absl::Status hinted(error.code(), absl::StrCat(error.message(), "; did you mean --target ", likely, "?"));
  error.ForEachPayload([&](absl::string_view type, const absl::Cord& payload) { hinted.SetPayload(type, payload); });
  return hinted;
}

}  // namespace tritond::client
