// SPDX-License-Identifier: Apache-2.0
// Stores of whole blocks by tensor maps: in loops of dots, as persistent kernels have them, and behind such loops where
// the launcher makes the map. Threads bring the block to shared memory, and one of them starts a copy to the tensor. It
// goes on beside the next iteration's dots:
//
//                                                  %slots = ttg.local_alloc
//   scf.for … {                                    scf.for … {
//     %x = … dots                                    %x = … dots
//     %c = ttg.convert_layout %x                     ttng.async_tma_store_wait {pendings = 0}
//     tt.store %pointers, %c,                        ttg.local_store %x, %slots[0]
//         (tt.block_mask … %i, %j)             ->    ttng.fence_async_shared
//   }                                                ttng.async_tma_copy_local_to_global %map[%i, %j] %slots[0]
//                                                  }
//                                                  ttng.async_tma_store_wait {pendings = 0, read_only}
//
// Blocks for which there is no room are cut into parts that take turns (store_plan.cc). Barriers come later
// (insert_barriers.cc).
//
// PTX ISA, "cp.async.bulk": copies have no order among themselves, nor with what threads do. So the kernel accesses
// the tensors otherwise nowhere, and does not tell other programs that it has stored. At its end the slots have been
// read; what was written is then seen by what follows the kernel.
//
// Combinations with what is there (tt.atomic_rmw whose result nobody uses) are such copies, too: an instruction for
// each element is what costs.
//
// It pays where threads exchange the value anyway to store whole rows. The copy saves them reading it back, addresses,
// masks and the stores. Beside bulk loads (bulk_loads.cc) it pays in any case. Its maps take a program a microsecond
// unless the launcher makes them, which a loop brings in again. Shared memory that would cost a resident block is not
// taken.
#include "compiler/analysis/scratch.h"
#include "compiler/ir/contains.h"
#include "compiler/ir/encodings.h"
#include "compiler/targets/nvidia/block_limits.h"
#include "compiler/targets/nvidia/host_maps.h"
#include "compiler/targets/nvidia/passes.h"
#include "compiler/targets/nvidia/store_plan.h"
#include "compiler/targets/nvidia/ttng_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_BULKSTORESPASS
#include "compiler/targets/nvidia/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::Value;

// For tensor maps on their way, and the mbarriers of loops; at least as much as slots are aligned to.
constexpr int64_t kWordBits = 32;
// Of a thread, beside the value that it stores, at least.
constexpr int64_t kOtherWords = 16;
constexpr int64_t kMapBytes = 128, kMbarriersBytes = 256, kLeastSmallBytes = 1024;

// The outermost loop around `op`, if nothing but loops and branches is around it, else null. Without a loop, `op`.
Operation* OutermostLoop(Operation* op) {
  Operation* outermost = op;
  for (Operation* parent = op->getParentOp(); !llvm::isa<tt::FuncOp>(parent); parent = parent->getParentOp()) {
    if (!llvm::isa<mlir::scf::ForOp, mlir::scf::WhileOp, mlir::scf::IfOp>(parent)) return nullptr;
    if (!llvm::isa<mlir::scf::IfOp>(parent)) outermost = parent;
  }
  return outermost;
}

// Whether bulk copies load blocks in no loop (bulk_loads.cc). Those of loops are made later.
bool HasBulkLoads(tt::FuncOp function) { return Contains<ttng::AsyncTMACopyGlobalToLocalOp>(function); }

// Whether threads have neighbours of a row of the value, so that they write whole words of a slot.
bool HasNeighbours(mlir::RankedTensorType value) {
  const int64_t run = ttg::ToLinearLayout(value).NumConsecutive("register", ttg::DimNames(value.getRank()).back());
  return run * value.getElementTypeBitWidth() >= kWordBits;
}

// Beside bulk loads, threads have neither addresses nor masks but those of stores, so these go, too.
std::optional<BlockStore> BlockStoreOf(tt::StoreOp store) {
  std::optional<NamedBlock> named = NamedBlockOf(store.getMask());
  if (!named || !named->conditions.empty()) return std::nullopt;
  auto convert = store.getValue().getDefiningOp<ttg::ConvertLayoutOp>();
  const bool exchanges = convert && ScratchBytes(convert) != 0;
  if (!HasBulkLoads(store->getParentOfType<tt::FuncOp>()))
    return exchanges ? std::optional(BlockStore{store, named->block, convert.getSrc()}) : std::nullopt;
  const bool is_early = convert && HasNeighbours(convert.getSrc().getType());
  return BlockStore{store, named->block, is_early ? convert.getSrc() : store.getValue()};
}

