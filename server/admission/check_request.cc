// SPDX-License-Identifier: Apache-2.0
#include "server/admission/check_request.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "absl/strings/str_cat.h"
#include "proto/plain_text/plain_text.h"

namespace tritond::server {
namespace {

using nlohmann::json;

constexpr int kTtir = 1;
constexpr int kAsm = 4;
constexpr int kDisassembly = 6;

// Of options that ask nothing of a compiler and that launchers or people read.
const std::vector<OptionRule>& CommonRules() {
  static const auto* rules = new std::vector<OptionRule>{{"sanitize_overflow", OptionKind::kBoolean},
                                                         {"launch_cooperative_grid", OptionKind::kBoolean},
                                                         {"launch_pdl", OptionKind::kBoolean},
                                                         {"default_dot_input_precision", OptionKind::kText},
                                                         {"name", OptionKind::kText}};
  return *rules;
}

// Whether the compiler is to say what is wrong. Metadata of warp-specialised kernels, sent back as options, have the
// warps of all partitions, in groups of four: that is no mistake of the caller.
bool IsForTheCompiler(const OptionRule& rule, const json& value) {
  if (rule.name != "num_warps" || !value.is_number_integer()) return false;
  const int64_t warps = value.get<int64_t>();
  return warps >= rule.least && warps <= rule.most && warps % 4 == 0;
}

void CheckOptions(const json& options, const std::vector<OptionRule>& rules, std::vector<Violation>* violations) {
  for (const OptionRule& rule : rules) {
    auto it = options.find(rule.name);
    if (it == options.end() || Keeps(rule, *it) || IsForTheCompiler(rule, *it)) continue;
    violations->push_back(
        {absl::StrCat("options.", rule.name), absl::StrCat(RuleText(rule), ", not ", it->dump().substr(0, 100))});
  }
}

void CheckAllOptions(const RequestFacts& facts, size_t max_options, std::vector<Violation>* violations) {
  if (facts.options.is_null()) return;
  if (facts.options.size() > max_options) {
    violations->push_back(
        {"options", absl::StrCat("at most ", max_options, " are taken, these are ", facts.options.size())});
  }
  CheckOptions(facts.options, CommonRules(), violations);
  CheckOptions(facts.options, facts.rules, violations);
}

void CheckStages(const RequestFacts& facts, std::vector<Violation>* violations) {
  if (facts.input < kTtir || facts.input > kAsm) {
    violations->push_back({"input", "must be ttir, ttgir, llir or asm"});
    return;
  }
  for (size_t i = 0; i < facts.outputs.size(); ++i) {
    const int output = facts.outputs[i];
    const std::string field = absl::StrCat("outputs[", i, "]");
    if (output < kTtir || output > kDisassembly) {
      violations->push_back({field, "is no stage that this server knows"});
    } else if (output < facts.input || (output == facts.input && output != kTtir)) {
      // Of ttir there is a canonical form.
      violations->push_back({field, "must be a later stage than the input"});
    }
  }
}

// Names go into logs, metrics and pages.
void CheckName(const char* field, const std::string& name, size_t most, std::vector<Violation>* violations) {
  if (name.size() > most) violations->push_back({field, absl::StrCat("has ", name.size(), " bytes, more than ", most)});
  if (!proto::IsPlainText(name)) violations->push_back({field, "must be text without control characters"});
}

}  // namespace

bool IsTenantName(absl::string_view name) { return name.size() <= kMaxTenantBytes && proto::IsPlainText(name); }

bool IsTargetSyntax(absl::string_view target) {
  constexpr size_t kMaxLength = 100;
  if (target.empty() || target.size() > kMaxLength || !std::islower(static_cast<unsigned char>(target[0])))
    return false;
  const size_t colon = target.find(':');
  const absl::string_view vendor = target.substr(0, colon);
  const bool vendor_ok = std::all_of(vendor.begin(), vendor.end(),
                                     [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; });
  if (!vendor_ok || colon == absl::string_view::npos) return vendor_ok;
  const absl::string_view arch = target.substr(colon + 1);
  return !arch.empty() && std::all_of(arch.begin(), arch.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '+' || c == ':' || c == '.';
  });
}

std::optional<Violation> CheckIrSize(uint64_t bytes, const AdmissionLimits& limits) {
  if (bytes == 0) return Violation{"ir", "is empty"};
  if (bytes <= limits.max_ir_bytes) return std::nullopt;
  return Violation{"ir", absl::StrCat("has ", bytes, " bytes, more than the ", limits.max_ir_bytes,
                                      " that this server takes (--max-ir-bytes)")};
}

std::vector<Violation> CheckRequest(const RequestFacts& facts, const AdmissionLimits& limits) {
  std::vector<Violation> violations;
  if (!IsTargetSyntax(facts.target)) {
    violations.push_back({"target", "must be a name like \"cuda:90\", \"hip:gfx942\" or \"host\""});
  }
  if (std::optional<Violation> size = CheckIrSize(facts.ir_bytes, limits)) violations.push_back(*std::move(size));
  CheckName("tenant", facts.tenant, kMaxTenantBytes, &violations);
  CheckName("label", facts.label, kMaxLabelBytes, &violations);
  CheckStages(facts, &violations);
  CheckAllOptions(facts, limits.max_options, &violations);
  return violations;
}

}  // namespace tritond::server
