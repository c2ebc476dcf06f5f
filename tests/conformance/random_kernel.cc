// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/random_kernel.h"

#include "absl/strings/str_cat.h"
#include "tests/support/ttir_evaluator.h"

namespace tritond::conformance {
namespace {

using tests::EvaluatorArgument;
using tests::GeneratedKernel;
using tests::GeneratedParameter;

std::vector<Array> Buffers(const GeneratedKernel& kernel) {
  std::vector<Array> arrays(kernel.parameters.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    arrays[i].type = kernel.parameters[i].element;
    arrays[i].bytes = kernel.parameters[i].bytes;
  }
  return arrays;
}

absl::Status Evaluate(const GeneratedKernel& kernel, std::vector<Array>& buffers) {
  static auto* evaluator = new tests::TtirEvaluator;
  std::vector<EvaluatorArgument> arguments;
  for (size_t i = 0; i < buffers.size(); ++i)
    arguments.push_back(kernel.parameters[i].element.empty()
                            ? EvaluatorArgument::Scalar(static_cast<uint32_t>(kernel.parameters[i].scalar))
                            : EvaluatorArgument::Memory(absl::MakeSpan(&buffers[i].bytes[0], buffers[i].bytes.size())));
  return evaluator->Run(kernel.ir, kernel.grid, arguments);
}

absl::Status Execute(const Machine& machine, const GeneratedKernel& kernel, const std::string& options,
                     std::vector<Array>& buffers) {
  std::vector<Parameter> parameters;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (kernel.parameters[i].element.empty()) {
      parameters.push_back(kernel.parameters[i].scalar);
    } else {
      parameters.push_back(buffers[i]);
    }
  }
  // A fused multiplication and addition would round once instead of twice.
  return RunKernel(machine, kernel.ir, {kernel.grid[0], kernel.grid[1], kernel.grid[2]}, parameters,
                   absl::StrCat("\"enable_fp_fusion\": false", options.empty() ? "" : ", ", options));
}

Trial Wrong(const Machine& machine, const GeneratedKernel& kernel, uint64_t seed, int steps, const std::string& what) {
  return {Verdict::kWrong, absl::StrCat("seed ", seed, ", ", steps, " steps, ", NameOf(machine), ", grid ",
                                        kernel.grid[0], " x ", kernel.grid[1], ": ", what, "\n", kernel.ir)};
}

}  // namespace

Trial TryKernel(const Machine& machine, uint64_t seed, int steps, const std::string& options, tests::Theme theme) {
  GeneratedKernel kernel = tests::GenerateKernel(seed, steps, theme);
  std::vector<Array> expected = Buffers(kernel), actual = Buffers(kernel);
  absl::Status status = Evaluate(kernel, expected);
  if (!status.ok()) return Wrong(machine, kernel, seed, steps, absl::StrCat("evaluator: ", status.ToString()));
  status = Execute(machine, kernel, options, actual);
  // Tiles may be larger than a block's shared memory.
  const bool is_unsupported = status.code() == absl::StatusCode::kUnimplemented || absl::IsResourceExhausted(status);
  if (is_unsupported) return {Verdict::kUnsupported, status.ToString()};
  if (!status.ok()) return Wrong(machine, kernel, seed, steps, status.ToString());
  for (size_t i = 0; i < actual.size(); ++i) {
    if (actual[i].type.empty()) continue;
    testing::AssertionResult same = Agree(actual[i], expected[i], kernel.parameters[i].tolerance);
    if (!same) return Wrong(machine, kernel, seed, steps, absl::StrCat("parameter ", i, ", ", same.message()));
  }
  return {};
}

Trial TryAndShorten(const Machine& machine, uint64_t seed, int steps, const std::string& options, tests::Theme theme) {
  Trial trial = TryKernel(machine, seed, steps, options, theme);
  if (trial.verdict != Verdict::kWrong) return trial;
  for (int fewer = 0; fewer < steps; ++fewer) {
    Trial shorter = TryKernel(machine, seed, fewer, options, theme);
    if (shorter.verdict == Verdict::kWrong) return shorter;
  }
  return trial;
}

}  // namespace tritond::conformance
