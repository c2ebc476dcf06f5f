// SPDX-License-Identifier: Apache-2.0
#include "server/autotune/turn.h"

#include <algorithm>

namespace tritond::server {

std::vector<size_t> OrderOf(const Turn& turn, int round) {
  std::vector<size_t> order = turn.candidates;
  if (round % 2 == 1) std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace tritond::server
