// SPDX-License-Identifier: Apache-2.0
// IR text of any supported release to a verified module, and back from a diagnostic to the text.
#ifndef COMPILER_IR_PARSE_MODULE_H_
#define COMPILER_IR_PARSE_MODULE_H_

#include <string>
#include <utility>
#include <vector>

#include "compiler/text/normalize_text.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"

namespace tritond::compiler {

// One complaint about IR text. `where` is {0, 0} when nothing of the text is to blame.
struct IrDiagnostic {
  mlir::DiagnosticSeverity severity = mlir::DiagnosticSeverity::Error;
  TextPosition where;
  std::string message;
  bool is_unknown = false;  // about a name that this compiler does not have; a newer release may have written it
};

class ParsedModule {
 public:
  ParsedModule() = default;  // of no text
  // `module` is null when there are errors; positions in it are those of `text`, those of `diagnostics` the original's.
  ParsedModule(NormalizedText text, mlir::OwningOpRef<mlir::ModuleOp> module, std::vector<IrDiagnostic> diagnostics)
      : text_(std::move(text)), module_(std::move(module)), diagnostics_(std::move(diagnostics)) {}

  // Null when parsing or verification failed; diagnostics() then says why.
  mlir::ModuleOp module() const { return module_ ? *module_ : mlir::ModuleOp(); }
  mlir::OwningOpRef<mlir::ModuleOp> TakeModule() { return std::move(module_); }
  const std::vector<IrDiagnostic>& diagnostics() const { return diagnostics_; }
  // Whether the first error is about a name that this compiler does not have: the text may well be right.
  bool NamesUnknown() const;
  // Where in the original text an operation of this location stands; {0, 0} if the location is one of a source
  // program. Valid for any location that comes from this module, also after passes.
  TextPosition PositionOf(mlir::Location location) const;

 private:
  NormalizedText text_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::vector<IrDiagnostic> diagnostics_;
};

// Parses and verifies `ir`; emits nothing through the context's diagnostic engine. With `keep_locations` operations
// keep the source locations that the text gives them; without, each is located in the text itself. `context` has the
// dialects registered and must outlive the result.
ParsedModule ParseModule(std::string ir, mlir::MLIRContext* context, bool keep_locations = false);

}  // namespace tritond::compiler

#endif  // COMPILER_IR_PARSE_MODULE_H_
