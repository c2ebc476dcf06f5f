// SPDX-License-Identifier: Apache-2.0
// The rewriting rules of normalize_text.h: one pass over the tokens, a rule for each word that needs one.
#ifndef COMPILER_TEXT_TEXT_RULES_H_
#define COMPILER_TEXT_TEXT_RULES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/text/normalize_text.h"
#include "compiler/text/text_cursor.h"

namespace tritond::compiler {

// Collects the edits of one text. Use once.
class TextRules {
 public:
  TextRules(absl::string_view text, NormalizeOptions options) : text_(text), options_(options) {}

  // Reads the whole text.
  void Run();
  // In order, without overlap, keeping line breaks. Empty after an error.
  std::vector<TextEdit> TakeEdits();
  // Where and why the text has no equivalent; `offset` is a byte of the text.
  struct Error {
    size_t offset;
    std::string message;
    bool is_unknown;
  };
  const std::optional<Error>& error() const { return error_; }

 private:
  using Rule = void (TextRules::*)(const TextToken& word, TextCursor after);
  static Rule RuleFor(absl::string_view word);

  void OnWord(const TextToken& word, TextCursor after);
  void OnSigil(const TextToken& sigil, TextCursor after);
  void OnString(const TextToken& string, TextCursor after);
  void OnBracket(const TextToken& token);

  void Assume(const TextToken& word, TextCursor after);
  void Assert(const TextToken& word, TextCursor after);
  void BranchWeights(const TextToken& word, TextCursor after);
  void DescriptorAccess(const TextToken& word, TextCursor after);
  void DotScaled(const TextToken& word, TextCursor after);
  void DropFlags(const TextToken& word, TextCursor after);
  void GpuBarrier(const TextToken& word, TextCursor after);
  void Loop(const TextToken& word, TextCursor after);
  void NumPrograms(const TextToken& word, TextCursor after);
  void Reshape(const TextToken& word, TextCursor after);
  void Undefined(const TextToken& word, TextCursor after);
  void Unsupported(const TextToken& word, TextCursor after);
  void OldAttributeName(const TextToken& word, absl::string_view name);
  void OldSharedEncoding(const TextToken& sigil, TextCursor after);
  void CheckType(const TextToken& token);
  bool DropLocation(const TextToken& token, TextCursor after);
  // The place before `word`'s results (`%a, %b = `), if its line holds nothing else before them.
  std::optional<size_t> StatementStart(const TextToken& word) const;

  void Replace(size_t begin, size_t end, std::string text);
  void Insert(size_t at, std::string text) { Replace(at, at, std::move(text)); }
  // Deletes [begin, end) and the spaces before it.
  void Drop(size_t begin, size_t end);
  // `is_unknown`: as in TextError.
  void Fail(size_t offset, std::string message, bool is_unknown = true);

  absl::string_view text_;
  NormalizeOptions options_;
  std::vector<TextEdit> edits_;
  std::optional<Error> error_;
  int loops_ = 0;  // unsigned loops so far
  int depth_ = 0;  // open brackets
};

}  // namespace tritond::compiler

#endif  // COMPILER_TEXT_TEXT_RULES_H_
