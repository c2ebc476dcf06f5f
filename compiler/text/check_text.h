// SPDX-License-Identifier: Apache-2.0
// What MLIR's parser cannot be trusted with, found before it runs.
#ifndef COMPILER_TEXT_CHECK_TEXT_H_
#define COMPILER_TEXT_CHECK_TEXT_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "compiler/text/normalize_text.h"

namespace tritond::compiler {

// How deep brackets of all kinds may nest: kernels stay far below, and the parser recurses.
inline constexpr int kMaxNesting = 256;

// The largest result that a text may name, as in %x#1: the parser keeps a list of as many for each name.
inline constexpr int kMaxResultNumber = 65535;

// The first place of `text`, IR in the spelling of NormalizeText, that has one of four faults. Brackets nest too deep,
// or a value is named before the text defines it. Or a result's number is too large, or an array attribute has elements
// of no width. Nothing for text that is wrong in any other way: complaining is the parser's task.
std::optional<TextError> CheckText(absl::string_view text);

}  // namespace tritond::compiler

#endif  // COMPILER_TEXT_CHECK_TEXT_H_
