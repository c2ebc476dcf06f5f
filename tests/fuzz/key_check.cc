// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/key_check.h"

#include "compiler/driver/step_keys.h"
#include "compiler/ir/test_context.h"
#include "compiler/text/check_text.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Parser/Parser.h"
#include "proto/request_key/canonical_text.h"

namespace tritond::tests {
namespace {

using compiler::CanonicalModule;
using Module = mlir::OwningOpRef<mlir::ModuleOp>;

bool Equal(mlir::ModuleOp a, mlir::ModuleOp b) {
  return mlir::OperationEquivalence::isEquivalentTo(a, b, mlir::OperationEquivalence::IgnoreLocations);
}

}  // namespace

struct KeyCheck::State {
  std::unique_ptr<mlir::MLIRContext> context = compiler::MakeTestContext();

  Module Parse(const std::string& text) const {
    if (compiler::CheckText(text)) return {};
    mlir::ScopedDiagnosticHandler quiet(context.get(), [](mlir::Diagnostic&) { return mlir::success(); });
    return mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(context.get()));
  }
};

KeyCheck::KeyCheck() : state_(std::make_unique<State>()) {}
KeyCheck::~KeyCheck() = default;

KeyCheck::Verdict KeyCheck::Check(const std::string& text) {
  Module sent = state_->Parse(text);
  if (!sent) return Verdict::kNoIr;
  for (proto::SourceLocations locations : {proto::SourceLocations::kDrop, proto::SourceLocations::kKeep}) {
    const absl::StatusOr<proto::CanonicalText> canonical = proto::CanonicalizeText(text, locations);
    if (!canonical.ok()) return Verdict::kRefused;
    Module keyed = state_->Parse(canonical->text);
    why_ = "the canonical text is no module:\n" + canonical->text;
    if (!keyed) return Verdict::kDiffers;
    why_ = "the canonical text is another module:\n" + canonical->text;
    if (!Equal(*sent, *keyed)) return Verdict::kDiffers;
  }
  // What is printed for the semantic key tells all about the module.
  const std::string printed = CanonicalModule(*sent);
  Module again = state_->Parse(printed);
  why_ = "what the semantic key is made of is no module:\n" + printed;
  if (!again) return Verdict::kDiffers;
  why_ = "what the semantic key is made of is another module:\n" + printed;
  return Equal(*sent, *again) ? Verdict::kSame : Verdict::kDiffers;
}

}  // namespace tritond::tests
