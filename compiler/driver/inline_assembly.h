// SPDX-License-Identifier: Apache-2.0
// Whose mistake it is when an assembler rejects the text: tt.elementwise_inline_asm puts assembly of the caller's into
// it. Pure functions over text.
#ifndef COMPILER_DRIVER_INLINE_ASSEMBLY_H_
#define COMPILER_DRIVER_INLINE_ASSEMBLY_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/ir/parse_module.h"

namespace tritond::compiler {

// One operation's assembly, with its operands as $0, $1, …
struct InlineAssembly {
  std::string text;
  TextPosition where;  // of the operation, in the request's text
};

// The piece that a back end's complaint is about, or null when it is about the compiler's own text. `assembly` is what
// the back end was given, "" when LLVM itself has refused to write it. LLVM marks each inline assembly in it, its own
// and the compiler's, with a comment before and one after.
//
// A complaint is about a piece when it names a line of the piece. When it names none and quotes a word of the piece; or
// when a piece leaves something open, an error then comes anywhere after it. Linear in the texts, times the pieces.
const InlineAssembly* FindCulprit(const std::vector<InlineAssembly>& pieces, absl::string_view assembly,
                                  absl::string_view complaint);

}  // namespace tritond::compiler

#endif  // COMPILER_DRIVER_INLINE_ASSEMBLY_H_
