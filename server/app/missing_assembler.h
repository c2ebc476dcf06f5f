// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_MISSING_ASSEMBLER_H_
#define SERVER_APP_MISSING_ASSEMBLER_H_

#include <string>
#include <vector>

#include "server/admission/target_catalog.h"

namespace tritond::server {

// One sentence about attached targets of which no worker makes any binary. It names their families ("cuda" of
// "cuda:90"), and what the workers say is to be installed. "" when there are none.
std::string DescribeMissingAssemblers(const std::vector<KnownTarget>& targets);

}  // namespace tritond::server

#endif  // SERVER_APP_MISSING_ASSEMBLER_H_
