// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_CONFORMANCE_COVER_PAIRS_H_
#define TESTS_CONFORMANCE_COVER_PAIRS_H_

#include <vector>

namespace tritond::conformance {

// Test cases for several parameters, parameter i with counts[i] values. A row has the number of a value for each. Any
// two values of any two parameters are together in some row. There are a few rows more than the two largest counts
// multiplied, where all combinations would be as many as all counts multiplied. The same counts give the same rows.
std::vector<std::vector<int>> CoverPairs(const std::vector<int>& counts);

}  // namespace tritond::conformance

#endif  // TESTS_CONFORMANCE_COVER_PAIRS_H_
