// SPDX-License-Identifier: Apache-2.0
// What can be said about a request without reading its IR: sizes, target syntax, stages, types and ranges of known
// options.
#ifndef SERVER_ADMISSION_CHECK_REQUEST_H_
#define SERVER_ADMISSION_CHECK_REQUEST_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/admission/option_rule.h"
#include "server/errors/violation.h"

namespace tritond::server {

inline constexpr size_t kMaxTenantBytes = 128;
inline constexpr size_t kMaxLabelBytes = 1024;

struct RequestFacts {
  std::string target;
  std::string tenant, label;
  uint64_t ir_bytes = 0;
  int input = 0;  // positions in the pipeline: 1 is ttir, 5 is binary
  std::vector<int> outputs;
  nlohmann::json options;
  std::vector<OptionRule> rules;  // of the target; none where it is not known, and its worker checks
};

struct AdmissionLimits {
  uint64_t max_ir_bytes = uint64_t{64} << 20;
  size_t max_options = 1000;
};

// Everything that is wrong, empty when nothing is. Unknown options are right; a known one may be null, which means
// absent.
std::vector<Violation> CheckRequest(const RequestFacts& facts, const AdmissionLimits& limits);

// What is wrong with IR of this size, where something is; CheckRequest says it too.
std::optional<Violation> CheckIrSize(uint64_t bytes, const AdmissionLimits& limits);

// Whether a tenant may be called so: text of at most kMaxTenantBytes without control characters.
bool IsTenantName(absl::string_view name);

// "cuda:90a", "hip:gfx942", "host": a vendor in lower case and, after a colon, what it calls the architecture.
bool IsTargetSyntax(absl::string_view target);

}  // namespace tritond::server

#endif  // SERVER_ADMISSION_CHECK_REQUEST_H_
