// SPDX-License-Identifier: Apache-2.0
// How often PTX text has the instructions that decide how fast it is.
#ifndef TESTS_STRUCTURE_ASSEMBLY_COUNTS_H_
#define TESTS_STRUCTURE_ASSEMBLY_COUNTS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tritond::structure {

// The head of a table, and the row of a kernel: a column for each kind of instruction. Both end with a line break.
std::string TableHead();
std::string TableRow(const std::string& kernel, absl::string_view ptx);

}  // namespace tritond::structure

#endif  // TESTS_STRUCTURE_ASSEMBLY_COUNTS_H_