// How copies combine elements as `rmw` does, and of which type the map says they are. PTX ISA,
// "cp.reduce.async.bulk.tensor". Minima and maxima of floats are atomics of integers (rewrite_tensor_descriptor.cc).
std::optional<std::pair<tt::DescriptorReduceKind, int>> ReductionOf(tt::RmwOp rmw, mlir::Type element) {
  using Kind = tt::DescriptorReduceKind;
  const int type = TypeNumber(element);
  if (element.isF16() || element.isBF16() || element.isF32())
    return rmw == tt::RmwOp::kFadd ? std::optional(std::pair(Kind::kAdd, type)) : std::nullopt;
  if (!element.isInteger(32)) return std::nullopt;
  switch (rmw) {
    case tt::RmwOp::kAdd:
      return std::pair(Kind::kAdd, type);
    case tt::RmwOp::kAnd:
      return std::pair(Kind::kAnd, type);
    case tt::RmwOp::kOr:
      return std::pair(Kind::kOr, type);
    case tt::RmwOp::kXor:
      return std::pair(Kind::kXor, type);
    case tt::RmwOp::kUmin:
      return std::pair(Kind::kMin, type);
    case tt::RmwOp::kUmax:
      return std::pair(Kind::kMax, type);
    case tt::RmwOp::kMin:
      return std::pair(Kind::kMin, kSignedWordType);
    case tt::RmwOp::kMax:
      return std::pair(Kind::kMax, kSignedWordType);
    default:
      return std::nullopt;
  }
}

std::optional<BlockStore> BlockStoreOf(tt::AtomicRMWOp rmw) {
  std::optional<NamedBlock> named = NamedBlockOf(rmw.getMask());
  const bool is_relaxed = rmw.getSem() == tt::MemSemantic::kRelaxed && rmw.getScope() != tt::MemSyncScope::kSys;
  if (!named || !named->conditions.empty() || !rmw.getResult().use_empty() || !is_relaxed) return std::nullopt;
  Value value = rmw.getVal();
  auto reduction = ReductionOf(rmw.getAtomicRmwOp(), mlir::getElementTypeOrSelf(value.getType()));
  if (!reduction) return std::nullopt;
  if (auto convert = value.getDefiningOp<ttg::ConvertLayoutOp>()) value = convert.getSrc();
  return BlockStore{rmw, named->block, value, reduction->first, reduction->second};
}

std::optional<BlockStore> BlockStoreOf(Operation* op) {
  if (auto store = llvm::dyn_cast<tt::StoreOp>(op)) return BlockStoreOf(store);
  auto rmw = llvm::dyn_cast<tt::AtomicRMWOp>(op);
  return rmw ? BlockStoreOf(rmw) : std::nullopt;
}

// Whether others may wait for what the operation does, or it may touch any memory.
bool MayTellOthers(Operation* op) {
  if (auto rmw = llvm::dyn_cast<tt::AtomicRMWOp>(op)) return !BlockStoreOf(rmw);
  return llvm::isa<tt::AtomicCASOp, tt::CallOp, ttg::WarpSpecializeOp>(op) || IsOpaqueAccess(op);
}

// How many stores follow each other in a block, with none in a region between.
llvm::SmallVector<size_t> RunsOf(llvm::ArrayRef<BlockStore> stores) {
  llvm::SmallVector<size_t> runs;
  mlir::Block* last = nullptr;
  for (const BlockStore& store : stores) {
    if (store.op->getBlock() != last) runs.push_back(0);
    ++runs.back();
    last = store.op->getBlock();
  }
  return runs;
}

class FunctionStores final {
 public:
  // Of a block, and of a multiprocessor.
  struct Limits {
    int64_t shared_bytes, reserved_bytes, registers;
    int64_t multiprocessors;  // of the device; 0: not known
  };

