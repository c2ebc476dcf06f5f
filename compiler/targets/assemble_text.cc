// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/assemble_text.h"

#include "absl/strings/str_cat.h"
#include "compiler/targets/fatal_errors.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"

namespace tritond::compiler {
namespace {

// The first error, with its line.
struct FirstError {
  static void Handle(const llvm::SMDiagnostic& diagnostic, void* self) {
    std::string& text = static_cast<FirstError*>(self)->text;
    if (diagnostic.getKind() != llvm::SourceMgr::DK_Error || !text.empty()) return;
    text = absl::StrCat("line ", diagnostic.getLineNo(), ": ", diagnostic.getMessage().str());
  }
  std::string text;
};

// Directives that read files or that could spell such a directive; LLVM's back end writes none of them.
absl::Status CheckDirectives(llvm::StringRef text) {
  constexpr llvm::StringLiteral kForbidden[] = {".incbin", ".include", ".macro", ".irp", ".rep", ".altmacro"};
  for (size_t at = text.find('.'); at != llvm::StringRef::npos; at = text.find('.', at + 1)) {
    for (llvm::StringRef directive : kForbidden) {
      if (text.drop_front(at).starts_with_insensitive(directive))
        return absl::InvalidArgumentError(absl::StrCat("assembly text: no directive ", directive.str(), " is allowed"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> AssembleText(const std::string& text, const Processor& processor) {
  if (absl::Status status = CheckDirectives(text); !status.ok()) return status;
  std::string problem;
  const llvm::Triple triple(processor.triple);
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target) return absl::InternalError(problem);
  llvm::SourceMgr sources;
  FirstError first;
  sources.setDiagHandler(FirstError::Handle, &first);
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, "kernel.s"), llvm::SMLoc());

  const llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<llvm::MCAsmInfo> info(target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<llvm::MCInstrInfo> instructions(target->createMCInstrInfo());
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, processor.cpu, processor.features));
  llvm::MCContext context(triple, info.get(), registers.get(), subtarget.get(), &sources, &options);
  std::unique_ptr<llvm::MCObjectFileInfo> file(target->createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(file.get());
  // Else it prints to standard error.
  context.setDiagnosticHandler([&](const llvm::SMDiagnostic& diagnostic, bool, const llvm::SourceMgr&,
                                   std::vector<const llvm::MDNode*>&) { FirstError::Handle(diagnostic, &first); });

  llvm::SmallString<0> object;
  llvm::raw_svector_ostream stream(object);
  std::unique_ptr<llvm::MCAsmBackend> backend(target->createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<llvm::MCObjectWriter> writer = backend->createObjectWriter(stream);
  std::unique_ptr<llvm::MCCodeEmitter> emitter(target->createMCCodeEmitter(*instructions, context));
  std::unique_ptr<llvm::MCStreamer> streamer(target->createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer), std::move(emitter), *subtarget));
  std::unique_ptr<llvm::MCAsmParser> parser(llvm::createMCAsmParser(sources, context, *streamer, *info));
  std::unique_ptr<llvm::MCTargetAsmParser> target_parser(
      target->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*target_parser);
  bool failed = false;
  absl::Status fatal = CatchFatalErrors([&] { failed = parser->Run(/*NoInitialTextSection=*/false); });
  if (!fatal.ok()) return absl::InvalidArgumentError(absl::StrCat("assembly text: ", fatal.message()));
  if (failed || !first.text.empty()) return absl::InvalidArgumentError(absl::StrCat("assembly text: ", first.text));
  return std::string(object.str());
}

}  // namespace tritond::compiler
