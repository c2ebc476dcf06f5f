// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ENCODING_PAIR_ENCODING_H_
#define COMPILER_ENCODING_PAIR_ENCODING_H_

#include "compiler/ir/tt_dialect.h"

namespace tritond::compiler {

// The encoding of the halves of `split`, whose operand comes under `encoding`, where different threads hold the
// elements of a pair. Bits of places that tell pairs apart, here and in the splits that follow, become bits of
// registers in the order in which they are split. They take the place of registers that none of these splits takes
// apart. All other elements stay where they are. Null where no thread has a register to give.
mlir::Attribute PairEncoding(tt::SplitOp split, mlir::Attribute encoding);

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_PAIR_ENCODING_H_
