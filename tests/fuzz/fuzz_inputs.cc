// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/fuzz_inputs.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/fuzz/mutator.h"
#include "tests/support/kernel_generator.h"

namespace tritond::tests {
namespace {

namespace fs = std::filesystem;
using compiler::CompileRequest;
using compiler::Stage;

constexpr size_t kLongestSeed = 100000;

std::string Read(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<fs::path> FilesUnder(const std::string& folder, const std::string& extension) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error))
    if (entry.path().extension() == extension && entry.file_size() < kLongestSeed) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// The stage at which a part of a lit test enters.
Stage StageOf(absl::string_view text) {
  if (absl::StrContains(text, "llvm.func")) return Stage::kLlir;
  return absl::StrContains(text, "#ttg.") || absl::StrContains(text, "num-warps") ? Stage::kTtgir : Stage::kTtir;
}

}  // namespace

std::vector<FuzzSeed> CollectFuzzSeeds(compiler::Compiler& compiler) {
  std::vector<FuzzSeed> seeds;
  for (const char* folder : {"examples", "../shared/corpus"})
    for (const fs::path& path : FilesUnder(folder, ".ttir")) seeds.push_back({Stage::kTtir, Read(path)});
  for (int seed = 0; seed < 40; ++seed) seeds.push_back({Stage::kTtir, GenerateKernel(seed, 8).ir});
  size_t sources = seeds.size();
  for (const fs::path& path : FilesUnder("compiler", ".mlir"))
    for (absl::string_view part : absl::StrSplit(Read(path), "// -----"))
      seeds.push_back({StageOf(part), std::string(part)});
  for (size_t i = 0; i < sources; i += 4) {
    CompileRequest request;
    request.ir = seeds[i].text;
    request.target = i % 8 ? "host" : "cuda:90";
    request.outputs = {Stage::kTtgir, Stage::kLlir, Stage::kAsm};
    for (const compiler::Artifact& artifact : compiler.Compile(request).artifacts)
      if (artifact.bytes.size() < kLongestSeed) seeds.push_back({artifact.stage, artifact.bytes});
  }
  return seeds;
}

FuzzInputs::FuzzInputs(std::vector<FuzzSeed> seeds, const compiler::Compiler& compiler) : seeds_(std::move(seeds)) {
  for (const FuzzSeed& seed : seeds_) texts_.push_back(seed.text);
  for (const auto& target : compiler.Targets())
    if (target.binary_available) with_binary_.push_back(target.name);
}

CompileRequest FuzzInputs::Make(uint64_t series, uint64_t index) const {
  Mutator mutator(series * 1000003 + index, texts_);
  auto one_in = [&](size_t n) { return mutator.Below(n) == 0; };
  const FuzzSeed& seed = seeds_[mutator.Below(seeds_.size())];
  CompileRequest request;
  request.input = seed.stage;
  request.ir = one_in(50) ? seed.text : mutator.Mutate(seed.text);
  request.target = one_in(2) ? "host" : "cuda:90";
  if (one_in(8)) request.target = one_in(2) ? "host:64" : "cuda:80";
  bool has_binary = std::find(with_binary_.begin(), with_binary_.end(), request.target) != with_binary_.end();
  bool to_binary = (has_binary && one_in(2)) || seed.stage == Stage::kAsm;
  request.outputs = {to_binary ? Stage::kBinary : Stage::kAsm};
  static const std::vector<int> warps = {1, 2, 4, 8, 16, 32, 3, 0};
  request.options = nlohmann::json::object();
  if (one_in(2)) request.options["num_warps"] = warps[mutator.Below(warps.size())];
  if (one_in(4)) request.options["num_stages"] = mutator.Below(7);
  if (one_in(16)) request.options["num_ctas"] = 1 << mutator.Below(3);
  if (one_in(8)) request.options["enable_fp_fusion"] = false;
  if (one_in(8)) request.options["debug"] = true;
  request.debug_info = one_in(8);
  return request;
}

std::string DescribeRequest(const CompileRequest& request) {
  nlohmann::json head = {{"target", request.target},
                         {"input", compiler::StageName(request.input)},
                         {"output", compiler::StageName(request.outputs[0])},
                         {"options", request.options},
                         {"debug_info", request.debug_info}};
  return absl::StrCat("// ", head.dump(), "\n", request.ir);
}

absl::StatusOr<CompileRequest> ParseRequest(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  auto head = nlohmann::json::parse(line.size() > 3 ? line.substr(3) : "", nullptr, /*allow_exceptions=*/false);
  if (!head.is_object()) return absl::InvalidArgumentError("the first line is no request");
  CompileRequest request;
  request.target = head.value("target", "host");
  auto input = compiler::ParseStage(head.value("input", "ttir"));
  auto output = compiler::ParseStage(head.value("output", "binary"));
  if (!input.ok()) return input.status();
  if (!output.ok()) return output.status();
  request.input = *input;
  request.outputs = {*output};
  request.options = head.value("options", nlohmann::json::object());
  request.debug_info = head.value("debug_info", false);
  request.ir = text.substr(std::min(text.size(), line.size() + 1));
  return request;
}

}  // namespace tritond::tests
