// SPDX-License-Identifier: Apache-2.0
#include "server/tunings/tuning_request.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/compile/source_places.h"
#include "server/errors/error_details.h"

namespace tritond::server {
namespace {

constexpr char kKeySchema[] = "tuning-1";
constexpr size_t kMostNameBytes = 256;

// A number of an option, or `otherwise`.
double Option(const v1::CompileRequest& request, const char* name, double otherwise) {
  const auto it = request.options().fields().find(name);
  return it != request.options().fields().end() && it->second.has_number_value() ? it->second.number_value()
                                                                                 : otherwise;
}

uint32_t CountOf(double value) { return value >= 1 && value <= 1e6 ? static_cast<uint32_t>(value) : 0; }

void CheckGrid(const std::string& field, const v1::Grid& grid, std::vector<Violation>* violations) {
  if (grid.x() == 0 || grid.y() == 0 || grid.z() == 0)
    violations->push_back({absl::StrCat(field, ".grid"), "each of x, y and z is at least 1"});
}

void CheckArgument(const std::string& field, const v1::Argument& argument, std::vector<Violation>* violations) {
  if (argument.kind_case() == v1::Argument::KIND_NOT_SET) {
    violations->push_back({field, "an argument is a buffer or a scalar"});
  } else if (argument.has_buffer()) {
    if (argument.buffer().role() == v1::Buffer::ROLE_UNSPECIFIED)
      violations->push_back({absl::StrCat(field, ".buffer.role"), "say whether it is input, output, both or scratch"});
    if (argument.buffer().elements() > kMostBufferElements)
      violations->push_back({absl::StrCat(field, ".buffer.elements"), absl::StrCat("at most ", kMostBufferElements)});
  } else if (argument.scalar().value_case() == v1::Scalar::VALUE_NOT_SET) {
    violations->push_back({absl::StrCat(field, ".scalar"), "a scalar has an integer or a real value"});
  }
}

void CheckPolicies(const v1::AutotuneRequest& request, std::vector<Violation>* violations) {
  if (request.has_budget() && (request.budget().seconds() < 0 || request.budget().nanos() < 0))
    violations->push_back({"budget", "a time that is not negative"});
  if (request.timing().samples() > 1000 || request.timing().warmup() > 1000)
    violations->push_back({"timing", "at most 1000 launches a visit"});
  const auto is_share = [](double value) { return value >= 0 && value < 1; };
  if (!is_share(request.strategy().error_level()))
    violations->push_back({"strategy.error_level", "a probability from 0 to below 1"});
  if (!is_share(request.strategy().indifference()))
    violations->push_back({"strategy.indifference", "a share from 0 to below 1"});
  if (!v1::SearchStrategy::Kind_IsValid(request.strategy().kind()))
    violations->push_back({"strategy.kind", "this daemon does not know the strategy"});
}

}  // namespace

absl::Status CheckTuningRequest(const v1::AutotuneRequest& request) {
  std::vector<Violation> violations;
  if (request.candidates().empty()) violations.push_back({"candidates", "there is none"});
  if (request.candidates_size() > kMostCandidates)
    violations.push_back({"candidates", absl::StrCat("at most ", kMostCandidates)});
  if (request.launch().arguments_size() > kMostArguments)
    violations.push_back({"launch.arguments", absl::StrCat("at most ", kMostArguments)});
  for (int i = 0; i < request.candidates_size() && violations.size() < 10; ++i) {
    const std::string field = absl::StrCat("candidates[", i, "]");
    CheckGrid(field, request.candidates(i).grid(), &violations);
    if (request.candidates(i).name().size() > kMostNameBytes)
      violations.push_back({absl::StrCat(field, ".name"), absl::StrCat("at most ", kMostNameBytes, " bytes")});
  }
  for (int i = 0; i < request.launch().arguments_size() && violations.size() < 10; ++i)
    CheckArgument(absl::StrCat("launch.arguments[", i, "]"), request.launch().arguments(i), &violations);
  CheckPolicies(request, &violations);
  return violations.empty() ? absl::OkStatus() : InvalidRequest(violations);
}

absl::StatusOr<std::vector<proto::PreparedRequest>> PrepareCandidates(v1::AutotuneRequest* request,
                                                                      const std::string& target,
                                                                      const AdmissionLimits& limits) {
  std::vector<proto::PreparedRequest> prepared;
  for (int i = 0; i < request->candidates_size(); ++i) {
    v1::CompileRequest compile = std::move(*request->mutable_candidates(i)->mutable_compile());
    request->mutable_candidates(i)->clear_compile();
    if (compile.target().empty()) compile.set_target(target);
    compile.clear_outputs();
    compile.set_priority(v1::PRIORITY_AUTOTUNE);
    compile.set_tenant(request->tenant());
    compile.set_label(request->label());
    compile.set_cache_mode(v1::CACHE_MODE_USE);
    if (compile.target() != target) {
      return InvalidRequest(
          {{absl::StrCat("candidates[", i, "].compile.target"),
            absl::StrCat("\"", compile.target(), "\" does not run on the device, whose target is ", target)}});
    }
    absl::StatusOr<proto::PreparedRequest> one = PrepareRequest(std::move(compile), limits);
    if (!one.ok())
      return absl::Status(one.status().code(), absl::StrCat("candidates[", i, "]: ", one.status().message()));
    prepared.push_back(*std::move(one));
  }
  return prepared;
}

std::string TuningKey(const v1::AutotuneRequest& request, const std::vector<std::string>& keys,
                      const v1::Hello::Device& device) {
  std::string text = kKeySchema;
  const auto add = [&](absl::string_view part) { absl::StrAppend(&text, "\n", part.size(), ":", part); };
  add(device.model());
  add(device.driver());
  add(device.target());
  for (int i = 0; i < request.candidates_size(); ++i) {
    add(keys[i]);
    add(request.candidates(i).name());
    add(request.candidates(i).grid().SerializeAsString());
  }
  add(request.launch().SerializeAsString());
  add(request.timing().flush_l2() ? "flush" : "warm");
  return proto::Sha256Hex(text);
}

KernelFacts FactsOfOptions(const v1::CompileRequest& request) {
  KernelFacts facts;
  facts.num_warps = CountOf(Option(request, "num_warps", 0));
  facts.num_ctas = std::max<uint32_t>(1, CountOf(Option(request, "num_ctas", 1)));
  return facts;
}

KernelFacts FactsBeforeCompile(const v1::Candidate& candidate, const v1::CompileRequest& request) {
  KernelFacts facts = FactsOfOptions(request);
  facts.shared_bytes = candidate.least_shared_bytes();
  return facts;
}

Numbers NumbersOf(const std::string& name, const v1::CompileRequest& request, const v1::KernelFacts& facts) {
  Numbers numbers = NumbersInName(name);
  for (const auto& [option, value] : request.options().fields()) {
    if (value.has_number_value()) numbers[option] = value.number_value();
    if (value.has_bool_value()) numbers[option] = value.bool_value() ? 1 : 0;
  }
  // No option is spelled like these.
  numbers["binary: registers"] = facts.registers();
  numbers["binary: spill bytes"] = facts.spill_bytes();
  numbers["binary: shared bytes"] = static_cast<double>(facts.shared_bytes());
  numbers["binary: programs at once"] = facts.programs_at_once();
  return numbers;
}

DeviceLimits LimitsOf(const v1::Hello::Device& device) {
  const v1::DeviceLimits& said = device.limits();
  DeviceLimits limits;
  limits.threads_per_program = said.threads_per_program();
  limits.programs_per_cluster = said.programs_per_cluster();
  limits.shared_bytes_per_program = said.shared_bytes_per_program();
  limits.registers_per_thread = said.registers_per_thread();
  limits.threads = said.threads();
  limits.programs = said.programs();
  limits.shared_bytes = said.shared_bytes();
  limits.registers = said.registers();
  return limits;
}

}  // namespace tritond::server
