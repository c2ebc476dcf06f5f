// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/emulated/ptx_text.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tritond::compiler::emulated {
namespace {

using Kind = PtxOperand::Kind;

// PTX ISA, "State Spaces, Types, and Variables": the width of a register's type; 0: none.
int BitsOfType(absl::string_view type) {
  if (type == "pred") return 1;
  int bits = 0;
  if (type.size() < 2 || absl::string_view("busf").find(type[0]) == absl::string_view::npos) return 0;
  if (!absl::SimpleAtoi(type.substr(1), &bits)) return 0;
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? bits : 0;
}

bool IsWordChar(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '%' || c == '.' || c == ':'; }

// Words, numbers and single punctuation characters. A word holds its dots, and "::" but no single colon.
absl::StatusOr<std::vector<std::string>> Tokens(absl::string_view text) {
  std::vector<std::string> tokens;
  size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (absl::ascii_isspace(c)) {
      ++i;
    } else if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i, 2) == "/*") {
      const size_t end = text.find("*/", i + 2);
      if (end == text.npos) return absl::InvalidArgumentError("a comment of inline PTX does not end");
      i = end + 2;
    } else if (c == '"') {
      const size_t end = text.find('"', i + 1);
      if (end == text.npos) return absl::InvalidArgumentError("a string of inline PTX does not end");
      tokens.emplace_back(text.substr(i, end + 1 - i));
      i = end + 1;
    } else if (c != ':' && IsWordChar(c)) {
      size_t end = i;
      while (end < text.size() && IsWordChar(text[end])) {
        if (text[end] == ':' && text.substr(end, 2) != "::") break;
        end += text[end] == ':' ? 2 : 1;
      }
      tokens.emplace_back(text.substr(i, end - i));
      i = end;
    } else {
      tokens.emplace_back(1, c);
      ++i;
    }
  }
  return tokens;
}

class Parser final {
 public:
  explicit Parser(std::vector<std::string> tokens) : tokens_(std::move(tokens)) { scopes_.emplace_back(); }

  absl::StatusOr<PtxText> Parse() {
    while (at_ < tokens_.size()) {
      if (absl::Status status = ParseNext(); !status.ok()) return status;
    }
    if (scopes_.size() != 1) return Wrong("a brace is not closed");
    for (const auto& [name, label] : labels_)
      if (!label.is_defined) return Wrong(absl::StrCat("no label ", name));
    text_.labels = static_cast<int>(next_label_);
    return std::move(text_);
  }

 private:
  struct Label {
    int index;
    bool is_defined = false;
  };

  absl::Status Wrong(absl::string_view what) const {
    const size_t begin = at_ > 6 ? at_ - 6 : 0, end = std::min(at_ + 6, tokens_.size());
    return absl::InvalidArgumentError(absl::StrCat(
        "inline PTX near '", absl::StrJoin(tokens_.begin() + begin, tokens_.begin() + end, " "), "': ", what));
  }

  absl::string_view Peek(size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? absl::string_view(tokens_[at_ + ahead]) : "";
  }
  bool Take(absl::string_view token) {
    if (Peek() != token) return false;
    ++at_;
    return true;
  }

  absl::Status ParseNext() {
    if (Take(";")) return absl::OkStatus();
    if (Take("{")) {
      scopes_.emplace_back();
      return absl::OkStatus();
    }
    if (Take("}")) {
      if (scopes_.size() == 1) return Wrong("a brace closes nothing");
      scopes_.pop_back();
      return absl::OkStatus();
    }
    if (Peek() == ".reg") return ParseRegisters();
    if (absl::StartsWith(Peek(), ".")) return Wrong(absl::StrCat("the emulator has no directive ", Peek()));
    if (Peek(1) == ":") return DefineLabel();
    return ParseStatement();
  }

