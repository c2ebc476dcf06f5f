// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CC_RENDEZVOUS_H_
#define CLIENT_CC_RENDEZVOUS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tritond::client {

// The servers' indices in the order in which `key` prefers them, by highest random weight (Thaler and Ravishankar,
// 1998). Every client that knows the same names has the same order, whatever the order of its list, so that equal keys
// meet at one server. A server that comes or goes moves only the keys that are its own. Names should be distinct.
std::vector<size_t> RendezvousOrder(absl::string_view key, const std::vector<std::string>& servers);

}  // namespace tritond::client

#endif  // CLIENT_CC_RENDEZVOUS_H_
