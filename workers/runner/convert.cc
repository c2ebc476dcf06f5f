// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/convert.h"

#include <utility>

#include "proto/request_key/request_key.h"

namespace tritond::workers {
namespace {

absl::StatusOr<compiler::Stage> FromProto(int stage) {
  switch (stage) {
    case v1::STAGE_TTIR:
      return compiler::Stage::kTtir;
    case v1::STAGE_TTGIR:
      return compiler::Stage::kTtgir;
    case v1::STAGE_LLIR:
      return compiler::Stage::kLlir;
    case v1::STAGE_ASM:
      return compiler::Stage::kAsm;
    case v1::STAGE_BINARY:
      return compiler::Stage::kBinary;
    case v1::STAGE_DISASSEMBLY:
      return compiler::Stage::kDisassembly;
    default:
      return absl::InvalidArgumentError("a stage that this worker does not know");
  }
}

v1::Diagnostic::Severity ToProto(compiler::Diagnostic::Severity severity) {
  switch (severity) {
    case compiler::Diagnostic::Severity::kError:
      return v1::Diagnostic::SEVERITY_ERROR;
    case compiler::Diagnostic::Severity::kWarning:
      return v1::Diagnostic::SEVERITY_WARNING;
    case compiler::Diagnostic::Severity::kRemark:
      return v1::Diagnostic::SEVERITY_REMARK;
  }
  return v1::Diagnostic::SEVERITY_UNSPECIFIED;
}

// JSON text in UTF-8 whatever the compiler put in.
std::string Dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

v1::Stage ToProto(compiler::Stage stage) {
  switch (stage) {
    case compiler::Stage::kTtir:
      return v1::STAGE_TTIR;
    case compiler::Stage::kTtgir:
      return v1::STAGE_TTGIR;
    case compiler::Stage::kLlir:
      return v1::STAGE_LLIR;
    case compiler::Stage::kAsm:
      return v1::STAGE_ASM;
    case compiler::Stage::kBinary:
      return v1::STAGE_BINARY;
    case compiler::Stage::kDisassembly:
      return v1::STAGE_DISASSEMBLY;
  }
  return v1::STAGE_UNSPECIFIED;
}

absl::StatusOr<compiler::CompileRequest> ToCompiler(const v1::CompileRequest& request) {
  compiler::CompileRequest out;
  absl::StatusOr<compiler::Stage> input = FromProto(request.input());
  if (!input.ok()) return input.status();
  out.input = *input;
  out.ir = request.ir();
  out.target = request.target();
  out.options = nlohmann::json::parse(proto::CanonicalOptions(request.options()), nullptr, /*allow_exceptions=*/false);
  if (!out.options.is_object())
    return absl::InvalidArgumentError("the options are no JSON object (is a name not UTF-8?)");
  if (request.abi().descriptor_flags() > 2)
    return absl::InvalidArgumentError(
        absl::StrCat("abi.descriptor_flags is 0, 1 or 2, not ", request.abi().descriptor_flags()));
  out.abi = {request.abi().global_scratch(), request.abi().profile_scratch(),
             request.abi().has_descriptor_flags() ? static_cast<int>(request.abi().descriptor_flags()) : 1,
             request.abi().host_tensor_maps()};
  for (int stage : request.outputs()) {
    absl::StatusOr<compiler::Stage> output = FromProto(stage);
    if (!output.ok()) return output.status();
    out.outputs.push_back(*output);
  }
  out.debug_info = request.debug_info();
  return out;
}

v1::CompileOutcome FromCompiler(uint64_t lease, compiler::CompileResult result) {
  v1::CompileOutcome outcome;
  outcome.set_lease(lease);
  outcome.set_code(static_cast<int>(result.status.code()));
  outcome.set_message(std::string(result.status.message()));
  v1::ActionResult& action = *outcome.mutable_result();
  for (const compiler::Diagnostic& diagnostic : result.diagnostics) {
    v1::Diagnostic& out = *action.add_diagnostics();
    out.set_severity(ToProto(diagnostic.severity));
    out.set_stage(ToProto(diagnostic.stage));
    out.set_line(diagnostic.line);
    out.set_column(diagnostic.column);
    out.set_message(diagnostic.message);
  }
  for (const compiler::StageTime& time : result.stages) {
    v1::StageTime& out = *action.add_stage_times();
    out.set_stage(ToProto(time.stage));
    out.set_wall_ns(time.wall.count());
  }
  for (std::string& option : result.ignored_options) action.add_ignored_options(std::move(option));
  if (!result.status.ok()) return outcome;
  outcome.set_recalled(result.recalled);
  if (result.recalled) return outcome;
  action.set_metadata_json(Dump(result.metadata));
  outcome.set_semantic_key(result.keys.result);
  if (result.assembly.has_value()) {
    v1::AssemblyStep& step = *outcome.mutable_assembly();
    step.set_key(result.keys.assembly);
    step.set_metadata_json(Dump(result.assembly->metadata));
    step.mutable_artifact()->set_kind(v1::STAGE_ASM);
    step.mutable_artifact()->set_format("asm");
    step.mutable_artifact()->set_digest(proto::Sha256Hex(result.assembly->text));
    step.mutable_artifact()->set_size_bytes(result.assembly->text.size());
    step.set_text(std::move(result.assembly->text));
  }
  for (compiler::Artifact& artifact : result.artifacts) {
    v1::Artifact& out = *action.add_artifacts();
    out.set_kind(ToProto(artifact.stage));
    out.set_format(artifact.format);
    out.set_digest(proto::Sha256Hex(artifact.bytes));
    out.set_size_bytes(artifact.bytes.size());
    v1::Blob& blob = *outcome.add_blobs();
    blob.set_digest(out.digest());
    blob.set_data(std::move(artifact.bytes));
  }
  return outcome;
}

v1::StepQuery ToQuery(uint64_t lease, const compiler::StepKeys& keys) {
  v1::StepQuery query;
  query.set_lease(lease);
  query.mutable_keys()->set_semantic_key(keys.result);
  query.mutable_keys()->set_assembly_key(keys.assembly);
  return query;
}

compiler::CachedSteps FromAnswer(const v1::StepAnswer& answer) {
  compiler::CachedSteps known;
  known.result = answer.known();
  if (!answer.has_assembly()) return known;
  compiler::AssemblyStep step;
  step.text = answer.assembly().text();
  step.metadata = nlohmann::json::parse(answer.assembly().metadata_json(), nullptr, /*allow_exceptions=*/false);
  if (step.metadata.is_object()) known.assembly = std::move(step);
  return known;
}

namespace {

v1::OptionKind KindOf(compiler::OptionKind kind) {
  switch (kind) {
    case compiler::OptionKind::kBoolean:
      return v1::OPTION_KIND_BOOLEAN;
    case compiler::OptionKind::kInteger:
      return v1::OPTION_KIND_INTEGER;
    case compiler::OptionKind::kPowerOfTwo:
      return v1::OPTION_KIND_POWER_OF_TWO;
    case compiler::OptionKind::kText:
      return v1::OPTION_KIND_TEXT;
  }
  return v1::OPTION_KIND_UNSPECIFIED;
}

}  // namespace

void DescribeCompiler(const compiler::Compiler& compiler, v1::Hello* hello) {
  hello->set_build_id(compiler.BuildId());
  hello->set_slots(1);
  for (const auto& target : compiler.Targets()) {
    v1::Hello::Target& out = *hello->add_targets();
    out.set_name(target.name);
    out.set_binary_format(target.binary_format);
    out.set_binary_available(target.binary_available);
    out.set_why_not(target.why_not);
    out.set_disassembly_available(target.disassembly_available);
    for (const compiler::OptionRule& option : target.options) {
      v1::OptionRule& rule = *out.add_options();
      rule.set_name(option.name);
      rule.set_kind(KindOf(option.kind));
      rule.set_least(option.least);
      rule.set_most(option.most);
    }
  }
}

}  // namespace tritond::workers
