// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_AUTOTUNE_FEATURE_TABLE_H_
#define SERVER_AUTOTUNE_FEATURE_TABLE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tritond::server {

// The numbers of one candidate, by their names: options, and what its compile says of it.
using Numbers = std::map<std::string, double>;

// The numbers in a candidate's name: "BLOCK_M=128, num_warps: 8" has BLOCK_M and num_warps; of "128x64 w8" come "0",
// "1" and "w". A number without a name is called by its place among those.
Numbers NumbersInName(absl::string_view name);

// One row a candidate, one column a number that not all candidates share, on a scale from 0 to 1. Numbers that double
// from value to value (tile sizes, warps) are ranked by their order, and so are all others. A column holds how many
// different smaller values there are. What a candidate lacks counts as smaller than all. Columns that say the same as
// an earlier one are left out.
std::vector<std::vector<double>> FeatureTable(const std::vector<Numbers>& candidates);

}  // namespace tritond::server

#endif  // SERVER_AUTOTUNE_FEATURE_TABLE_H_