  FunctionStores(tt::FuncOp function, Limits limits) : function_(function), limits_(limits) {}

  void Run() {
    while (Find() && !Plan()) {
    }
    for (const auto& [place, plan] : plans_) Replace(place, plan);
    if (!plans_.empty()) EraseDead(function_);
  }

 private:
  bool Find();
  bool Plan();
  void Replace(Operation* place, const StorePlan& plan);
  int64_t SmallBytes();
  int64_t FreeBytes(Operation* place);

  tt::FuncOp function_;
  const Limits limits_;
  TensorMapMaker maps_;
  llvm::MapVector<Operation*, llvm::SmallVector<BlockStore>> stores_;  // by outermost loop, or where they are
  llvm::SmallPtrSet<Operation*, 4> refused_;
  std::vector<std::pair<Operation*, StorePlan>> plans_;
};

// Whether there are stores that bulk copies may take the place of.
bool FunctionStores::Find() {
  stores_.clear();
  bool follows_store = false;
  auto tells_others = [&](Operation* op) {
    follows_store |= BlockStoreOf(op).has_value();
    // The other blocks of the cluster see what has been stored before they meet.
    if (llvm::isa<tt::ClusterBarrierOp>(op)) return follows_store || op->getParentOp() != function_;
    return MayTellOthers(op);
  };
  if (function_.walk([&](Operation* op) { return mlir::WalkResult(mlir::failure(tells_others(op))); }).wasInterrupted())
    return false;
  llvm::SmallVector<BlockStore> found;
  function_.walk([&](Operation* op) {
    std::optional<BlockStore> block = BlockStoreOf(op);
    Operation* place = block ? OutermostLoop(op) : nullptr;
    if (!place || refused_.contains(op)) return;
    const bool has_map = HasHostMap(block->block.getBase());
    if (has_map || (place != op && Contains<ttng::WarpGroupDotOp>(place))) found.push_back(*block);
  });
  // One that stays makes others stay that may be of its tensor.
  for (bool changes = true; changes;) {
    changes = false;
    function_.walk([&](Operation* op) {
      if (llvm::any_of(found, [&](const BlockStore& each) { return each.op == op; })) return;
      const size_t before = found.size();
      llvm::erase_if(found, [&](const BlockStore& each) { return MayAccessTensor(op, each.block, true); });
      changes |= found.size() != before;
    });
  }
  for (const BlockStore& each : found) stores_[OutermostLoop(each.op)].push_back(each);
  return !found.empty();
}

// Plans all of them. False where those of a loop must stay; what may be of their tensors stays, too.
bool FunctionStores::Plan() {
  plans_.clear();
  int64_t taken = 0;
  for (auto& [place, stores] : stores_) {
    std::optional<StorePlan> plan = PlanStores(stores, RunsOf(stores), FreeBytes(place) - taken);
    if (!plan) {
      for (const BlockStore& store : stores) refused_.insert(store.op);
      plans_.clear();
      return false;
    }
    if (llvm::isa<mlir::LoopLikeOpInterface>(place))
      for (const SlotPool& pool : plan->pools) taken += pool.slots * BufferBytes(pool.slot);
    plans_.emplace_back(place, *std::move(plan));
  }
  return true;
}

int64_t FunctionStores::SmallBytes() {
  llvm::SmallDenseSet<std::pair<Value, mlir::Attribute>> blocks;
  function_.walk([&](tt::BlockMaskOp block) { blocks.insert({block.getBase(), block.getBlockAttr()}); });
  return std::max<int64_t>(kLeastSmallBytes, kMbarriersBytes + kMapBytes * blocks.size());
}

// Words that a thread has of the largest of the values.
int64_t WordsOf(llvm::ArrayRef<BlockStore> stores) {
  int64_t words = 0;
  for (const BlockStore& store : stores) {
    auto value = llvm::cast<mlir::RankedTensorType>(store.value.getType());
    const int64_t elements = ttg::ToLinearLayout(value).InSize("register");
    words = std::max(words, elements * value.getElementTypeBitWidth() / kWordBits);
  }
  return words;
}

