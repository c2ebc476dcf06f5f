// SPDX-License-Identifier: Apache-2.0
#include "client/cc/rendezvous.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/request_key/request_key.h"

namespace tritond::client {

std::vector<size_t> RendezvousOrder(absl::string_view key, const std::vector<std::string>& servers) {
  std::vector<std::pair<std::string, size_t>> weighted;
  for (size_t i = 0; i < servers.size(); ++i) {
    // A digest, because the weights must be the same in every client of every version.
    weighted.emplace_back(proto::Sha256Hex(absl::StrCat(servers[i], "\n", key)), i);
  }
  std::sort(weighted.rbegin(), weighted.rend());
  std::vector<size_t> order;
  for (const auto& [weight, index] : weighted) order.push_back(index);
  return order;
}

}  // namespace tritond::client
