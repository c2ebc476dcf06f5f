// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/intel/own_options.h"

namespace tritond::compiler::intel {

std::vector<OptionRule> OwnRules() { return {{kBlockReads, OptionKind::kBoolean}}; }

}  // namespace tritond::compiler::intel
