// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/unknown_names.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/ir/tt_dialect.h"
#include "compiler/text/text_cursor.h"
#include "mlir/IR/OperationSupport.h"

namespace tritond::compiler {
namespace {

using Kind = TextToken::Kind;

absl::string_view WithoutQuotes(absl::string_view text) {
  return absl::StartsWith(text, "\"") && text.size() > 1 ? text.substr(1, text.size() - 2) : text;
}

bool HasAttribute(mlir::RegisteredOperationName operation, absl::string_view name) {
  // Of every operation with several groups of operands or results.
  if (absl::EndsWith(name, "SegmentSizes") || absl::EndsWith(name, "_segment_sizes")) return true;
  return llvm::any_of(operation.getAttributeNames(),
                      [&](mlir::StringAttr known) { return absl::string_view(known.data(), known.size()) == name; });
}

// The first name of the map that `cursor` stands in, after its brace, that the operation does not have.
std::optional<TextToken> FindUnknownKey(mlir::RegisteredOperationName operation, TextCursor cursor) {
  while (true) {
    const TextToken key = cursor.Next();
    if (key.kind != Kind::kWord && key.kind != Kind::kString) return std::nullopt;
    if (!HasAttribute(operation, WithoutQuotes(key.text))) return key;
    for (TextToken token = cursor.Next(); !token.Is(","); token = cursor.Next()) {
      if (token.kind == Kind::kEnd || token.Is("}")) return std::nullopt;
      if (absl::StrContains("<([{", token.text)) cursor.SkipToClosing();
    }
  }
}

std::string HasNone(absl::string_view operation, absl::string_view attribute) {
  return absl::StrCat("'", operation, "' op has no attribute '", attribute, "' that this compiler knows");
}

}  // namespace

bool IsAboutUnknownName(absl::string_view message) {
  // MLIR's words, then those of encoding_fields.cc; unknown_names_test.cc has a text for each.
  constexpr const char* kWords[] = {"' is unknown",
                                    "' not found for custom op",
                                    "with an unregistered dialect",
                                    "created with unregistered dialect",
                                    "unregistered operation '",
                                    "unknown attribute `",
                                    "unknown  type `",
                                    "one of the following enum values",
                                    "encoding does not know '"};
  return llvm::any_of(kWords, [&](const char* words) { return absl::StrContains(message, words); });
}

std::string WithoutAdvice(std::string message) {
  for (const char* advice : {" ; Available dialects: ", ". If this is intended, ", "; see current operation: "}) {
    const size_t begin = message.find(advice);
    if (begin != std::string::npos) message.resize(begin);
  }
  return message;
}

std::optional<TextError> FindUnknownProperty(absl::string_view text, mlir::MLIRContext* context) {
  TextCursor cursor(text);
  for (TextToken token = cursor.Next(); token.kind != Kind::kEnd; token = cursor.Next()) {
    if (token.kind != Kind::kString) continue;
    const absl::string_view name = WithoutQuotes(token.text);
    auto operation = mlir::RegisteredOperationName::lookup(llvm::StringRef(name.data(), name.size()), context);
    // Operations of other dialects may have properties that are no attributes.
    if (!operation || !absl::StartsWith(operation->getDialectNamespace().str(), "tt")) continue;
    TextCursor after = cursor;
    if (!after.Take("(") || !after.SkipToClosing() || !after.Take("<") || !after.Take("{")) continue;
    if (std::optional<TextToken> key = FindUnknownKey(*operation, after))
      return TextError{PositionAt(text, key->begin), HasNone(name, WithoutQuotes(key->text)), /*is_unknown=*/true};
  }
  return std::nullopt;
}

std::optional<UnknownAttribute> FindUnknownAttribute(mlir::ModuleOp module) {
  std::optional<UnknownAttribute> found;
  module->walk([&](mlir::Operation* op) {
    for (mlir::NamedAttribute attribute : op->getDiscardableAttrs()) {
      const llvm::StringRef name = attribute.getName();
      if (name.contains('.') || (llvm::isa<tt::FuncOp>(op) && name == "noinline")) continue;
      found = UnknownAttribute{op->getLoc(), HasNone(op->getName().getStringRef().str(), name.str())};
      return mlir::WalkResult::interrupt();
    }
    return mlir::WalkResult::advance();
  });
  return found;
}

}  // namespace tritond::compiler
