// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ENCODING_ACCESS_WIDTH_H_
#define COMPILER_ENCODING_ACCESS_WIDTH_H_

#include <cstdint>

#include "mlir/IR/Operation.h"

namespace tritond::compiler {

// An access to global memory among those that share an encoding.
struct WideAccess {
  mlir::Operation* op = nullptr;
  mlir::Value pointer;    // what it accesses
  int64_t bytes = 1;      // of an element
  int64_t width = 1;      // neighbouring elements that an instruction takes at most, or that have one address
  bool by_words = false;  // neighbours may begin anywhere, and are loaded as words and one word more
  double step = 1;        // of addresses, from an element to the next one, in elements; no more than 1

  // How many instructions access `neighbours` of them.
  int64_t InstructionsFor(int64_t neighbours) const;
};

// How many neighbouring elements a thread should have, a power of two of at most `most`. What an instruction takes of
// them lies as far apart in the lanes of a warp. So the cache moves the same bytes once for each instruction:
//
//   threads of 4 words        lanes of an aligned access     |0123|0123|…   one instruction
//                             of an unaligned one            |0   |0   |…   four, each over the same 512 bytes
//
// No instruction moves less than a word a lane. Where neighbours often have one address, as the pixels of an image that
// is enlarged, lanes are the nearer. Addresses that come from memory are anywhere, and take as long under any width.
// Accesses to neighbours of each other, as of a stencil, need the memory once and the cache each time. What constant
// bounds mask out, as at the edges of images, needs neither. `cache_ratio` says how many bytes the cache moves while
// memory moves one. Of the widths with the least time the largest is taken; with a ratio of 0, `most`.
int64_t CheapestWidth(llvm::ArrayRef<WideAccess> accesses, int64_t most, double cache_ratio);

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_ACCESS_WIDTH_H_