// Whether nothing uses the buffer, or a view of it, from `place` on, an operation outside of loops.
bool IsOver(ttg::LocalAllocOp alloc, Operation* place) {
  if (llvm::isa<mlir::LoopLikeOpInterface>(place)) return false;
  mlir::Block& body = place->getParentOfType<tt::FuncOp>().getBody().front();
  Operation* begin = body.findAncestorOpInBlock(*place);
  llvm::SmallVector<Value> views{alloc.getResult()};
  while (!views.empty()) {
    for (Operation* user : views.pop_back_val().getUsers()) {
      if (user->hasTrait<mlir::OpTrait::IsTerminator>() || !body.findAncestorOpInBlock(*user)->isBeforeInBlock(begin))
        return false;
      llvm::copy_if(user->getResults(), std::back_inserter(views),
                    [](Value result) { return llvm::isa<ttg::MemDescType>(result.getType()); });
    }
  }
  return true;
}

// Of shared memory at a loop or another operation, beside what the blocks have that are resident together. Buffers that
// are there do not share their places.
int64_t FunctionStores::FreeBytes(Operation* place) {
  int64_t used = SmallBytes(), scratch = 0;
  llvm::SmallPtrSet<Operation*, 4> gone;
  for (auto& [other, stores] : stores_)
    for (const BlockStore& store : stores) gone.insert(store.op->getOperand(1).getDefiningOp());
  function_.walk([&](Operation* op) {
    if (auto alloc = llvm::dyn_cast<ttg::LocalAllocOp>(op)) {
      if (!IsOver(alloc, place)) used += BufferBytes(alloc.getType());
    } else if (!gone.contains(op)) {
      scratch = std::max(scratch, ScratchBytes(op));
    }
  });
  used += scratch;
  if (used > limits_.shared_bytes) return 0;
  const int64_t all = limits_.shared_bytes + limits_.reserved_bytes;
  const BlockLimits limits{limits_.registers, all, used + limits_.reserved_bytes};
  const int64_t words = std::max(LeastRegisters(function_), WordsOf(stores_.lookup(place)) + kOtherWords);
  const int64_t fitting = std::max<int64_t>(limits.Blocks(function_, words), 1);
  const int64_t blocks = std::min(fitting, BlocksOfGrid(place, limits_.multiprocessors));
  return all / blocks - limits_.reserved_bytes - used;
}

// The parts of `value`, in order.
void Cut(mlir::OpBuilder& b, Value value, int dim, int parts, llvm::SmallVectorImpl<Value>& cut) {
  if (parts == 1) return cut.push_back(value);
  mlir::Location loc = value.getLoc();
  const Halving halving = *HalvingOf(llvm::cast<mlir::RankedTensorType>(value.getType()), dim);
  value = tt::ReshapeOp::create(b, loc, halving.reshaped, value);
  value = tt::TransOp::create(b, loc, halving.turned, value, halving.order);
  auto split = tt::SplitOp::create(b, loc, halving.half, halving.half, value);
  Cut(b, split.getOutLHS(), dim, parts / 2, cut);
  Cut(b, split.getOutRHS(), dim, parts / 2, cut);
}

class PlannedStores final {
 public:
  PlannedStores(Operation* place, const StorePlan& plan, TensorMapMaker& maps)
      : place_(place), plan_(plan), maps_(maps) {}

  void Make() {
    llvm::SmallVector<CopiedBlock> blocks;
    for (const StorePart& copy : plan_.copies) blocks.push_back(Copied(copy));
    maps_.Make(blocks);
    mlir::OpBuilder b(place_);
    for (const SlotPool& pool : plan_.pools) pools_.push_back(MakePool(b, pool));
    b.setInsertionPointAfter(place_);
    ttng::TMAStoreWaitOp::create(b, place_->getLoc(), 0, /*read_only=*/true);
    for (Value pool : pools_) ttg::LocalDeallocOp::create(b, place_->getLoc(), pool);
    for (size_t i = 0; i < plan_.stores.size(); ++i) Replace(i);
  }

 private:
  CopiedBlock Copied(const StorePart& copy) const {
    return CopiedBlockOf(plan_.stores[copy.store], copy.sizes, plan_.pools[copy.pool].slot);
  }

