// SPDX-License-Identifier: Apache-2.0
// What IR text names and this compiler does not have: operations, attributes, encodings, dialects. A newer release of
// Triton may have written them, so they are no mistake of the caller.
#ifndef COMPILER_IR_UNKNOWN_NAMES_H_
#define COMPILER_IR_UNKNOWN_NAMES_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "compiler/text/normalize_text.h"
#include "mlir/IR/BuiltinOps.h"

namespace tritond::compiler {

// Whether a complaint of the parser or the verifier is about a name that nobody has registered.
bool IsAboutUnknownName(absl::string_view message);
// The complaint without the parser's advice to those who call it.
std::string WithoutAdvice(std::string message);

// MLIR takes the two below without a word and drops what it took. Both give the first one, or nothing.

// A property `<{name = …}>` of a Triton operation in `text`, which parses, that the operation does not have.
std::optional<TextError> FindUnknownProperty(absl::string_view text, mlir::MLIRContext* context);
// An operation with an attribute that it does not have, and the complaint. Names with a dialect's prefix (`tt.latency`)
// are hints by MLIR's convention: to drop one keeps what the kernel computes.
struct UnknownAttribute {
  mlir::Location where;
  std::string message;
};
std::optional<UnknownAttribute> FindUnknownAttribute(mlir::ModuleOp module);

}  // namespace tritond::compiler

#endif  // COMPILER_IR_UNKNOWN_NAMES_H_
