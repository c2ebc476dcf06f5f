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
  // Names that this compiler does not know, in order, but for those of upstream's that ask nothing of a compiler.
  std::vector<std::string> ignored;
};

// Reads the flat object of a request by the rules of `target`; null entries keep their defaults. InvalidArgument,
// naming the option, its value and what is allowed, when one breaks its rule. `has_partitions`: the request is for IR
// that may be warp-specialised, whose num_warps may be the total of all partitions.
absl::StatusOr<ParsedOptions> ParseOptions(const nlohmann::json& options, const Target& target,
                                           bool has_partitions = false);

}  // namespace tritond::compiler

#endif  // COMPILER_DRIVER_OPTIONS_H_
