// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/planted_fault.h"

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tritond::conformance {
namespace {

// The IR with the fault; the same as before when there is no such place.
std::string Plant(std::string ir, const Fault& fault) {
  const bool drops_line = absl::string_view(fault.replacement) == kDrop;
  const std::string text = fault.text, replacement = drops_line ? "" : fault.replacement;
  // Functions that the IR has no other way to know are declared by their new names, too.
  const bool renames = absl::StartsWith(text, "@_Z");
  int occurrence = 0;
  for (size_t at = ir.find(text); at != std::string::npos; at = ir.find(text, at)) {
    if ((!renames && absl::StrContains(ir.substr(ir.rfind('\n', at) + 1, at - ir.rfind('\n', at) - 1), "declare")) ||
        (fault.occurrence != kAll && fault.occurrence != occurrence)) {
      occurrence += !absl::StartsWith(ir.substr(ir.rfind('\n', at) + 1), "declare");
      at += text.size();
      continue;
    }
    ++occurrence;
    const size_t begin = drops_line ? ir.rfind('\n', at) : at;
    const size_t end = drops_line ? ir.find('\n', at) : at + text.size();
    ir.replace(begin, end - begin, replacement);
    at = begin + replacement.size();
  }
  return ir;
}

// A kernel as its target compiles it, and what it should give.
struct Prepared {
  FaultKernel kernel;
  LlirKernel llir;
  Array expected;
  absl::Status status;

  absl::Status Run(const std::string& text, Array* result) const {
    std::vector<Array> arrays = kernel.arrays;
    std::vector<Parameter> parameters(arrays.begin(), arrays.end());
    absl::Status run = RunLlir({kernel.target, kernel.target, kernel.num_warps},
                               {text, llir.shared, llir.global_scratch}, kernel.grid, parameters);
    *result = arrays.back();
    return run;
  }
};

Prepared PrepareKernel(FaultKernel kernel) {
  Prepared prepared;
  if (kernel.llir.text.empty() && !kernel.is_ttgir) {
    std::vector<Array> arrays = kernel.arrays;
    std::vector<Parameter> parameters(arrays.begin(), arrays.end());
    prepared.status = RunKernel({"host", "host", 4}, kernel.ir, kernel.grid, parameters, kernel.options);
    prepared.expected = arrays.back();
    auto llir = CompileToLlir({kernel.target, kernel.target, kernel.num_warps}, kernel.ir, kernel.options);
    if (llir.ok())
      prepared.llir = *std::move(llir);
    else
      prepared.status = llir.status();
  } else if (kernel.llir.text.empty()) {
    auto llir = CompileTtgirToLlir({kernel.target, kernel.target, kernel.num_warps}, kernel.ir);
    if (llir.ok())
      prepared.llir = *std::move(llir);
    else
      prepared.status = llir.status();
    prepared.expected = kernel.expected;
  } else {
    prepared.llir = kernel.llir;
    prepared.expected = kernel.expected;
  }
  prepared.kernel = std::move(kernel);
  return prepared;
}

std::map<std::string, Prepared>& Prepare(MakeKernels kernels) {
  static auto* all = new std::map<MakeKernels, std::map<std::string, Prepared>>;
  std::map<std::string, Prepared>& prepared = (*all)[kernels];
  if (prepared.empty())
    for (FaultKernel& kernel : kernels()) {
      const std::string name = kernel.name;
      prepared[name] = PrepareKernel(std::move(kernel));
    }
  return prepared;
}

}  // namespace

void PrintTo(const Fault& fault, std::ostream* os) { *os << fault.name; }

void ExpectFound(const Fault& fault, MakeKernels kernels) {
  ASSERT_TRUE(Prepare(kernels).count(fault.kernel)) << fault.kernel;
  const Prepared& prepared = Prepare(kernels)[fault.kernel];
  ASSERT_TRUE(prepared.status.ok()) << prepared.status;
  const std::string ir = Plant(prepared.llir.text, fault);
  ASSERT_TRUE(ir != prepared.llir.text) << "the kernel has no " << fault.text;
  Array result;
  const absl::Status status = prepared.Run(ir, &result);
  // A module that does not compile would say nothing about the emulator, unless that is where the fault shows.
  if (!status.ok()) {
    EXPECT_FALSE(absl::StrContains(status.message(), "stage llir")) << status;
    EXPECT_FALSE(absl::StrContains(status.message(), "expected")) << status;
    testing::Test::RecordProperty("found", std::string(status.message()));
    return;
  }
  EXPECT_FALSE(Agree(result, prepared.expected, prepared.kernel.tolerance));
}

void ExpectRight(MakeKernels kernels) {
  for (const auto& [name, prepared] : Prepare(kernels)) {
    ASSERT_TRUE(prepared.status.ok()) << name << ": " << prepared.status;
    Array result;
    const absl::Status status = prepared.Run(prepared.llir.text, &result);
    EXPECT_TRUE(status.ok()) << name << ": " << status;
    EXPECT_TRUE(Agree(result, prepared.expected, prepared.kernel.tolerance)) << name;
  }
}

}  // namespace tritond::conformance
