// SPDX-License-Identifier: Apache-2.0
#include "compiler/driver/diagnostics.h"

#include "absl/strings/str_cat.h"

namespace tritond::compiler {
namespace {

// The place of the source program that `location` names, where it names one.
mlir::FileLineColLoc SourceOf(mlir::Location location) {
  mlir::FileLineColLoc source;
  location->walk([&](mlir::Location inner) {
    source = llvm::dyn_cast<mlir::FileLineColLoc>(inner);
    return source ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return source;
}

Diagnostic::Severity SeverityOf(mlir::DiagnosticSeverity severity) {
  switch (severity) {
    case mlir::DiagnosticSeverity::Error:
      return Diagnostic::Severity::kError;
    case mlir::DiagnosticSeverity::Warning:
      return Diagnostic::Severity::kWarning;
    case mlir::DiagnosticSeverity::Note:
    case mlir::DiagnosticSeverity::Remark:
      return Diagnostic::Severity::kRemark;
  }
  return Diagnostic::Severity::kError;
}

}  // namespace

DiagnosticCollector::DiagnosticCollector(mlir::MLIRContext* context, const ParsedModule& parsed,
                                         std::vector<Diagnostic>& out)
    : parsed_(parsed),
      out_(out),
      handler_(context, [this](mlir::Diagnostic& d) { return Handle(d), mlir::success(); }) {}

void DiagnosticCollector::Handle(mlir::Diagnostic& diagnostic) {
  TextPosition where = parsed_.PositionOf(diagnostic.getLocation());
  std::string message = diagnostic.str();
  mlir::FileLineColLoc source = SourceOf(diagnostic.getLocation());
  if (where.line == 0 && source)
    absl::StrAppend(&message, " (", source.getFilename().str(), ":", source.getLine(), ":", source.getColumn(), ")");
  Add(diagnostic.getSeverity(), where, std::move(message));
}

void DiagnosticCollector::Add(mlir::DiagnosticSeverity severity, TextPosition where, std::string message) {
  out_.push_back({SeverityOf(severity), stage_, where.line, where.column, std::move(message)});
}

bool DiagnosticCollector::HasError() const {
  return llvm::any_of(out_, [](const Diagnostic& d) { return d.severity == Diagnostic::Severity::kError; });
}

absl::Status DiagnosticCollector::FirstError(absl::StatusCode code) const {
  for (const Diagnostic& diagnostic : out_) {
    if (diagnostic.severity != Diagnostic::Severity::kError) continue;
    return absl::Status(code, absl::StrCat("stage ", StageName(diagnostic.stage), ", ", FormatDiagnostic(diagnostic)));
  }
  return absl::Status(code, absl::StrCat("stage ", StageName(stage_), " failed without a diagnostic"));
}

std::string FormatDiagnostic(const Diagnostic& diagnostic) {
  if (diagnostic.line == 0) return diagnostic.message;
  return absl::StrCat("line ", diagnostic.line, ", column ", diagnostic.column, ": ", diagnostic.message);
}

}  // namespace tritond::compiler
