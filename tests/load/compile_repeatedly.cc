// SPDX-License-Identifier: Apache-2.0
// compile-repeatedly KERNEL.ttir TARGET TIMES: compiles a kernel with the options beside it to the target's assembly, so
// often, in one warm compiler. For profilers and for compile_instructions_test.py.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "compiler/driver/compile.h"

namespace tritond::compiler {
namespace {

std::string ReadFile(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

int Run(const std::filesystem::path& kernel, const std::string& target, int times) {
  CompileRequest request;
  request.ir = ReadFile(kernel);
  request.target = target;
  request.outputs = {Stage::kAsm};
  std::filesystem::path options = kernel;
  options.replace_extension(".json");
  const nlohmann::json all = nlohmann::json::parse(ReadFile(options), nullptr, /*allow_exceptions=*/false);
  request.options = all.contains("options") ? all["options"] : nlohmann::json::object();
  auto compiler = Compiler::Create();
  for (int i = 0; i < times; ++i) {
    const CompileResult result = compiler->Compile(request);
    if (result.status.ok()) continue;
    std::cerr << kernel << ": " << result.status << "\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace tritond::compiler

int main(int argc, char** argv) {
  int times = 0;
  if (argc == 4 && absl::SimpleAtoi(argv[3], &times)) return tritond::compiler::Run(argv[1], argv[2], times);
  std::cerr << "usage: compile-repeatedly KERNEL.ttir TARGET TIMES\n";
  return 2;
}
