// SPDX-License-Identifier: Apache-2.0
// Any of the assemblers, run in a process of its own. It can be ended at once, and its crash is a status. What it does
// to the process that it runs in (threads, signal handlers, memory that it keeps) is not done to the compiler's.
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/targets/nvidia/assembler.h"
#include "compiler/targets/work_process.h"

namespace tritond::compiler::nvidia {
namespace {

// A request is four lines (architecture; contraction and line table; seconds; flags) and the text.
std::string Encode(absl::string_view ptx, const AssembleOptions& options) {
  return absl::StrCat(options.arch, "\n", options.fp_fusion ? "f" : "-", options.line_info ? "l" : "-", "\n",
                      options.cpu_seconds, "\n", absl::StrJoin(options.extra, " "), "\n", ptx);
}

// The answer is the size of the log, the log and the binary.
absl::StatusOr<std::string> AssembleRequest(const Assembler& assembler, absl::string_view request) {
  const std::vector<absl::string_view> parts = absl::StrSplit(request, absl::MaxSplits('\n', 4));
  AssembleOptions options;
  if (parts.size() != 5 || parts[1].size() != 2 || !absl::SimpleAtoi(parts[2], &options.cpu_seconds))
    return absl::InternalError("the assembler's process cannot read its request");
  options.arch = std::string(parts[0]);
  options.fp_fusion = parts[1][0] == 'f';
  options.line_info = parts[1][1] == 'l';
  options.extra = absl::StrSplit(parts[3], ' ', absl::SkipEmpty());
  std::string log;
  options.log = &log;
  const absl::StatusOr<std::string> binary = assembler.Assemble(std::string(parts[4]), options);
  if (!binary.ok()) return binary.status();
  return absl::StrCat(log.size(), "\n", log, *binary);
}

class ApartAssembler final : public Assembler {
 public:
  explicit ApartAssembler(std::unique_ptr<Assembler> assembler)
      : assembler_(std::move(assembler)), process_(assembler_->Name(), [this](absl::string_view request) {
          return AssembleRequest(*assembler_, request);
        }) {}

  std::string Name() const override { return assembler_->Name(); }
  int PtxVersion() const override { return assembler_->PtxVersion(); }
  std::string Path() const override { return assembler_->Path(); }
  bool IsProgram() const override { return assembler_->IsProgram(); }

  absl::StatusOr<std::string> Assemble(const std::string& ptx, const AssembleOptions& options) const override {
    const absl::StatusOr<std::string> answer = process_.Run(Encode(ptx, options), options.cpu_seconds);
    if (!answer.ok()) return answer.status();
    const size_t line = answer->find('\n');
    size_t size = 0;
    if (line == std::string::npos || !absl::SimpleAtoi(answer->substr(0, line), &size) ||
        answer->size() - line - 1 < size)
      return absl::InternalError("the assembler's process gave no answer that can be read");
    if (options.log) *options.log = answer->substr(line + 1, size);
    return answer->substr(line + 1 + size);
  }

 private:
  const std::unique_ptr<Assembler> assembler_;
  mutable WorkProcess process_;
};

}  // namespace

std::unique_ptr<Assembler> RunApart(std::unique_ptr<Assembler> assembler) {
  return std::make_unique<ApartAssembler>(std::move(assembler));
}

}  // namespace tritond::compiler::nvidia