  // ".reg .b32 a, b<4>;"
  absl::Status ParseRegisters() {
    ++at_;
    const int bits = BitsOfType(absl::StripPrefix(Peek(), "."));
    if (bits == 0) return Wrong("no type of registers");
    ++at_;
    do {
      const std::string name(Peek());
      ++at_;
      if (!Take("<")) {
        Declare(name, bits);
        continue;
      }
      int count = 0;
      if (!absl::SimpleAtoi(Peek(), &count) || count < 0 || count > 4096) return Wrong("a number of registers");
      ++at_;
      if (!Take(">")) return Wrong("'>' is missing");
      for (int i = 0; i < count; ++i) Declare(absl::StrCat(name, i), bits);
    } while (Take(","));
    return Take(";") ? absl::OkStatus() : Wrong("';' is missing");
  }

  void Declare(const std::string& name, int bits) {
    scopes_.back()[name] = static_cast<int>(text_.registers.size());
    text_.registers.push_back({name, bits});
  }

  // Labels are the text's, whatever their braces: no text that compilers write has one twice.
  int LabelIndex(const std::string& name, bool defines) {
    auto [it, is_new] = labels_.try_emplace(name, Label{next_label_, false});
    if (is_new) ++next_label_;
    if (defines) it->second.is_defined = true;
    return it->second.index;
  }

  absl::Status DefineLabel() {
    const std::string name(Peek());
    if (auto it = labels_.find(name); it != labels_.end() && it->second.is_defined)
      return Wrong(absl::StrCat("label ", name, " is there twice"));
    PtxStatement statement;
    statement.label = LabelIndex(name, true);
    text_.statements.push_back(std::move(statement));
    at_ += 2;
    return absl::OkStatus();
  }

  absl::Status ParseStatement() {
    PtxStatement statement;
    if (Take("@")) {
      const bool is_negated = Take("!");
      auto predicate = ParseOperand(false);
      if (!predicate.ok()) return predicate.status();
      statement.predicate = *std::move(predicate);
      statement.predicate->is_negated ^= is_negated;
    }
    if (Peek().empty() || !absl::ascii_isalpha(Peek()[0])) return Wrong("no instruction");
    statement.words = absl::StrSplit(Peek(), '.');
    ++at_;
    const bool is_branch = statement.words[0] == "bra";
    while (!Take(";")) {
      if (at_ >= tokens_.size()) return Wrong("';' is missing");
      if (!statement.operands.empty() && !Take(",")) return Wrong("',' or ';' is missing");
      auto operand = ParseOperand(is_branch);
      if (!operand.ok()) return operand.status();
      statement.operands.push_back(*std::move(operand));
    }
    text_.statements.push_back(std::move(statement));
    return absl::OkStatus();
  }

  absl::StatusOr<PtxOperand> ParseOperand(bool is_label) {
    auto operand = ParseSingle(is_label);
    if (!operand.ok() || !Take("|")) return operand;
    auto second = ParseSingle(false);
    if (!second.ok()) return second;
    PtxOperand pair;
    pair.kind = Kind::kPair;
    pair.parts = {*std::move(operand), *std::move(second)};
    return pair;
  }

