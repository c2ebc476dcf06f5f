// SPDX-License-Identifier: Apache-2.0
// LLVM's parser of text trusts the text. Wrong texts have made it read memory that it had freed (a value used with
// another type than it has). Others have made it end the process (wrong debug information, upgraded). So texts are
// parsed and verified in a process of its own, which answers with bitcode, the form in which modules travel well.
#include "compiler/driver/parse_llvm.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/targets/fatal_errors.h"
#include "compiler/targets/isolated_work.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace tritond::compiler {
namespace {

// What the answer begins with: bitcode follows, or "line:column:message".
constexpr char kBitcode = 'b', kError = 'e';

absl::StatusOr<std::string> ParseHere(const std::string& text) {
  // Freeing what the parser has broken could break again; the process ends anyway.
  auto* context = new llvm::LLVMContext;
  llvm::SMDiagnostic error;
  llvm::Module* module = nullptr;
  absl::Status fatal =
      CatchFatalErrors([&] { module = llvm::parseIR(llvm::MemoryBufferRef(text, "<ir>"), error, *context).release(); });
  if (!fatal.ok()) return absl::InvalidArgumentError(fatal.message());
  if (!module)
    return absl::StrCat(std::string(1, kError), error.getLineNo(), ":", error.getColumnNo() + 1, ":",
                        error.getMessage().str());
  std::string complaint;
  llvm::raw_string_ostream complaints(complaint);
  if (llvm::verifyModule(*module, &complaints)) return absl::InvalidArgumentError(complaint);
  std::string answer(1, kBitcode);
  // Without a symbol table: to make one, LLVM would run the assembler over the text's module assembly.
  llvm::SmallString<0> bitcode;
  llvm::BitcodeWriter writer(bitcode);
  writer.writeModule(*module);
  writer.writeStrtab();
  answer.append(bitcode.begin(), bitcode.end());
  return answer;
}

}  // namespace

absl::StatusOr<std::unique_ptr<llvm::Module>> ParseLlvm(const std::string& text, llvm::LLVMContext& context,
                                                        LlvmTextError* error) {
  *error = LlvmTextError();
  absl::StatusOr<std::string> answer = RunIsolated("LLVM's parser", [&] { return ParseHere(text); });
  if (!answer.ok()) return answer.status();
  absl::string_view rest = absl::string_view(*answer).substr(1);
  if (answer->front() == kError) {
    std::vector<std::string> parts = absl::StrSplit(rest, absl::MaxSplits(':', 2));
    if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &error->line) || !absl::SimpleAtoi(parts[1], &error->column))
      return absl::InternalError("the parser's answer is no answer");
    error->message = parts[2];
    return absl::InvalidArgumentError(error->message);
  }
  auto module =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(llvm::StringRef(rest.data(), rest.size()), "<ir>"), context);
  if (!module) return absl::InternalError(llvm::toString(module.takeError()));
  return std::move(*module);
}

}  // namespace tritond::compiler
