// SPDX-License-Identifier: Apache-2.0
// Bulk copies by tensor maps in place of asynchronous copies of single words.
#ifndef COMPILER_TARGETS_NVIDIA_BULK_COPIES_H_
#define COMPILER_TARGETS_NVIDIA_BULK_COPIES_H_

#include <optional>

#include "compiler/targets/nvidia/named_blocks.h"
#include "compiler/targets/nvidia/slot_barriers.h"
#include "compiler/targets/nvidia/tensor_map_maker.h"
#include "compiler/targets/nvidia/ttng_dialect.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

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
  llvm::SmallSetVector<std::pair<mlir::Operation*, int64_t>, 2> first_waits;  // there, and the slots that they wait for
};

class BulkCopies final {
 public:
  // Of the body of `loop`: all its copies, and its only wait for copies, in front of them. `firsts`: the copies in
  // front of the loop for its first iterations. `arrival`: in front of which warps are done with what the next
  // iteration's copies write; null: they are in front of these. Nothing where bulk copies cannot take their place.
  static std::optional<BulkCopies> Find(mlir::scf::ForOp loop, ttg::AsyncWaitOp wait,
                                        llvm::ArrayRef<mlir::Operation*> copies,
                                        llvm::ArrayRef<mlir::Operation*> firsts, mlir::Operation* arrival);

  // Whether the loop gains by it.
  bool Pays();

  // `maps`: the function's.
  void Apply(TensorMapMaker& maps);

 private:
  bool FindFills(CopyRing& ring);
  bool FindDistance();
  bool FindLateWait(mlir::Value token);
  bool FindFirstWaits();
  bool AddCopy(mlir::Operation* op);
  bool AddFirst(mlir::Operation* op);

  mlir::Operation* Begin();
  mlir::Operation* FirstCopy();
  void MakeBarriers(mlir::OpBuilder& b);
  void CarryPhases(mlir::RewriterBase& b);
  void WaitForCopies(mlir::OpBuilder& b);
  void WaitForReads(mlir::OpBuilder& b);
  void WaitBehindLoop(mlir::OpBuilder& b);
  void ReplaceCopies(TensorMapMaker& maps);
  void WaitBeforeLoop(mlir::OpBuilder& b);
  void EraseCopies(mlir::RewriterBase& b, mlir::Value no_token);
  // Of the first ring, the slot that the first iteration reads, and whether that is another one than the first filled.
  int64_t FirstRead() const {
    const CopyRing& ring = rings_.front();
    return (ring.first_slot + ring.fills - distance_) % ring.slots;
  }
  bool HasTurn() const { return rings_.front().fills != distance_; }

  mlir::scf::ForOp loop_;
  mlir::Operation* arrival_ = nullptr;
  ttg::AsyncWaitOp wait_, late_wait_;
  int64_t distance_ = 0;  // iterations from a copy to the wait for it
  llvm::SmallVector<CopyRing, 0> rings_;
  // Of the loop as it becomes, for each ring: mbarriers that say that slots are full, the slot that an iteration reads,
  // and its phase. Of the first ring, those that say that slots are empty.
  llvm::SmallVector<SlotBarriers> full_;
  std::optional<SlotBarriers> empty_;
  llvm::SmallVector<mlir::Value> slots_, phases_;
};

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_BULK_COPIES_H_
