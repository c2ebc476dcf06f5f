// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_ERRORS_VIOLATION_H_
#define SERVER_ERRORS_VIOLATION_H_

#include <string>

namespace tritond::server {

// A field that is wrong, and what to do.
struct Violation {
  std::string field;  // "options.num_warps"
  std::string description;
};

}  // namespace tritond::server

#endif  // SERVER_ERRORS_VIOLATION_H_
