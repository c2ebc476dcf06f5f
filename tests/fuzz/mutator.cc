// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <cctype>

namespace tritond::tests {
namespace {

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool IsName(char c) { return IsWord(c) || c == '.' || c == '$' || c == '#'; }
bool IsPercent(char c) { return c == '%'; }
bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)); }

const std::vector<std::string>& Numbers() {
  static const auto* numbers = new std::vector<std::string>{"0",
                                                            "1",
                                                            "2",
                                                            "3",
                                                            "4",
                                                            "5",
                                                            "7",
                                                            "8",
                                                            "16",
                                                            "31",
                                                            "32",
                                                            "33",
                                                            "64",
                                                            "-1",
                                                            "63",
                                                            "128",
                                                            "256",
                                                            "512",
                                                            "1024",
                                                            "4096",
                                                            "2147483647",
                                                            "4294967296",
                                                            "9223372036854775807",
                                                            "-8"};
  return *numbers;
}

const std::vector<std::string>& Types() {
  static const auto* types = new std::vector<std::string>{"i1",
                                                          "i8",
                                                          "i16",
                                                          "i32",
                                                          "i64",
                                                          "f16",
                                                          "bf16",
                                                          "f32",
                                                          "f64",
                                                          "f8E4M3FN",
                                                          "f8E5M2",
                                                          "f8E4M3FNUZ",
                                                          "f8E5M2FNUZ",
                                                          "index",
                                                          "i4",
                                                          "i7",
                                                          "i128",
                                                          "f128",
                                                          "f80",
                                                          "tf32",
                                                          "none",
                                                          "!tt.ptr<f32>",
                                                          "!tt.ptr<i8>",
                                                          "!tt.ptr<i64, 3>",
                                                          "tensor<16xf32>",
                                                          "vector<4xf32>",
                                                          "!tt.tensordesc<tensor<16x16xf16>>",
                                                          "si8",
                                                          "ui8",
                                                          "memref<4xi8>",
                                                          "()"};
  return *types;
}

bool IsType(const std::string& word) { return std::find(Types().begin(), Types().end(), word) != Types().end(); }

size_t LineBegin(const std::string& text, size_t at) {
  size_t newline = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  return newline == std::string::npos ? 0 : newline + 1;
}
size_t LineEnd(const std::string& text, size_t at) {
  size_t newline = text.find('\n', at);
  return newline == std::string::npos ? text.size() : newline + 1;
}

}  // namespace

std::vector<Mutator::Span> Mutator::Words(const std::string& text, bool (*first)(char), bool (*inside)(char)) {
  std::vector<Span> spans;
  for (size_t i = 0; i < text.size();) {
    if (first(text[i]) && (i == 0 || !inside(text[i - 1]) || text[i] == '%')) {
      size_t begin = i++;
      while (i < text.size() && inside(text[i])) ++i;
      spans.push_back({begin, i - begin});
    } else {
      ++i;
    }
  }
  return spans;
}

void Mutator::Replace(std::string& text, const std::vector<Span>& spans, const std::string& with) {
  if (spans.empty()) return;
  const Span& span = OneOf(spans);
  text.replace(span.begin, span.length, with);
}

std::string Mutator::BorrowedLine() {
  const std::string& other = OneOf(corpus_);
  if (other.empty()) return "\n";
  size_t at = Below(other.size()), begin = LineBegin(other, at);
  return other.substr(begin, LineEnd(other, at) - begin);
}

void Mutator::ChangeNumber(std::string& text) {
  // Digits at the begin of words, dimensions of shapes included.
  std::vector<Span> spans;
  for (size_t i = 0; i < text.size(); ++i) {
    bool begins =
        IsDigit(text[i]) && (i == 0 || !IsWord(text[i - 1]) || (text[i - 1] == 'x' && i > 1 && IsDigit(text[i - 2])));
    if (!begins) continue;
    size_t end = i;
    while (end < text.size() && IsDigit(text[end])) ++end;
    spans.push_back({i, end - i});
  }
  Replace(text, spans, OneOf(Numbers()));
}

void Mutator::ChangeNumberEverywhere(std::string& text) {
  std::vector<Span> spans = Words(text, IsDigit, IsDigit);
  if (spans.empty()) return;
  const Span& span = OneOf(spans);
  const std::string from = text.substr(span.begin, span.length), to = OneOf(Numbers());
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
    bool whole =
        (at == 0 || !IsDigit(text[at - 1])) && (at + from.size() >= text.size() || !IsDigit(text[at + from.size()]));
    bool in_name = at > 0 && (text[at - 1] == '%' || IsLetter(text[at - 1])) && text[at - 1] != 'x';
    if (whole && !in_name)
      text.replace(at, from.size(), to), at += to.size();
    else
      at += from.size();
  }
}

void Mutator::ChangeType(std::string& text) {
  std::vector<Span> spans;
  for (const Span& span : Words(text, IsLetter, IsWord))
    if (IsType(text.substr(span.begin, span.length))) spans.push_back(span);
  // Elements of tensors follow an x.
  for (size_t i = 2; i + 2 < text.size(); ++i) {
    if (text[i - 1] != 'x' || !IsDigit(text[i - 2]) || !IsLetter(text[i])) continue;
    size_t end = i;
    while (end < text.size() && IsWord(text[end])) ++end;
    spans.push_back({i, end - i});
  }
  Replace(text, spans, OneOf(Types()));
}

void Mutator::ChangeTypeEverywhere(std::string& text) {
  const std::string &from = Types()[Below(11)], &to = OneOf(Types());
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
    bool ends = at + from.size() >= text.size() || !IsWord(text[at + from.size()]);
    bool begins = at == 0 || !IsWord(text[at - 1]) || text[at - 1] == 'x';
    if (begins && ends)
      text.replace(at, from.size(), to), at += to.size();
    else
      at += from.size();
  }
}

