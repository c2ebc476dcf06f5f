// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/target_info.h"

#include <algorithm>

namespace tritond::compiler {

std::vector<std::string> MatrixOperandsOf(const TargetInfo& info) {
  std::vector<std::string> operands;
  for (const MatrixShape& shape : info.matrix_instructions)
    if (std::find(operands.begin(), operands.end(), shape.operands) == operands.end())
      operands.push_back(shape.operands);
  return operands;
}

int MaxWarps(const TargetInfo& info) { return info.max_threads / info.lanes; }

std::vector<OptionRule> OptionRulesOf(const TargetInfo& info) {
  // That of the GPUs that most kernels are written for; a block of wider warps has as many as fit.
  constexpr int kMostWarps = 32;
  std::vector<OptionRule> rules = {
      {"num_warps", OptionKind::kPowerOfTwo, 1, std::max(kMostWarps, MaxWarps(info))},
      {"num_ctas", OptionKind::kPowerOfTwo, 1, info.max_ctas},
      {"num_stages", OptionKind::kInteger, 0, 64},
      {"warp_size", OptionKind::kPowerOfTwo, 16, 64},  // of the GPU that a frontend wrote the kernel for
      {"enable_fp_fusion", OptionKind::kBoolean},
      {"debug", OptionKind::kBoolean},
  };
  rules.insert(rules.end(), info.own_options.begin(), info.own_options.end());
  return rules;
}

}  // namespace tritond::compiler
