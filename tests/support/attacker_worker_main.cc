// SPDX-License-Identifier: Apache-2.0
// triton-worker-attacker: the real worker around a compiler that attacks its machine when a compile option says so.
// Code of a caller that had taken the compiler over could do the same. A worker that is called …-in-namespaces believes
// that its kernel has no Landlock; …-unconfined, that no namespaces are permitted either.
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "tests/support/attacks.h"
#include "tests/support/fake_compiler.h"
#include "workers/runner/command_line.h"
#include "workers/runner/find_tools.h"

namespace tritond::tests {
namespace {

// Options: "attack" names one; the rest is its Prey. The binary is the outcome as a number.
class Attacker final : public compiler::Compiler {
 public:
  compiler::CompileResult Compile(const compiler::CompileRequest& request) override {
    const nlohmann::json& options = request.options;
    Prey prey;
    prey.folder = options.value("folder", "");
    prey.data = options.value("data", "");
    prey.program = workers::ThisExecutable();
    prey.victim = static_cast<pid_t>(options.value("victim", 0.0));
    prey.daemon = static_cast<pid_t>(options.value("daemon", 0.0));
    prey.port = static_cast<int>(options.value("port", 0.0));
    prey.abstract = options.value("abstract", "");
    compiler::CompileResult result;
    result.metadata = options;
    const int outcome = TryAttack(options.value("attack", ""), prey);
    result.artifacts = {{compiler::Stage::kBinary, "cubin", std::to_string(outcome)}};
    return result;
  }
  void OnStage(compiler::StageListener listener) override {}
  void UseMemory(compiler::StepMemory memory) override {}
  std::string BuildId() const override { return "attacker"; }
  std::vector<Offer> Targets() const override { return {{"cuda:90", "cubin", {}, true, ""}}; }
  // As with an assembler that is a program: execve is not forbidden altogether.
  std::vector<std::string> LoadTools() override { return {"/bin/true"}; }
};

}  // namespace
}  // namespace tritond::tests

int main(int argc, char** argv) {
  const std::string name = argv[0];
  tritond::workers::WorkerProgram program;
  program.make_compiler = [] { return std::make_unique<tritond::tests::Attacker>(); };
  program.sandbox.landlock = !absl::EndsWith(name, "-in-namespaces") && !absl::EndsWith(name, "-unconfined");
  program.sandbox.namespaces = !absl::EndsWith(name, "-unconfined");
  return tritond::workers::WorkerMain(argc, argv, program);
}