void Mutator::ChangeShape(std::string& text) {
  std::vector<Span> spans;
  for (size_t at = 0; (at = text.find("tensor<", at)) != std::string::npos; at += 7) {
    size_t end = at + 7;
    while (end < text.size() && (IsDigit(text[end]) || text[end] == 'x')) ++end;
    spans.push_back({at + 7, end - at - 7});
  }
  static const std::vector<std::string> shapes = {"",       "1x",         "16x",      "3x",           "0x",
                                                  "64x64x", "2x2x2x2x2x", "1048576x", "2097152x",     "?x",
                                                  "*x",     "1x1x",       "128x1x",   "99999999999x", "16x16x"};
  Replace(text, spans, OneOf(shapes));
}

void Mutator::ChangeOperation(std::string& text) {
  auto operations = [](const std::string& from) {
    std::vector<Span> spans;
    for (const Span& span : Words(from, IsLetter, IsName)) {
      std::string word = from.substr(span.begin, span.length);
      if (word.find('.') != std::string::npos && word.find('.') < word.size() - 1) spans.push_back(span);
    }
    return spans;
  };
  const std::string& other = OneOf(corpus_);
  std::vector<Span> spans = operations(other);
  if (spans.empty()) return;
  const Span& span = OneOf(spans);
  Replace(text, operations(text), other.substr(span.begin, span.length));
}

void Mutator::ChangeOperand(std::string& text) {
  std::vector<Span> spans = Words(text, IsPercent, IsName);
  if (spans.empty()) return;
  const Span& span = OneOf(spans);
  Replace(text, spans, text.substr(span.begin, span.length));
}

void Mutator::ChangeKeyword(std::string& text) {
  static const std::vector<std::string> words = {
      "true",   "false",   "dense", "array", "unit",    "none",   "axis", "order", "fadd",  "add",
      "xchg",   "acq_rel", "gpu",   "cta",   "sys",     "rtne",   "rtz",  "tf32",  "ieee",  "x",
      "y",      "z",       "w",     "slt",   "ult",     "ogt",    "to",   "step",  "else",  "iter_args",
      "public", "private", "nsw",   "loc",   "mutable", "shared", "e2m1", "opIdx", "parent"};
  Replace(text, Words(text, IsLetter, IsWord), OneOf(words));
}

void Mutator::ChangeLines(std::string& text) {
  if (text.empty()) return;
  size_t at = Below(text.size()), begin = LineBegin(text, at), end = LineEnd(text, at);
  std::string line = text.substr(begin, end - begin);
  size_t kind = Below(3);
  if (kind != 0) text.erase(begin, end - begin);  // gone, or moved
  if (kind == 1 || text.empty()) return;
  text.insert(LineBegin(text, Below(text.size())), line);
}

// Removes a pair of brackets with what is inside.
void Mutator::DropBraces(std::string& text) {
  static const std::string open = "{[(<", close = "}])>";
  size_t which = Below(4);
  std::vector<size_t> places;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == open[which]) places.push_back(i);
  if (places.empty()) return;
  size_t begin = OneOf(places), end = text.find(close[which], begin);
  if (end != std::string::npos) text.erase(begin + Below(2), end - begin);
}

void Mutator::InsertLine(std::string& text) {
  if (!text.empty()) text.insert(LineBegin(text, Below(text.size())), BorrowedLine());
}

void Mutator::ChangeBytes(std::string& text) {
  if (text.empty()) return;
  size_t at = Below(text.size());
  switch (Below(5)) {
    case 0:
      text[at] = static_cast<char>(Below(256));
      break;
    case 1:
      text.erase(at, 1 + Below(8));
      break;
    case 2:
      text.insert(at, 1, "(){}[]<>\"%#!@,:=-\\\n\0"[Below(20)]);
      break;
    case 3:
      text.insert(at, text.substr(Below(text.size()), Below(40)));
      break;
    default:
      if (Below(8) == 0) text.resize(at);
  }
}

// Deep nesting, for whoever recurses.
void Mutator::Nest(std::string& text) {
  if (text.empty() || Below(20)) return;
  static const std::vector<std::string> open = {
      "(", "[", "{a = ", "tensor<", "#ttg.slice<{dim = 0, parent = ", "!tt.ptr<", "loc(", "<"};
  std::string nested;
  const std::string& part = OneOf(open);
  for (size_t i = 0, count = size_t{1} << Below(17); i < count; ++i) nested += part;
  text.insert(Below(text.size()), nested);
}

std::string Mutator::Mutate(std::string text) {
  static const std::vector<Change> changes = {&Mutator::ChangeNumber,
                                              &Mutator::ChangeNumber,
                                              &Mutator::ChangeNumberEverywhere,
                                              &Mutator::ChangeNumberEverywhere,
                                              &Mutator::ChangeType,
                                              &Mutator::ChangeType,
                                              &Mutator::ChangeTypeEverywhere,
                                              &Mutator::ChangeTypeEverywhere,
                                              &Mutator::ChangeShape,
                                              &Mutator::ChangeOperation,
                                              &Mutator::ChangeOperation,
                                              &Mutator::ChangeOperand,
                                              &Mutator::ChangeOperand,
                                              &Mutator::ChangeKeyword,
                                              &Mutator::ChangeLines,
                                              &Mutator::ChangeLines,
                                              &Mutator::DropBraces,
                                              &Mutator::InsertLine,
                                              &Mutator::ChangeBytes,
                                              &Mutator::Nest};
  size_t count = Below(3) ? 1 : 1 + Below(6);
  for (size_t i = 0; i < count; ++i) (this->*OneOf(changes))(text);
  return text;
}

}  // namespace tritond::tests
