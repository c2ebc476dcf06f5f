// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_DRIVER_DIAGNOSTICS_H_
#define COMPILER_DRIVER_DIAGNOSTICS_H_

#include <string>
#include <vector>

#include "compiler/driver/compile.h"
#include "compiler/ir/parse_module.h"
#include "mlir/IR/Diagnostics.h"

namespace tritond::compiler {

// Collects what MLIR complains about while it lives: the one place where MLIR diagnostics become Diagnostic and
// absl::Status. Used by one thread.
class DiagnosticCollector final {
 public:
  // `parsed` leads locations back to the request's text. Nothing is owned; all must outlive this.
  DiagnosticCollector(mlir::MLIRContext* context, const ParsedModule& parsed, std::vector<Diagnostic>& out);

  void SetStage(Stage stage) { stage_ = stage; }
  // A complaint that did not come through MLIR.
  void Add(mlir::DiagnosticSeverity severity, TextPosition where, std::string message);
  bool HasError() const;
  // `code` with the first error as its message, "stage ttir, line 3, column 8: …".
  absl::Status FirstError(absl::StatusCode code) const;

 private:
  void Handle(mlir::Diagnostic& diagnostic);

  const ParsedModule& parsed_;
  std::vector<Diagnostic>& out_;
  Stage stage_ = Stage::kTtir;
  mlir::ScopedDiagnosticHandler handler_;
};

// "line 3, column 8: message", or the message alone.
std::string FormatDiagnostic(const Diagnostic& diagnostic);

}  // namespace tritond::compiler

#endif  // COMPILER_DRIVER_DIAGNOSTICS_H_
