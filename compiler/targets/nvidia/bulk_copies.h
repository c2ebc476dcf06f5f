// SPDX-License-Identifier: Apache-2.0
// Bulk copies by tensor maps in place of asynchronous copies of single words.
#ifndef COMPILER_TARGETS_NVIDIA_BULK_COPIES_H_
#define COMPILER_TARGETS_NVIDIA_BULK_COPIES_H_

#include <optional>

#include "compiler/targets/nvidia/copy_ring.h"
#include "compiler/targets/nvidia/slot_barriers.h"
#include "compiler/targets/nvidia/tensor_map_maker.h"
#include "compiler/targets/nvidia/tile_copies.h"
#include "compiler/targets/nvidia/ttng_dialect.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace tritond::compiler {

class BulkCopies final {
 public:
  // Of the body of `loop`: all its copies, and its only wait for copies, in front of them. `firsts`: the copies in
  // front of the loop for its first iterations. `arrival`: in front of which warps are done with what the next
  // iteration's copies write; null: they are in front of these. `loop_maps`: tensor maps may be made in loops. Nothing
  // where bulk copies cannot take their place.
  static std::optional<BulkCopies> Find(mlir::scf::ForOp loop, ttg::AsyncWaitOp wait,
                                        llvm::ArrayRef<mlir::Operation*> copies,
                                        llvm::ArrayRef<mlir::Operation*> firsts, mlir::Operation* arrival,
                                        bool loop_maps);

  // Whether the loop gains by it.
  bool Pays();

  // Lets the copies of a persistent kernel go on from tile to tile, if it can be done (tile_copies.h). Its buffers
  // are then there while it stores.
  void GoOnFromTileToTile();

  // `maps`: the function's.
  void Apply(TensorMapMaker& maps);

 private:
  bool FindFills(CopyRing& ring);
  bool HaveOwnGroups();
  bool FindDistance();
  bool FindLateWait(mlir::Value token);
  bool FindFirstWaits();
  bool FindWrites();
  bool AreMapsKnown();
  bool IsRepeatedByMap();
  bool DoesMoreThanAdd();
  bool HasNarrowCopies();
  bool AddCopy(mlir::Operation* op);
  bool AddFirst(mlir::Operation* op);

  mlir::Operation* Begin();
  mlir::Operation* FirstCopy();
  void MakeBarriers(mlir::OpBuilder& b);
  llvm::SmallVector<mlir::Value> FirstPhases(mlir::OpBuilder& b);
  llvm::SmallVector<mlir::Value> CarryFromTileToTile(mlir::RewriterBase& b, llvm::ArrayRef<mlir::Value> phases,
                                                     const TensorMapMaker& maps);
  void CarryPhases(mlir::RewriterBase& b, llvm::ArrayRef<mlir::Value> inits);
  void WaitForCopies(mlir::OpBuilder& b);
  void WaitForReads(mlir::OpBuilder& b);
  void WaitBehindLoop(mlir::OpBuilder& b);
  void MakeMaps(TensorMapMaker& maps);
  void ReplaceCopies(const TensorMapMaker& maps);
  void ReplaceTileCopies(const TensorMapMaker& maps);
  void WaitBeforeLoop(mlir::OpBuilder& b);
  void EraseCopies(mlir::RewriterBase& b, mlir::Value no_token);
  // Of the first ring, the slot that the first iteration reads, and whether that is another one than the first filled.
  int64_t FirstRead() const {
    const CopyRing& ring = rings_.front();
    return (ring.first_slot + ring.fills - distance_) % ring.slots;
  }
  bool HasTurn() const { return rings_.front().fills != distance_; }
  BlockCopy FirstOf(const BlockCopy& copy, int64_t fill) const;

  mlir::scf::ForOp loop_;
  bool loop_maps_ = false;
  mlir::Operation* arrival_ = nullptr;
  ttg::AsyncWaitOp wait_, late_wait_;
  int64_t distance_ = 0;  // iterations from a copy to the wait for it
  llvm::SmallVector<CopyRing, 0> rings_;
  // Of the loop as it becomes, for each ring: mbarriers that say that slots are full, the slot that an iteration reads,
  // and its phase. Of the first ring, those that say that slots are empty.
  llvm::SmallVector<SlotBarriers> full_;
  std::optional<SlotBarriers> empty_;
  llvm::SmallVector<mlir::Value> slots_, phases_;
  mlir::Value turn_;             // the phase of `empty_`, if it has its own
  bool follows_writes_ = false;  // the kernel may have written to the tensors before
  std::optional<TileCopies> tiles_;
  TileCopies::Copies tile_copies_;  // of an iteration
};

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_BULK_COPIES_H_