  absl::StatusOr<PtxOperand> ParseSingle(bool is_label) {
    PtxOperand operand;
    if (Take("{")) return ParseList(Kind::kVector, "}");
    if (Take("[")) return ParseAddress();
    if (Take("!")) {
      auto negated = ParseSingle(false);
      if (negated.ok()) negated->is_negated = !negated->is_negated;
      return negated;
    }
    if (Take("-")) {
      auto positive = ParseSingle(false);
      if (!positive.ok()) return positive;
      if (positive->kind != Kind::kImmediate && positive->kind != Kind::kFloat) return Wrong("'-' before no number");
      positive->value = ~positive->value + 1;
      positive->number = -positive->number;
      return positive;
    }
    const std::string word(Peek());
    if (word.empty()) return Wrong("an operand is missing");
    ++at_;
    if (word == "_") return operand;
    if (word == "$" && Take("{")) return ParseBracedArgument();
    if (word[0] == '$') return Argument(absl::string_view(word).substr(1));
    if (absl::ascii_isdigit(word[0])) return ParseNumber(word);
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = scope->find(word);
      if (found == scope->end()) continue;
      operand.kind = Kind::kRegister;
      operand.index = found->second;
      return operand;
    }
    if (word[0] == '%') {
      operand.kind = Kind::kSpecial;
      operand.name = word.substr(1);
      return operand;
    }
    if (!is_label) return Wrong(absl::StrCat("no register ", word));
    operand.kind = Kind::kLabel;
    operand.index = LabelIndex(word, false);
    return operand;
  }

  absl::StatusOr<PtxOperand> Argument(absl::string_view digits) {
    PtxOperand operand;
    operand.kind = Kind::kArgument;
    if (!absl::SimpleAtoi(digits, &operand.index) || operand.index < 0) return Wrong("an argument's number is wrong");
    return operand;
  }

  // "${3}"
  absl::StatusOr<PtxOperand> ParseBracedArgument() {
    const std::string digits(Peek());
    ++at_;
    if (!Take("}")) return Wrong("'}' is missing");
    return Argument(digits);
  }

  absl::StatusOr<PtxOperand> ParseList(Kind kind, absl::string_view end) {
    PtxOperand list;
    list.kind = kind;
    do {
      auto part = ParseSingle(false);
      if (!part.ok()) return part;
      list.parts.push_back(*std::move(part));
    } while (Take(","));
    if (!Take(end)) return Wrong(absl::StrCat("'", end, "' is missing"));
    return list;
  }

  // "[base]", "[base + 16]", "[base, {x, y}]"
  absl::StatusOr<PtxOperand> ParseAddress() {
    PtxOperand address;
    address.kind = Kind::kAddress;
    auto base = ParseSingle(false);
    if (!base.ok()) return base;
    address.parts.push_back(*std::move(base));
    while (Peek() == "+" || Peek() == "-") {
      Take("+");  // a minus is the number's
      auto offset = ParseSingle(false);
      if (!offset.ok()) return offset;
      if (offset->kind != Kind::kImmediate) return Wrong("an offset is no number");
      address.offset += static_cast<int64_t>(offset->value);
    }
    while (Take(",")) {
      auto part = ParseSingle(false);
      if (!part.ok()) return part;
      address.parts.push_back(*std::move(part));
    }
    return Take("]") ? absl::StatusOr<PtxOperand>(address) : Wrong("']' is missing");
  }

  // PTX ISA, "Constants".
  absl::StatusOr<PtxOperand> ParseNumber(std::string word) {
    PtxOperand operand;
    operand.kind = Kind::kImmediate;
    const bool is_bits =
        word.size() > 2 && word[0] == '0' && (word[1] == 'f' || word[1] == 'F' || word[1] == 'd' || word[1] == 'D');
    char* end = nullptr;
    if (is_bits) {
      operand.value = std::strtoull(word.c_str() + 2, &end, 16);
      return *end == '\0' ? absl::StatusOr<PtxOperand>(operand) : Wrong("a number is wrong");
    }
    if (word.find('.') != word.npos) {
      operand.kind = Kind::kFloat;
      operand.number = std::strtod(word.c_str(), &end);
      return *end == '\0' ? absl::StatusOr<PtxOperand>(operand) : Wrong("a number is wrong");
    }
    if (word.back() == 'U' || word.back() == 'u') word.pop_back();
    const bool is_binary = absl::StartsWith(word, "0b") || absl::StartsWith(word, "0B");
    operand.value = is_binary ? std::strtoull(word.c_str() + 2, &end, 2) : std::strtoull(word.c_str(), &end, 0);
    return *end == '\0' ? absl::StatusOr<PtxOperand>(operand) : Wrong("a number is wrong");
  }

  const std::vector<std::string> tokens_;
  size_t at_ = 0;
  PtxText text_;
  std::vector<std::map<std::string, int>> scopes_;
  std::map<std::string, Label> labels_;
  int next_label_ = 0;
};

}  // namespace

std::string PtxStatement::Name() const { return absl::StrJoin(words, "."); }

bool PtxStatement::Has(absl::string_view word) const {
  return std::find(words.begin(), words.end(), word) != words.end();
}

absl::StatusOr<PtxText> ParsePtx(absl::string_view text) {
  auto tokens = Tokens(text);
  if (!tokens.ok()) return tokens.status();
  return Parser(*std::move(tokens)).Parse();
}

}  // namespace tritond::compiler::emulated
