// SPDX-License-Identifier: Apache-2.0
// The part of SPIR-V's grammar that compute kernels use, as tables.
#ifndef COMPILER_TARGETS_INTEL_SPIRV_GRAMMAR_H_
#define COMPILER_TARGETS_INTEL_SPIRV_GRAMMAR_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace tritond::compiler::intel {

// What follows an opcode or an enumerant, a letter for each operand:
//   t  the result's type    r  the result    i  an id    n  a number of one word    s  a string
//   w  the words of a number, whose type says how many    x  a number of an OpenCL instruction
//   others: an enumerant of that kind
// "?" after a letter: at most one; "*": any number.
struct Instruction {
  uint32_t opcode;
  const char* name;  // without Op
  const char* operands;
};

struct Enumerant {
  char kind;
  const char* name;
  uint32_t value;
  const char* operands;
};

// Null: not in the tables.
const Instruction* FindInstruction(uint32_t opcode);
const Instruction* FindInstruction(absl::string_view name);
const Enumerant* FindEnumerant(char kind, uint32_t value);
const Enumerant* FindEnumerant(char kind, absl::string_view name);
// Whether operands of the kind are sets of enumerants, each of which is a bit.
bool IsMask(char kind);

// OpenCL's extended instructions. Null and a negative number: not in the table.
const char* OpenClInstruction(uint32_t number);
int64_t OpenClInstruction(absl::string_view name);

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_SPIRV_GRAMMAR_H_
