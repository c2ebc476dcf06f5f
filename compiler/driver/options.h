// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_DRIVER_OPTIONS_H_
#define COMPILER_DRIVER_OPTIONS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/targets/target.h"

namespace tritond::compiler {

struct ParsedOptions {
  KernelOptions kernel;
  int warp_size = 0;  // what the request expects of the target; 0: anything
  // Names that this compiler does not know, in order, but for those of upstream's that ask nothing of a compiler.
  std::vector<std::string> ignored;
};

// Reads the flat object of a request; null entries keep their defaults. InvalidArgument, naming the option, its value
// and what is allowed, when a known one has the wrong type or value.
absl::StatusOr<ParsedOptions> ParseOptions(const nlohmann::json& options);

}  // namespace tritond::compiler

#endif  // COMPILER_DRIVER_OPTIONS_H_
