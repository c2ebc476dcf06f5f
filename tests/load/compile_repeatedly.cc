// SPDX-License-Identifier: Apache-2.0
// compile-repeatedly TARGET TIMES KERNEL.ttir…: compiles kernels with the options beside them to the target's assembly,
// each so often, in one compiler. For profilers and for compile_instructions_test.py.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/types/span.h"
#include "compiler/driver/compile.h"

namespace tritond::compiler {
namespace {

std::string ReadFile(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

CompileRequest RequestFor(const std::filesystem::path& kernel, const std::string& target) {
  CompileRequest request;
  request.ir = ReadFile(kernel);
  request.target = target;
  request.outputs = {Stage::kAsm};
  std::filesystem::path options = kernel;
  options.replace_extension(".json");
  const nlohmann::json all = nlohmann::json::parse(ReadFile(options), nullptr, /*allow_exceptions=*/false);
  request.options = all.contains("options") ? all["options"] : nlohmann::json::object();
  return request;
}

int Run(const std::string& target, int times, absl::Span<char*> kernels) {
  auto compiler = Compiler::Create();
  for (int i = 0; i < times; ++i) {
    for (const char* kernel : kernels) {
      const CompileResult result = compiler->Compile(RequestFor(kernel, target));
      if (result.status.ok()) continue;
      std::cerr << kernel << ": " << result.status << "\n";
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace tritond::compiler

int main(int argc, char** argv) {
  int times = 0;
  if (argc > 3 && absl::SimpleAtoi(argv[2], &times))
    return tritond::compiler::Run(argv[1], times, absl::MakeSpan(argv + 3, argc - 3));
  std::cerr << "usage: compile-repeatedly TARGET TIMES KERNEL.ttir…\n";
  return 2;
}
