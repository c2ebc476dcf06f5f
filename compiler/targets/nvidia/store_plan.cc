// SPDX-License-Identifier: Apache-2.0
// A block goes through shared memory as a whole if there is room. Else it is cut into parts that take turns: while one
// is copied from its slot, threads fill another one. At a power of two of parts, each is a half of a half of what a
// thread holds, so that no element moves between threads.
//
// Copies have no order among themselves. So the first one of a run waits until all before it have written, which were
// started an iteration ago. A later one waits for the read of its slot only, unless it may write where one of the run
// does.
#include "compiler/targets/nvidia/store_plan.h"

#include "compiler/analysis/pointer_roots.h"
#include "compiler/analysis/scratch.h"
#include "compiler/ir/collapsed_block.h"
#include "compiler/ir/encodings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {
namespace {

using mlir::RankedTensorType;
using mlir::Value;

// Where parts take turns, so many are in flight, if there is room.
constexpr int64_t kSlotsInTurns = 2;
constexpr int kMostParts = 8;
// The swizzles of rows. A cut leaves rows of 128 bytes: they are what memory moves at once.
constexpr int64_t kLeastRowBytes = 32, kMostSwizzleBytes = 128, kLeastRows = 8;

int64_t BitsOf(RankedTensorType tensor) { return tensor.getElementTypeBitWidth(); }

// The dimension of the block to cut where its value is cut in `parts` along a dimension: the outermost of those that
// are this one, where it is large enough. Else -1.
int DimOfBlock(llvm::ArrayRef<int64_t> block, llvm::ArrayRef<int64_t> value, int dim_of_value, int parts) {
  const std::optional<llvm::SmallVector<int>> dims = CollapsedDims(block, value);
  if (!dims) return -1;
  for (auto [dim, size] : llvm::enumerate(block)) {
    const bool is_last = dim + 1 == block.size();
    if ((*dims)[dim] == dim_of_value && (size > 1 || is_last)) return size % parts == 0 ? static_cast<int>(dim) : -1;
  }
  return -1;
}

// `value` and how much more.
std::pair<Value, int64_t> SumOf(Value value) {
  int64_t more = 0;
  llvm::APInt constant;
  for (auto sum = value.getDefiningOp<mlir::arith::AddIOp>();
       sum && mlir::matchPattern(sum.getRhs(), mlir::m_ConstantInt(&constant));
       sum = value.getDefiningOp<mlir::arith::AddIOp>()) {
    more += constant.getSExtValue();
    value = sum.getLhs();
  }
  return {value, more};
}

// Whether the two have no element in common.
bool AreApart(tt::BlockMaskOp a, tt::BlockMaskOp b) {
  const std::optional<PointerRoots> of_a = RootsOfPointer(a.getBase()), of_b = RootsOfPointer(b.getBase());
  if (of_a && of_b && llvm::none_of(*of_a, [&](Value root) { return of_b->contains(root); })) return true;
  if (a.getBase() != b.getBase() || a.getShape() != b.getShape() || a.getStrides() != b.getStrides() ||
      a.getBlock() != b.getBlock())
    return false;
  for (auto [at_a, at_b, size] : llvm::zip(a.getIndices(), b.getIndices(), a.getBlock())) {
    auto [base_a, more_a] = SumOf(at_a);
    auto [base_b, more_b] = SumOf(at_b);
    if (base_a == base_b && std::abs(more_a - more_b) >= size) return true;
  }
  return false;
}

class Planner final {
 public:
  Planner(llvm::ArrayRef<BlockStore> stores, llvm::ArrayRef<size_t> runs, int64_t free_bytes, int64_t least_slots)
      : stores_(stores), runs_(runs), free_bytes_(free_bytes), least_slots_(least_slots) {}

