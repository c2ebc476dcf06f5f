// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_compiler.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/request_key/request_key.h"

namespace tritond::tests {
namespace {

using compiler::CachedSteps;
using compiler::Stage;

struct StageFormat {
  Stage stage;
  const char* format;
};
constexpr StageFormat kStages[] = {{Stage::kTtir, "ttir"}, {Stage::kTtgir, "ttgir"},  {Stage::kLlir, "llir"},
                                   {Stage::kAsm, "ptx"},   {Stage::kBinary, "cubin"}, {Stage::kDisassembly, "sass"}};

absl::Status FailureOf(const std::string& ir) {
  const std::vector<std::string> words = absl::StrSplit(ir.substr(0, ir.find('\n')), absl::MaxSplits(' ', 2));
  if (words.size() < 3 || words[0] != "error") return absl::OkStatus();
  if (words[1] == "invalid") return absl::InvalidArgumentError(words[2]);
  if (words[1] == "unimplemented") return absl::UnimplementedError(words[2]);
  if (words[1] == "exhausted") return absl::ResourceExhaustedError(words[2]);
  if (words[1] == "flaky") {  // once, which the file that it names remembers
    if (access(words[2].c_str(), F_OK) == 0) return absl::OkStatus();
    std::ofstream(words[2]) << "flaked";
  }
  return absl::InternalError(words[2]);
}

std::string Contents(const compiler::CompileRequest& request, const StageFormat& stage) {
  std::string text =
      absl::StrCat(stage.format, " for ", request.target, " with ", request.options.dump(), " of\n", request.ir);
  const size_t size = request.options.value("artifact_bytes", size_t{0});
  if (stage.stage == Stage::kBinary && size > 0) return Lengthened(std::move(text), size);
  return text;
}

// The request without what is spelling, in hexadecimal.
std::string CanonicalHash(const std::string& salt, const compiler::CompileRequest& request) {
  std::string canonical = absl::StrCat(salt, request.target, request.options.dump());
  for (absl::string_view line : absl::StrSplit(request.ir, '\n')) {
    if (!absl::StartsWith(line, "spelling ")) absl::StrAppend(&canonical, line, "\n");
  }
  for (Stage stage : request.outputs) absl::StrAppend(&canonical, static_cast<int>(stage));
  return proto::Sha256Hex(canonical);
}

}  // namespace

std::string Lengthened(std::string text, size_t size_bytes) {
  uint64_t state = 1469598103934665603u;  // FNV-1a of the text, then xorshift
  for (unsigned char c : text) state = (state ^ c) * 1099511628211u;
  state |= 1;
  size_t i = text.size();
  text.resize(size_bytes);
  for (; i < size_bytes; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    text[i] = static_cast<char>(state >> 32);
  }
  return text;
}

std::vector<compiler::Compiler::Offer> FakeCompiler::Targets() const {
  const std::vector<compiler::OptionRule> options = {{"num_warps", compiler::OptionKind::kPowerOfTwo, 1, 32},
                                                     {"num_stages", compiler::OptionKind::kInteger, 0, 64}};
  return {{"cuda:80", "cubin", options, true, "", true},
          {"cuda:90", "cubin", options, true, "", true},
          {"cuda:100", "cubin", options, false, "no assembler here"}};
}

compiler::CompileResult FakeCompiler::Compile(const compiler::CompileRequest& request) {
  compiler::CompileResult result;
  result.metadata = request.options;
  result.metadata["name"] = "kernel";
  result.metadata["target"] = request.target;
  result.metadata["shared"] = 1024;
  result.metadata["resources"] = {{"registers", 40}, {"local_bytes", 0}, {"blocks", 12},
                                  {"warps", 48},     {"most_warps", 64}, {"limit", "registers"}};
  for (const auto& option : request.options.items()) {
    if (absl::StartsWith(option.key(), "unknown")) result.ignored_options.push_back(option.key());
  }
  result.status = FailureOf(request.ir);
  if (!result.status.ok()) {
    result.diagnostics.push_back(
        {compiler::Diagnostic::Severity::kError, request.input, 1, 7, std::string(result.status.message())});
    result.stages.push_back({request.input, std::chrono::microseconds(1)});
    return result;
  }
  if (memory_ && !request.debug_info) {
    result.keys.result = CanonicalHash(build_id_, request);
    if (request.outputs == std::vector<Stage>{Stage::kBinary}) result.keys.assembly = CanonicalHash("", request);
  }
  std::string assembly;
  for (const StageFormat& stage : kStages) {
    if (stage.stage < request.input) continue;
    if (stage.stage > *std::max_element(request.outputs.begin(), request.outputs.end())) break;
    if (!assembly.empty() && stage.stage <= Stage::kAsm) continue;  // what a recalled assembly stands for
    if (on_stage_) result.status = on_stage_(stage.stage, request);
    if (!result.status.ok()) return result;
    result.stages.push_back({stage.stage, std::chrono::microseconds(10)});
    if (stage.stage == request.input && !result.keys.result.empty()) {
      CachedSteps known = memory_(result.keys);
      result.recalled = known.result;
      if (known.result) return result;
      if (known.assembly.has_value()) assembly = known.assembly->text;
    }
    if (stage.stage == Stage::kAsm && !result.keys.assembly.empty()) {
      result.assembly = compiler::AssemblyStep{Contents(request, stage), result.metadata};
    }
    if (std::find(request.outputs.begin(), request.outputs.end(), stage.stage) != request.outputs.end()) {
      result.artifacts.push_back({stage.stage, stage.format, Contents(request, stage)});
    }
  }
  return result;
}

}  // namespace tritond::tests
