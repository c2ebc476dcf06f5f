// SPDX-License-Identifier: Apache-2.0
// What spirv_disassembler.cc writes, and no more of the language: ids are numbers, and no number depends on a type.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/targets/intel/spirv_grammar.h"
#include "compiler/targets/intel/spirv_text.h"
#include "compiler/targets/intel/spirv_words.h"

namespace tritond::compiler::intel {
namespace {

constexpr size_t kMaxWords = 0xffff;

// Words of a line, of which a string is one, with its quotes.
std::vector<absl::string_view> Tokens(absl::string_view line) {
  std::vector<absl::string_view> tokens;
  while (true) {
    line = absl::StripLeadingAsciiWhitespace(line);
    if (line.empty() || line[0] == ';') return tokens;
    size_t end = 1;
    if (line[0] == '"') {
      while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, line.size());
    } else {
      while (end < line.size() && line[end] != ' ') ++end;
    }
    tokens.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

bool ReadRaw(absl::string_view token, uint32_t& word) {
  return absl::ConsumePrefix(&token, "!") && absl::SimpleHexAtoi(token, &word);
}

bool ReadId(absl::string_view token, uint32_t& id) {
  return absl::ConsumePrefix(&token, "%") && absl::SimpleAtoi(token, &id);
}

class Line final {
 public:
  explicit Line(std::vector<absl::string_view> tokens) : tokens_(std::move(tokens)) {}

  // False: the line is not understood.
  bool Assemble(std::vector<uint32_t>& words) {
    if (tokens_[0][0] == '!') return AssembleRaw(words);
    if (tokens_.size() > 2 && tokens_[1] == "=") {
      result_ = tokens_[0];
      at_ = 2;
    }
    absl::string_view name = tokens_[at_++];
    const Instruction* instruction = absl::ConsumePrefix(&name, "Op") ? FindInstruction(name) : nullptr;
    if (!instruction) return false;
    const size_t first = words.size();
    words.push_back(instruction->opcode);
    letters_ = instruction->operands;
    while (!letters_.empty()) {
      const char letter = letters_[0];
      const char more = letters_.size() > 1 && (letters_[1] == '?' || letters_[1] == '*') ? letters_[1] : '\0';
      const bool ended = letter != 'r' && at_ == tokens_.size();
      if (ended && more == '\0') return false;
      if (ended || more != '*') letters_.erase(0, more == '\0' ? 1 : 2);
      if (!ended && !AssembleOperand(letter, words)) return false;
    }
    if (at_ != tokens_.size() || !result_.empty() || words.size() - first > kMaxWords) return false;
    words[first] |= static_cast<uint32_t>(words.size() - first) << 16;
    return true;
  }

 private:
  bool AssembleRaw(std::vector<uint32_t>& words) {
    for (const absl::string_view token : tokens_) {
      uint32_t word = 0;
      if (!ReadRaw(token, word)) return false;
      words.push_back(word);
    }
    return true;
  }

  bool AssembleOperand(char letter, std::vector<uint32_t>& words) {
    if (letter == 's') return AssembleString(words);
    if (letter == 'w') return AssembleNumber(words);
    uint32_t word = 0;
    if (letter == 'r') {
      if (!ReadId(result_, word)) return false;
      result_ = "";
    } else if (letter == 'x') {
      const int64_t number = OpenClInstruction(tokens_[at_++]);
      if (number < 0) return false;
      word = static_cast<uint32_t>(number);
    } else if (letter == 't' || letter == 'i') {
      if (!ReadId(tokens_[at_++], word)) return false;
    } else if (letter == 'n') {
      if (!absl::SimpleAtoi(tokens_[at_++], &word)) return false;
    } else if (!AssembleEnumerants(letter, word)) {
      return false;
    }
    words.push_back(word);
    return true;
  }

  bool AssembleString(std::vector<uint32_t>& words) {
    absl::string_view token = tokens_[at_++];
    // The last quote of a string without end is not one of its own.
    if (token.size() < 2 || !absl::ConsumePrefix(&token, "\"") || !absl::ConsumeSuffix(&token, "\"")) return false;
    std::string text;
    for (size_t i = 0; i < token.size(); ++i) {
      if (token[i] == '\\' && i + 1 < token.size()) ++i;
      text.push_back(token[i]);
    }
    AppendString(text, words);
    return true;
  }

  bool AssembleNumber(std::vector<uint32_t>& words) {
    uint32_t word = 0;
    if (absl::SimpleAtoi(tokens_[at_], &word)) {
      ++at_;
      words.push_back(word);
      return true;
    }
    for (; at_ < tokens_.size(); ++at_) {
      if (!ReadRaw(tokens_[at_], word)) return false;
      words.push_back(word);
    }
    return true;
  }

  bool AssembleEnumerants(char kind, uint32_t& word) {
    std::string operands;
    for (const absl::string_view name : absl::StrSplit(tokens_[at_++], '|')) {
      const Enumerant* enumerant = FindEnumerant(kind, name);
      if (!enumerant) return false;
      word |= enumerant->value;
      operands += enumerant->operands;
    }
    letters_.insert(0, operands);
    return true;
  }

  const std::vector<absl::string_view> tokens_;
  absl::string_view result_;
  std::string letters_;
  size_t at_ = 0;
};

// A line of the header.
bool ReadHeader(absl::string_view line, SpirvWords& module) {
  if (absl::ConsumePrefix(&line, "; Generator: ")) return absl::SimpleHexAtoi(line, &module.generator);
  if (absl::ConsumePrefix(&line, "; Bound: ")) return absl::SimpleAtoi(line, &module.bound);
  if (!absl::ConsumePrefix(&line, "; Version: ")) return true;
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits('.', 1));
  uint32_t major = 0, minor = 0;
  if (!absl::SimpleAtoi(parts.first, &major) || !absl::SimpleAtoi(parts.second, &minor)) return false;
  module.version = major << 16 | minor << 8;
  return true;
}

}  // namespace

absl::StatusOr<std::string> AssembleSpirv(absl::string_view text) {
  SpirvWords module;
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const std::vector<absl::string_view> tokens = Tokens(line);
    if (tokens.empty() ? !ReadHeader(line, module) : !Line(tokens).Assemble(module.body))
      return absl::InternalError(absl::StrCat("line ", number, " of the SPIR-V text is not understood: ", line));
  }
  if (module.version == 0 || module.bound == 0)
    return absl::InternalError("the SPIR-V text does not begin with its version and bound");
  return module.Serialize();
}

}  // namespace tritond::compiler::intel