  Value MakePool(mlir::OpBuilder& b, const SlotPool& pool) {
    ttg::MemDescType slot = pool.slot;
    llvm::SmallVector<int64_t> shape(slot.getShape());
    shape.insert(shape.begin(), pool.slots);
    auto type = ttg::MemDescType::get(b.getContext(), shape, slot.getElementType(), slot.getEncoding(),
                                      slot.getMemorySpace(), /*mutableMemory=*/true, shape);
    return ttg::LocalAllocOp::create(b, place_->getLoc(), type, Value());
  }

  // Where the copies of earlier iterations are waited for. The hardware counts them together with those of threads
  // (cp.async), so that a wait for all ends these, too. Those that an iteration of dots begins come after the wait.
  // Copies to tensors that the iteration has begun before, also in a branch, are waited for as well.
  static Operation* PlaceOfWait(Operation* store) {
    Operation* place = store;
    if (store->getBlock()->getOps<ttng::WarpGroupDotOp>().empty()) return place;
    for (Operation* op = store; op && !op->hasTrait<mlir::OpTrait::IsTerminator>(); op = op->getPrevNode()) {
      if (Contains<ttng::AsyncTMACopyLocalToGlobalOp, ttng::AsyncTMAReduceOp>(op)) break;
      if (llvm::isa<ttg::AsyncCopyGlobalToLocalOp, ttg::AsyncWaitOp>(op)) place = op;
    }
    return place;
  }

  // In place of the store of this number.
  void Replace(size_t number) {
    Operation* store = plan_.stores[number].op;
    mlir::OpBuilder b(store);
    llvm::SmallVector<Value> parts;
    Cut(b, plan_.stores[number].value, plan_.dim, plan_.parts, parts);
    auto part = parts.begin();
    for (const StorePart& copy : plan_.copies)
      if (copy.store == number) Start(b, copy, *part++);
    store->erase();
  }

  void Start(mlir::OpBuilder& b, const StorePart& copy, Value value) {
    tt::BlockMaskOp block = plan_.stores[copy.store].block;
    mlir::Location loc = value.getLoc();
    if (copy.wait) {
      mlir::OpBuilder before(PlaceOfWait(plan_.stores[copy.store].op));
      ttng::TMAStoreWaitOp::create(before, loc, copy.wait->pending, copy.wait->reads_only);
    }
    Value number = arith::ConstantIntOp::create(b, loc, copy.slot, 32);
    Value slot = ttg::MemDescIndexOp::create(b, loc, plan_.pools[copy.pool].slot, pools_[copy.pool], number);
    ttg::LocalStoreOp::create(b, loc, value, slot);
    ttng::FenceAsyncSharedOp::create(b, loc, /*bCluster=*/false);
    llvm::SmallVector<Value> at(block.getIndices());
    for (auto [index, size, part] : llvm::zip(at, block.getBlock(), copy.sizes))
      if (size != part && copy.begin != 0)
        index = arith::AddIOp::create(b, loc, index, arith::ConstantIntOp::create(b, loc, copy.begin, 32));
    Value map = maps_.MapFor(Copied(copy));
    if (auto kind = plan_.stores[copy.store].reduction)
      ttng::AsyncTMAReduceOp::create(b, loc, *kind, map, at, slot);
    else
      ttng::AsyncTMACopyLocalToGlobalOp::create(b, loc, map, at, slot);
  }

  Operation* place_;
  const StorePlan& plan_;
  TensorMapMaker& maps_;
  llvm::SmallVector<Value> pools_;
};

void FunctionStores::Replace(Operation* place, const StorePlan& plan) { PlannedStores(place, plan, maps_).Make(); }

class BulkStoresPass : public impl::BulkStoresPassBase<BulkStoresPass> {
  using BulkStoresPassBase::BulkStoresPassBase;
  void runOnOperation() override {
    auto ctas = getOperation()->getAttrOfType<mlir::IntegerAttr>(ttg::kNumCtasAttr);
    if (ctas && ctas.getInt() > 1 && !getOperation()->hasAttr(ttg::kDividedAttr)) return;
    for (auto function : getOperation().getOps<tt::FuncOp>())
      if (function.isPublic())
        FunctionStores(function, {max_shared_bytes, reserved_shared_bytes, registers, multiprocessors}).Run();
  }
};

}  // namespace
}  // namespace tritond::compiler
