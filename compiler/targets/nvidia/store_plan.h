// SPDX-License-Identifier: Apache-2.0
// Through which slots of shared memory the stores of a loop go, and what each waits for.
#ifndef COMPILER_TARGETS_NVIDIA_STORE_PLAN_H_
#define COMPILER_TARGETS_NVIDIA_STORE_PLAN_H_

#include <optional>
#include <vector>

#include "compiler/targets/nvidia/named_blocks.h"
#include "compiler/targets/nvidia/tensor_map_maker.h"

namespace tritond::compiler {

// A store of a whole block, or a combination of its elements with a value's.
struct BlockStore {
  mlir::Operation* op;  // tt.store or tt.atomic_rmw
  tt::BlockMaskOp block;
  mlir::Value value;  // as threads hold it before it is converted for the store
  std::optional<tt::DescriptorReduceKind> reduction = {};
  std::optional<int> type_number = {};  // of the elements, where it matters which they are
};

// The part of its tensor with `sizes`, by copies from `slot`.
inline CopiedBlock CopiedBlockOf(const BlockStore& store, llvm::ArrayRef<int64_t> sizes, ttg::MemDescType slot) {
  return {store.block, sizes, slot, mlir::Value(), store.type_number};
}

// A wait for copies that the same thread has started.
struct StoreWait {
  int pending = 0;         // that may go on
  bool reads_only = true;  // they may still write
};

// A part of a block: one copy.
struct StorePart {
  size_t store = 0;   // its number
  int64_t begin = 0;  // in the dimension of the parts
  llvm::SmallVector<int64_t> sizes;
  size_t pool = 0;
  int64_t slot = 0;
  std::optional<StoreWait> wait;  // in front of the write to the slot
};

// Slots of one type, which are there while the loop runs.
struct SlotPool {
  ttg::MemDescType slot;
  int64_t slots = 0;
};

// A slot for a part, as bulk copies fill or read it; null where it is too small.
ttg::MemDescType SlotFor(mlir::RankedTensorType part);

struct StorePlan {
  llvm::SmallVector<BlockStore> stores;
  int dim = 0, parts = 1;         // of each block: the dimension of its value along which it is cut
  std::vector<StorePart> copies;  // in the order of the stores
  std::vector<SlotPool> pools;
};

// How a tensor becomes its halves along a dimension, each thread's half of what it has: 64x256, 64x2x128, 64x128x2, two
// times 64x128.
struct Halving {
  mlir::RankedTensorType reshaped, turned, half;
  llvm::SmallVector<int32_t> order;  // of the dimensions of `reshaped`
};
// Nothing where it takes elements from other threads.
std::optional<Halving> HalvingOf(mlir::RankedTensorType tensor, int dim);

// For stores in the order of the program. `runs`: how many follow each other with nothing between but operations that
// start no copies. Nothing where `free_bytes` do not suffice, or no tensor map can be made.
std::optional<StorePlan> PlanStores(llvm::ArrayRef<BlockStore> stores, llvm::ArrayRef<size_t> runs, int64_t free_bytes);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_STORE_PLAN_H_
