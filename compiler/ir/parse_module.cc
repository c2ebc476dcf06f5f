// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/parse_module.h"

#include "compiler/ir/check_text.h"
#include "mlir/Parser/Parser.h"

namespace tritond::compiler {
namespace {

constexpr llvm::StringLiteral kBufferName = "tritond-ir";

// The first position in the buffer among the locations that make up `location`.
TextPosition PositionInBuffer(mlir::Location location) {
  TextPosition position;
  location->walk([&](mlir::Location part) {
    auto file = llvm::dyn_cast<mlir::FileLineColLoc>(part);
    if (!file || file.getFilename() != kBufferName) return mlir::WalkResult::advance();
    position = {static_cast<int>(file.getLine()), static_cast<int>(file.getColumn())};
    return mlir::WalkResult::interrupt();
  });
  return position;
}

std::string WithNotes(mlir::Diagnostic& diagnostic) {
  std::string message = diagnostic.str();
  for (mlir::Diagnostic& note : diagnostic.getNotes()) message += "; " + note.str();
  return message;
}

// Each diagnostic's position is one of the normalised text.
mlir::OwningOpRef<mlir::ModuleOp> Parse(const std::string& text, mlir::MLIRContext* context,
                                        std::vector<IrDiagnostic>& diagnostics) {
  if (auto error = CheckText(text)) {
    diagnostics.push_back({mlir::DiagnosticSeverity::Error, error->where, error->message});
    return {};
  }
  mlir::ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic& diagnostic) {
    diagnostics.push_back(
        {diagnostic.getSeverity(), PositionInBuffer(diagnostic.getLocation()), WithNotes(diagnostic)});
    return mlir::success();
  });
  return mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(context), kBufferName);
}

}  // namespace

TextPosition ParsedModule::PositionOf(mlir::Location location) const {
  return text_.ToOriginal(PositionInBuffer(location));
}

ParsedModule ParseModule(std::string ir, mlir::MLIRContext* context, bool keep_locations) {
  // Source locations would hide where in the text a verifier's complaint belongs: a wrong text is parsed again.
  if (keep_locations) {
    ParsedModule parsed;
    NormalizeResult normalized = NormalizeText(ir);
    if (!normalized.error) {
      parsed.text_ = std::move(normalized.text);
      parsed.module_ = Parse(parsed.text_.text(), context, parsed.diagnostics_);
      if (parsed.module_) return parsed;
    }
  }
  ParsedModule parsed;
  NormalizeResult normalized = NormalizeText(std::move(ir), NormalizeOptions{/*strip_locations=*/true});
  if (normalized.error) {
    parsed.diagnostics_.push_back(
        {mlir::DiagnosticSeverity::Error, normalized.error->where, normalized.error->message});
    return parsed;
  }
  parsed.text_ = std::move(normalized.text);
  parsed.module_ = Parse(parsed.text_.text(), context, parsed.diagnostics_);
  for (IrDiagnostic& diagnostic : parsed.diagnostics_) diagnostic.where = parsed.text_.ToOriginal(diagnostic.where);
  return parsed;
}

}  // namespace tritond::compiler
