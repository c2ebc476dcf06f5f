// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_FAKE_COMPILER_H_
#define TESTS_SUPPORT_FAKE_COMPILER_H_

#include <functional>
#include <memory>
#include <string>

#include "compiler/driver/compile.h"

namespace tritond::tests {

// `text` cut, or continued with noise that depends on it, to `size_bytes`. Does not compress, as binaries hardly do.
std::string Lengthened(std::string text, size_t size_bytes);

// A compiler without LLVM that behaves like the real one towards its caller. It has stages, artifacts that depend on
// the whole request, metadata, diagnostics, and a memory of earlier steps. Lines that begin with "spelling" do not
// change the kernel. The IR tells it to fail: a first line "error CODE MESSAGE", CODE one of invalid, unimplemented,
// exhausted, internal. Or "error flaky FILE", which is internal unless there is such a file, and makes it. The option
// artifact_bytes sets the size of the binary, see Lengthened. Targets: cuda:80 and cuda:90; cuda:100 without an
// assembler.
class FakeCompiler final : public compiler::Compiler {
 public:
  explicit FakeCompiler(std::string build_id) : build_id_(std::move(build_id)) {}

  compiler::CompileResult Compile(const compiler::CompileRequest& request) override;
  void OnStage(compiler::StageListener listener) override { on_stage_ = std::move(listener); }
  void UseMemory(compiler::StepMemory memory) override { memory_ = std::move(memory); }
  std::string BuildId() const override { return build_id_; }
  std::vector<Offer> Targets() const override;

 private:
  const std::string build_id_;
  compiler::StageListener on_stage_;
  compiler::StepMemory memory_;
};

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_FAKE_COMPILER_H_