  // Blocks in so many parts along a dimension of their values.
  std::optional<StorePlan> Plan(int parts, int dim) {
    plan_ = {};
    llvm::append_range(plan_.stores, stores_);
    plan_.dim = dim;
    plan_.parts = parts;
    for (size_t i = 0; i < stores_.size(); ++i)
      if (!AddParts(i)) return std::nullopt;
    if (!ChooseSlots()) return std::nullopt;
    PlaceParts();
    return std::move(plan_);
  }

 private:
  // Of a value. Nothing where it cannot be cut.
  std::optional<RankedTensorType> PartOf(RankedTensorType value) const {
    RankedTensorType part = value;
    for (int parts = 1; parts < plan_.parts; parts *= 2) {
      const std::optional<Halving> halving = HalvingOf(part, plan_.dim);
      if (!halving) return std::nullopt;
      part = halving->half;
    }
    const int64_t row = part.getShape().back();
    const bool is_short = row < value.getShape().back() && row * BitsOf(part) < 8 * kMostSwizzleBytes;
    return is_short ? std::nullopt : std::optional(part);
  }

  bool AddParts(size_t number) {
    const BlockStore& store = stores_[number];
    const auto value = llvm::cast<RankedTensorType>(store.value.getType());
    if (value.getRank() != 2) return false;
    const std::optional<RankedTensorType> cut = PartOf(value);
    if (!cut) return false;
    const RankedTensorType part = *cut;
    const ttg::MemDescType slot = SlotFor(part);
    tt::BlockMaskOp block = store.block;
    const int dim = DimOfBlock(block.getBlock(), value.getShape(), plan_.dim, plan_.parts);
    if (!slot || dim < 0) return false;
    llvm::SmallVector<int64_t> sizes(block.getBlock());
    sizes[dim] /= plan_.parts;
    // A store reads its map after it has read the slot, so a map that is made anew would take a wait for its end.
    if (!IsMadeAtEntry(block) || !CanMakeTensorMap(CopiedBlockOf(store, sizes, slot))) return false;
    auto pool = llvm::find_if(plan_.pools, [&](const SlotPool& each) { return each.slot == slot; });
    const size_t pool_number = pool - plan_.pools.begin();
    if (pool == plan_.pools.end()) plan_.pools.push_back({slot, 0});
    for (int i = 0; i < plan_.parts; ++i) plan_.copies.push_back({number, i * sizes[dim], sizes, pool_number, 0, {}});
    return true;
  }

  // The most copies of a run that go through the pool.
  int64_t MostOf(size_t pool) const {
    int64_t most = 0;
    size_t first = 0;
    for (size_t stores : runs_) {
      most = std::max<int64_t>(most, llvm::count_if(plan_.copies, [&](const StorePart& copy) {
                                 return copy.pool == pool && copy.store >= first && copy.store < first + stores;
                               }));
      first += stores;
    }
    return most;
  }

  // As many as there is room for.
  bool ChooseSlots() {
    llvm::SmallVector<int64_t> most;
    for (size_t pool = 0; pool < plan_.pools.size(); ++pool) most.push_back(MostOf(pool));
    for (int64_t slots = *llvm::max_element(most); slots > 0; --slots) {
      int64_t bytes = 0;
      bool is_enough = true;
      for (auto [pool, all] : llvm::zip(plan_.pools, most)) {
        pool.slots = std::min(slots, all);
        is_enough = is_enough && pool.slots >= std::min(least_slots_, all);
        bytes += pool.slots * BufferBytes(pool.slot);
      }
      if (is_enough && bytes <= free_bytes_) return true;
    }
    return false;
  }

  void PlaceParts() {
    size_t first = 0;
    for (size_t stores : runs_) {
      PlaceRun(first, first + stores);
      first += stores;
    }
  }

