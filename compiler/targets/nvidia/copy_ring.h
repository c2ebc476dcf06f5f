// SPDX-License-Identifier: Apache-2.0
// The copies that fill a multibuffer, one slot after the other.
#ifndef COMPILER_TARGETS_NVIDIA_COPY_RING_H_
#define COMPILER_TARGETS_NVIDIA_COPY_RING_H_

#include "compiler/targets/nvidia/named_blocks.h"
#include "compiler/targets/nvidia/tensor_map_maker.h"
#include "compiler/targets/nvidia/ttng_dialect.h"
#include "llvm/ADT/SetVector.h"

namespace tritond::compiler {

// A copy of a whole block, as its mask says.
struct BlockCopy : NamedBlock {
  ttg::AsyncCopyGlobalToLocalOp copy;
};

// Copies of an iteration to the same slot of multibuffers that have as many slots.
struct CopyRing {
  int64_t slots = 0;
  mlir::BlockArgument slot;             // of the loop; advances by one an iteration
  int64_t ahead = 0;                    // from it to the one that an iteration fills
  llvm::SmallVector<BlockCopy> copies;  // of the body
  llvm::SmallVector<BlockCopy> firsts;  // in front of the loop
  int64_t first_slot = 0, fills = 0;    // there, the first slot and how many from it on are filled
  llvm::SmallSetVector<std::pair<mlir::Operation*, int64_t>, 2> first_waits =
      {};  // there, and the slots that they wait for
};

CopiedBlock CopiedBlockOf(BlockCopy copy);
// The slot that a copy fills.
ttg::MemDescIndexOp IndexOf(mlir::Operation* copy);
ttg::MemDescIndexOp IndexOf(const BlockCopy& copy);
// What they bring.
int64_t BytesOf(const BlockCopy& copy);
int64_t BytesOf(llvm::ArrayRef<BlockCopy> copies);
// The copies in front of the loop that fill the slot of this number, from the first one on.
llvm::SmallVector<BlockCopy> FirstsOf(const CopyRing& ring, int64_t fill);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_COPY_RING_H_
