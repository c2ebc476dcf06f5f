// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_PIPELINING_PROGRAMS_OF_LOOP_H_
#define COMPILER_PIPELINING_PROGRAMS_OF_LOOP_H_

#include <cstdint>
#include <optional>

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

// The programs of the kernel if they take turns with the iterations of a loop around `loop`, which each begins at its
// own number. In a loop over the steps of all tiles, the number of the tile is carried, and grows by as many. Nullopt
// where they do not, or where their number is not known. A loop over K alone may begin at a program's number, too: then
// several share a tile.
std::optional<int64_t> ProgramsOf(mlir::scf::ForOp loop);

}  // namespace tritond::compiler

#endif  // COMPILER_PIPELINING_PROGRAMS_OF_LOOP_H_
