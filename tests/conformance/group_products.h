// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_CONFORMANCE_GROUP_PRODUCTS_H_
#define TESTS_CONFORMANCE_GROUP_PRODUCTS_H_

#include <ostream>
#include <string>

#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {

// A kernel whose one program computes products of several groups, some of them empty. It loads their sizes and makes
// descriptors in loops: of the left tensor for a group, of the right one for each of a group's two parts.
struct GroupProducts {
  int stages = 3;
  bool knows_tensors = true;  // else it makes pointers of numbers, a null one for an empty left tensor
  bool is_guarded = false;    // empty groups have no tiles; else one
  bool counts_tiles = true;   // by scf.for, else by scf.while
};

std::string NameOf(const GroupProducts& g);
void PrintTo(const GroupProducts& g, std::ostream* os);

// Its Triton IR. The parameters are the arrays below.
std::string TextOf(const GroupProducts& g);
Array GroupLefts();
Array GroupRights();
Array GroupSizes();
Array GroupResults();  // not yet computed
Array ExpectedOf(const GroupProducts& g);

}  // namespace tritond::conformance

#endif  // TESTS_CONFORMANCE_GROUP_PRODUCTS_H_
