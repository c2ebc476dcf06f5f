// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_CLOSEST_NAME_H_
#define SERVER_APP_CLOSEST_NAME_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tritond::server {

// The one of `names` that `word` most likely misspells or abbreviates; "" when none is near. One edit (a letter more,
// less or another, or two letters swapped) in three letters is near.
std::string ClosestName(absl::string_view word, const std::vector<std::string>& names);

}  // namespace tritond::server

#endif  // SERVER_APP_CLOSEST_NAME_H_
