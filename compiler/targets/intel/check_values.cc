// SPDX-License-Identifier: Apache-2.0
// Two passes: the first finds where ids are defined and of which types, as blocks may stand before what they use. The
// second looks at the operands. Words whose grammar is not known are passed over.
#include "compiler/targets/intel/check_values.h"

#include <unordered_map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/targets/intel/spirv_grammar.h"

namespace tritond::compiler::intel {
namespace {

constexpr uint32_t kTypePointer = 32, kStore = 62, kSelect = 169, kPhi = 245;

// Instructions whose operands have the type of their result.
bool IsUniform(uint32_t opcode) {
  const bool arithmetic = opcode >= 126 && opcode <= 141;  // OpSNegate … OpFMod
  const bool bits = opcode >= 197 && opcode <= 200;        // OpBitwiseOr … OpNot
  const bool logic = opcode >= 166 && opcode <= 168;       // OpLogicalOr … OpLogicalNot
  return arithmetic || bits || logic;
}

// Whose first operand alone has: a shift may be counted in another type.
bool IsShift(uint32_t opcode) { return opcode >= 194 && opcode <= 196; }

// Whose two operands have one type.
bool IsComparison(uint32_t opcode) { return opcode >= 170 && opcode <= 191; }  // OpIEqual … OpFUnordGreaterThanEqual

class Checker final {
 public:
  explicit Checker(const SpirvWords& module) : module_(module) {}

  absl::Status Check() {
    for (const Words words : module_.instructions)
      if (absl::Status status = Define(words); !status.ok()) return status;
    for (const Words words : module_.instructions) {
      const Instruction* instruction = FindInstruction(OpcodeOf(words));
      if (!instruction) continue;
      const std::string problem = Problem(words, *instruction);
      if (!problem.empty()) return absl::InternalError(absl::StrCat("Op", instruction->name, ": ", problem));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Define(Words words) {
    const Instruction* instruction = FindInstruction(OpcodeOf(words));
    if (!instruction) return absl::OkStatus();
    const absl::string_view operands = instruction->operands;
    const bool has_type = absl::StartsWith(operands, "tr");
    if (!has_type && !absl::StartsWith(operands, "r")) return absl::OkStatus();
    const size_t at = has_type ? 2 : 1;
    if (words.size() <= at) return absl::InternalError(absl::StrCat("Op", instruction->name, " has no result"));
    const uint32_t id = words[at];
    if (id >= module_.bound)
      return absl::InternalError(absl::StrCat("id ", id, " is not below the bound, ", module_.bound));
    if (!types_.emplace(id, has_type ? words[1] : 0).second)
      return absl::InternalError(absl::StrCat("id ", id, " is defined more than once"));
    if (OpcodeOf(words) == kTypePointer && words.size() == 4) pointees_[id] = words[3];
    return absl::OkStatus();
  }

  // Of a value; 0: it has none.
  uint32_t TypeOf(uint32_t id) const {
    const auto found = types_.find(id);
    return found == types_.end() ? 0 : found->second;
  }

  // Empty: none.
  std::string Problem(Words words, const Instruction& instruction) const {
    size_t at = 1;
    for (const char letter : absl::string_view(instruction.operands)) {
      if (letter == '?' || letter == '*') continue;
      if (at >= words.size() || (letter != 'i' && letter != 't' && letter != 'r')) break;
      if (types_.count(words[at]) == 0) return absl::StrCat("id ", words[at], " is not defined");
      ++at;
    }
    const uint32_t opcode = OpcodeOf(words);
    if (IsUniform(opcode)) return Mismatch(words, words[1], 3, 1);
    if (IsShift(opcode)) return Mismatch(words.subspan(0, 4), words[1], 3, 1);
    if (IsComparison(opcode)) return Mismatch(words, TypeOf(words[3]), 4, 1);
    if (opcode == kSelect) return Mismatch(words, words[1], 4, 1);
    if (opcode == kPhi) return Mismatch(words, words[1], 3, 2);
    if (opcode == kStore) {
      const auto pointee = pointees_.find(TypeOf(words[1]));
      if (pointee == pointees_.end()) return "the place is no pointer";
      return Mismatch(words.subspan(0, 3), pointee->second, 2, 1);
    }
    return "";
  }

  std::string Mismatch(Words words, uint32_t type, size_t first, size_t step) const {
    for (size_t at = first; at < words.size(); at += step)
      if (TypeOf(words[at]) != type) return absl::StrCat("%", words[at], " is not of the type %", type);
    return "";
  }

  const SpirvWords& module_;
  std::unordered_map<uint32_t, uint32_t> types_;     // of each id; 0: it is no value
  std::unordered_map<uint32_t, uint32_t> pointees_;  // types that pointer types point to
};

}  // namespace

absl::Status CheckValues(const SpirvWords& module) { return Checker(module).Check(); }

}  // namespace tritond::compiler::intel
