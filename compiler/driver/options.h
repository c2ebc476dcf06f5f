// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_DRIVER_OPTIONS_H_
#define COMPILER_DRIVER_OPTIONS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/driver/compile.h"
#include "compiler/targets/target.h"

namespace tritond::compiler {

struct ParsedOptions {
  KernelOptions kernel;
  // Names that this compiler does not know, in order, but for those of upstream's that ask nothing of a compiler.
  std::vector<std::string> ignored;
};

// Reads the flat object of a request by the rules of `target`; null entries keep their defaults. InvalidArgument,
// naming the option, its value and what is allowed, when one breaks its rule. `input`: the stage of the request's IR.
// - Of ttir, a block gets as many of num_warps as fit: options are often those of a GPU with narrower warps.
// - Later IR is made for its number of warps, so more than fit are an error. It may be warp-specialised: num_warps may
//   then be the total of all partitions.
absl::StatusOr<ParsedOptions> ParseOptions(const nlohmann::json& options, const Target& target,
                                           Stage input = Stage::kTtir);

}  // namespace tritond::compiler

#endif  // COMPILER_DRIVER_OPTIONS_H_
