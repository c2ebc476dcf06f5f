// SPDX-License-Identifier: Apache-2.0
// One operation on every element of one to three arrays, and what it should give. The arrays have an odd length, so
// each kernel is masked.
#ifndef TESTS_CONFORMANCE_ELEMENTWISE_CASE_H_
#define TESTS_CONFORMANCE_ELEMENTWISE_CASE_H_

#include <functional>

#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {

struct ElementwiseCase {
  std::string name;
  std::string body;  // defines %y of $TO from %x0 … of $T0 …; a block has $B elements
  std::vector<std::string> inputs;
  std::string output;
  // Element i of the result.
  std::function<void(const std::vector<Array>&, size_t, Array&)> expected;
  double tolerance = 0;
  bool moderate = false;  // inputs of moderate size
  // Makes the inputs such that the operation is defined.
  std::function<void(std::vector<Array>&)> prepare = nullptr;
};

void PrintTo(const ElementwiseCase& c, std::ostream* os);
// For test names: letters and digits of the case's name.
std::string NameElementwiseCase(const testing::TestParamInfo<ElementwiseCase>& info);

// Runs the case's kernel on one of the machines and compares.
void RunElementwiseCase(const ElementwiseCase& c);

}  // namespace tritond::conformance

#endif  // TESTS_CONFORMANCE_ELEMENTWISE_CASE_H_
