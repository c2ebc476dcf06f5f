// SPDX-License-Identifier: Apache-2.0
// Inline PTX as statements: what LLVM hands to the assembler unread, and the emulator has to understand.
#ifndef COMPILER_TARGETS_EMULATED_PTX_TEXT_H_
#define COMPILER_TARGETS_EMULATED_PTX_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tritond::compiler::emulated {

struct PtxOperand {
  enum class Kind {
    kRegister,   // declared in the text; `index` into PtxText::registers
    kArgument,   // "$3"; `index` is its number
    kImmediate,  // `value`, as bits
    kFloat,      // a decimal one: `number`
    kSpecial,    // "%tid.x"; `name`
    kSink,       // "_"
    kAddress,    // "[base + offset]", more `parts` after the base of tensor copies
    kVector,     // "{a, b}"
    kPair,       // "d|p"
    kLabel,      // of a branch; `index`
  };
  Kind kind = Kind::kSink;
  int index = 0;
  uint64_t value = 0;
  double number = 0;
  int64_t offset = 0;
  bool is_negated = false;  // "!p"
  std::string name;
  std::vector<PtxOperand> parts;
};

struct PtxStatement {
  std::optional<int> label;             // stands here; no instruction then
  std::optional<PtxOperand> predicate;  // "@p", negated by "@!p"
  std::vector<std::string> words;       // "ld.global.b32" cut at its dots
  std::vector<PtxOperand> operands;

  std::string Name() const;  // "ld.global.b32"
  bool Has(absl::string_view word) const;
};

// A register of the text's own. Names are resolved: braces hold a scope each.
struct PtxRegister {
  std::string name;
  int bits = 0;  // 1: a predicate
};

struct PtxText {
  std::vector<PtxRegister> registers;
  int labels = 0;
  std::vector<PtxStatement> statements;
};

// Total: InvalidArgument with what is wrong and the statement around it.
absl::StatusOr<PtxText> ParsePtx(absl::string_view text);

}  // namespace tritond::compiler::emulated

#endif  // COMPILER_TARGETS_EMULATED_PTX_TEXT_H_
