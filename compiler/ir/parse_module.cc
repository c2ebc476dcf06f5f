// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/parse_module.h"

#include "compiler/ir/unknown_names.h"
#include "compiler/text/check_text.h"
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

IrDiagnostic ToDiagnostic(const TextError& error) {
  return {mlir::DiagnosticSeverity::Error, error.where, error.message, error.is_unknown};
}

// Each diagnostic's position is one of the normalised text.
mlir::OwningOpRef<mlir::ModuleOp> Parse(const std::string& text, mlir::MLIRContext* context,
                                        std::vector<IrDiagnostic>& diagnostics) {
  if (auto error = CheckText(text)) {
    diagnostics.push_back(ToDiagnostic(*error));
    return {};
  }
  mlir::ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic& diagnostic) {
    std::string message = WithNotes(diagnostic);
    const bool is_unknown = IsAboutUnknownName(message);
    diagnostics.push_back({diagnostic.getSeverity(), PositionInBuffer(diagnostic.getLocation()),
                           is_unknown ? WithoutAdvice(std::move(message)) : std::move(message), is_unknown});
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(context), kBufferName);
  if (!module) return {};
  if (auto property = FindUnknownProperty(text, context)) {
    diagnostics.push_back(ToDiagnostic(*property));
    return {};
  }
  if (auto attribute = FindUnknownAttribute(*module)) {
    diagnostics.push_back({mlir::DiagnosticSeverity::Error, PositionInBuffer(attribute->where), attribute->message,
                           /*is_unknown=*/true});
    return {};
  }
  return module;
}

}  // namespace

TextPosition ParsedModule::PositionOf(mlir::Location location) const {
  return text_.ToOriginal(PositionInBuffer(location));
}

bool ParsedModule::NamesUnknown() const {
  auto first = llvm::find_if(diagnostics_,
                             [](const IrDiagnostic& one) { return one.severity == mlir::DiagnosticSeverity::Error; });
  return first != diagnostics_.end() && first->is_unknown;
}

ParsedModule ParseModule(std::string ir, mlir::MLIRContext* context, bool keep_locations) {
  // Source locations would hide where in the text a verifier's complaint belongs: a wrong text is parsed again.
  std::vector<IrDiagnostic> diagnostics;
  if (keep_locations) {
    NormalizeResult normalized = NormalizeText(ir);
    if (!normalized.error) {
      if (auto module = Parse(normalized.text.text(), context, diagnostics))
        return ParsedModule(std::move(normalized.text), std::move(module), std::move(diagnostics));
      diagnostics.clear();
    }
  }
  NormalizeResult normalized = NormalizeText(std::move(ir), NormalizeOptions{/*strip_locations=*/true});
  if (normalized.error) return ParsedModule(NormalizedText(), {}, {ToDiagnostic(*normalized.error)});
  auto module = Parse(normalized.text.text(), context, diagnostics);
  for (IrDiagnostic& diagnostic : diagnostics) diagnostic.where = normalized.text.ToOriginal(diagnostic.where);
  return ParsedModule(std::move(normalized.text), std::move(module), std::move(diagnostics));
}

}  // namespace tritond::compiler