  // Those of stores [first, end).
  void PlaceRun(size_t first, size_t end) {
    llvm::SmallVector<const StorePart*> started;  // since a wait for all
    size_t last_in_order = first;                 // stores from it on have no element in common
    for (StorePart& copy : plan_.copies) {
      if (copy.store < first || copy.store >= end) continue;
      auto is_apart = [&](size_t other) {
        return other == copy.store || AreApart(stores_[other].block, stores_[copy.store].block);
      };
      if (started.empty() || !llvm::all_of(llvm::seq(last_in_order, copy.store), is_apart)) {
        copy.wait = StoreWait{0, /*reads_only=*/false};
        started.clear();
        last_in_order = copy.store;
      }
      auto same_pool = [&](const StorePart* other) { return other->pool == copy.pool; };
      copy.slot = llvm::count_if(started, same_pool) % plan_.pools[copy.pool].slots;
      for (size_t i = started.size(); i-- > 0 && !copy.wait;)
        if (same_pool(started[i]) && started[i]->slot == copy.slot)
          copy.wait = StoreWait{static_cast<int>(started.size() - i) - 1, /*reads_only=*/true};
      started.push_back(&copy);
    }
  }

  llvm::ArrayRef<BlockStore> stores_;
  llvm::ArrayRef<size_t> runs_;
  const int64_t free_bytes_, least_slots_;
  StorePlan plan_;
};

}  // namespace

ttg::MemDescType SlotFor(RankedTensorType part) {
  mlir::MLIRContext* context = part.getContext();
  const int64_t row = part.getShape().back() * BitsOf(part) / 8;
  if (row < kLeastRowBytes || part.getDimSize(0) < kLeastRows) return {};
  auto encoding = ttg::NvmmaSharedEncodingAttr::get(context, std::min(row, kMostSwizzleBytes), /*transposed=*/false,
                                                    BitsOf(part), /*fp4Padded=*/false, ttg::SingleBlock(2));
  return ttg::MemDescType::get(context, part.getShape(), part.getElementType(), encoding,
                               ttg::SharedMemorySpaceAttr::get(context), /*mutableMemory=*/true, part.getShape());
}

std::optional<Halving> HalvingOf(RankedTensorType tensor, int dim) {
  llvm::SmallVector<int64_t> half(tensor.getShape());
  if (half[dim] < 2) return std::nullopt;
  half[dim] /= 2;
  llvm::SmallVector<int64_t> reshaped = half, turned = half;
  reshaped.insert(reshaped.begin() + dim, 2);
  turned.push_back(2);
  Halving halving;
  halving.order = llvm::to_vector(llvm::seq<int32_t>(0, reshaped.size()));
  halving.order.erase(halving.order.begin() + dim);
  halving.order.push_back(dim);
  auto type = [&](llvm::ArrayRef<int64_t> shape, mlir::Attribute encoding) {
    return RankedTensorType::get(shape, tensor.getElementType(), encoding);
  };
  mlir::Attribute encoding = ttg::ReshapeEncoding(tensor.getEncoding(), tensor.getShape(), reshaped);
  if (!encoding) return std::nullopt;
  halving.reshaped = type(reshaped, encoding);
  encoding = ttg::TransEncoding(encoding, reshaped, halving.order);
  if (!encoding) return std::nullopt;
  halving.turned = type(turned, encoding);
  encoding = ttg::SplitEncoding(encoding, turned);
  if (!encoding) return std::nullopt;
  halving.half = type(half, encoding);
  return halving;
}

std::optional<StorePlan> PlanStores(llvm::ArrayRef<BlockStore> stores, llvm::ArrayRef<size_t> runs,
                                    int64_t free_bytes) {
  for (int64_t slots : {kSlotsInTurns, int64_t{1}}) {
    Planner planner(stores, runs, free_bytes, slots);
    for (int parts = 1; parts <= kMostParts; parts *= 2)
      for (int dim : {1, 0})
        if (std::optional<StorePlan> plan = planner.Plan(parts, dim)) return plan;
  }
  return std::nullopt;
}

}  // namespace tritond::compiler
