// SPDX-License-Identifier: Apache-2.0
// Operands are printed by the grammar's letters. What it does not know is printed as the words that it is, each after
// an exclamation mark. The language allows that in any place. So an instruction or an enumerant that is new costs
// readers a look into the specification, and nothing else.
//
//   OpCapability Kernel
//   %9 = OpTypeInt 32 0
//   %63 = OpLoad %25 %62 Aligned 16
//   !0x000517e4 !0x00000011 !0x0000004c !0x0000004b
#include <unordered_set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/targets/intel/spirv_grammar.h"
#include "compiler/targets/intel/spirv_text.h"
#include "compiler/targets/intel/spirv_words.h"

namespace tritond::compiler::intel {
namespace {

constexpr uint32_t kTypeInt = 21;

std::string Raw(uint32_t word) { return absl::StrFormat("!0x%08x", word); }

// One instruction, by the letters of its operands that are still to come.
class Line final {
 public:
  Line(Words words, const std::unordered_set<uint32_t>& ints) : words_(words), ints_(ints) {}

  // Empty: the grammar does not fit.
  std::string Print(const Instruction& instruction) {
    letters_ = instruction.operands;
    text_ = absl::StrCat("Op", instruction.name);
    while (!letters_.empty()) {
      const char letter = letters_[0];
      const char more = letters_.size() > 1 && (letters_[1] == '?' || letters_[1] == '*') ? letters_[1] : '\0';
      const bool ended = at_ == words_.size();
      if (ended && more == '\0') return "";
      if (ended || more != '*') letters_.erase(0, more == '\0' ? 1 : 2);
      if (!ended && !PrintOperand(letter)) return "";
    }
    return at_ == words_.size() ? result_ + text_ : "";
  }

 private:
  void Add(absl::string_view operand) { absl::StrAppend(&text_, " ", operand); }

  bool PrintOperand(char letter) {
    switch (letter) {
      case 'r':
        result_ = absl::StrCat("%", words_[at_++], " = ");
        return true;
      case 't':
        type_ = words_[at_];
        ABSL_FALLTHROUGH_INTENDED;
      case 'i':
        Add(absl::StrCat("%", words_[at_++]));
        return true;
      case 'n':
        Add(absl::StrCat(words_[at_++]));
        return true;
      case 's':
        return PrintString();
      case 'w':
        PrintNumber();
        return true;
      case 'x':
        return PrintExtended();
      default:
        return IsMask(letter) ? PrintMask(letter) : PrintEnumerant(letter);
    }
  }

  bool PrintString() {
    const size_t first = at_;
    absl::StatusOr<std::string> text = ReadString(words_, at_);
    if (!text.ok()) return false;
    std::vector<uint32_t> again;
    AppendString(*text, again);
    if (Words(again) != words_.subspan(first, at_ - first)) return false;
    std::string quoted;
    for (const char c : *text) {
      if (!absl::ascii_isprint(c)) return false;
      if (c == '"' || c == '\\') quoted.push_back('\\');
      quoted.push_back(c);
    }
    Add(absl::StrCat("\"", quoted, "\""));
    return true;
  }

  void PrintNumber() {
    if (ints_.count(type_) > 0) return Add(absl::StrCat(words_[at_++]));
    while (at_ < words_.size()) Add(Raw(words_[at_++]));
  }

  // Of OpenCL, the only set that we import.
  bool PrintExtended() {
    const char* name = OpenClInstruction(words_[at_++]);
    if (name) Add(name);
    return name != nullptr;
  }

  bool PrintEnumerant(char kind) {
    const Enumerant* enumerant = FindEnumerant(kind, words_[at_]);
    if (!enumerant) return false;
    ++at_;
    Add(enumerant->name);
    letters_.insert(0, enumerant->operands);
    return true;
  }

  bool PrintMask(char kind) {
    const uint32_t mask = words_[at_];
    if (mask == 0) return PrintEnumerant(kind);
    ++at_;
    std::string names, operands;
    for (uint32_t bit = 1; bit != 0; bit <<= 1) {
      if ((mask & bit) == 0) continue;
      const Enumerant* enumerant = FindEnumerant(kind, bit);
      if (!enumerant) return false;
      absl::StrAppend(&names, names.empty() ? "" : "|", enumerant->name);
      absl::StrAppend(&operands, enumerant->operands);
    }
    Add(names);
    letters_.insert(0, operands);
    return true;
  }

  const Words words_;
  const std::unordered_set<uint32_t>& ints_;  // types of integers of one word
  std::string letters_, result_, text_;
  size_t at_ = 1;
  uint32_t type_ = 0;
};

}  // namespace

absl::StatusOr<std::string> DisassembleSpirv(absl::string_view binary) {
  absl::StatusOr<SpirvWords> module = SpirvWords::Parse(binary);
  if (!module.ok()) return module.status();
  std::string text =
      absl::StrFormat("; SPIR-V\n; Version: %d.%d\n; Generator: 0x%08x\n; Bound: %d\n; Schema: 0\n",
                      module->version >> 16, (module->version >> 8) & 0xff, module->generator, module->bound);
  std::unordered_set<uint32_t> ints;
  for (const Words words : module->instructions) {
    if (OpcodeOf(words) == kTypeInt && words.size() == 4 && words[2] == 32) ints.insert(words[1]);
    const Instruction* instruction = FindInstruction(OpcodeOf(words));
    std::string line = instruction ? Line(words, ints).Print(*instruction) : "";
    if (line.empty())
      for (const uint32_t word : words) absl::StrAppend(&line, line.empty() ? "" : " ", Raw(word));
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

}  // namespace tritond::compiler::intel
