// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/scratch.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "compiler/analysis/gather_plan.h"
#include "compiler/ir/encodings.h"
#include "compiler/layout/conversion.h"
#include "compiler/layout/f2_span.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::RankedTensorType;

constexpr int64_t kPartAlignment = 16;

// Of a multiprocessor: each issues an instruction a cycle.
constexpr int64_t kSchedulers = 4;
constexpr int64_t kAccessWords = 4;  // of a thread
// Cycles until all warps have met at a barrier, and until a word is there.
constexpr int64_t kBarrierCycles = 40, kAccessCycles = 30;
// What takes less by so much is worth more shared memory.
constexpr double kWorthwhile = 1.5;

RankedTensorType TensorOf(mlir::Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

bool HasPlacement(mlir::Type type) {
  auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  return tensor && llvm::isa_and_present<ttg::DistributedEncoding>(tensor.getEncoding());
}

void AddPart(Scratch& scratch, int64_t elements, mlir::Type element) {
  int64_t offset = llvm::alignTo(scratch.bytes, kPartAlignment);
  scratch.offsets.push_back(offset);
  scratch.bytes = offset + elements * ElementBytes(element);
}

Scratch OnePart(int64_t elements, mlir::Type element) {
  Scratch scratch;
  AddPart(scratch, elements, element);
  return scratch;
}

// The elements of `layout` that one block holds.
int64_t ElementsOfBlock(const LinearLayout& layout) {
  F2Span held;
  for (const LayoutDim& in : layout.InDims()) {
    if (in.name == "block") continue;
    for (int32_t bit = 0; bit < in.bits; ++bit) held.Insert(layout.columns()[in.shift + bit]);
  }
  return int64_t{1} << held.rank();
}

Scratch OfConversion(ttg::ConvertLayoutOp op) {
  if (!HasPlacement(op.getSrc().getType()) || !HasPlacement(op.getType())) return {};
  LinearLayout src = ttg::ToLinearLayout(TensorOf(op.getSrc()));
  absl::StatusOr<ConversionPlan> plan = PlanConversion(src, ttg::ToLinearLayout(op.getType()));
  // A conversion without a plan has no lowering either, which reports it.
  if (!plan.ok() || plan->kind != ConversionPlan::Kind::kShared) return {};
  Scratch scratch = OnePart(ElementsOfBlock(src) >> ConversionPartBits(op), op.getType().getElementType());
  scratch.stays_in_warp = plan->scope <= ConversionPlan::Scope::kWarp;
  return scratch;
}

// The partial results of each warp.
Scratch OfReduction(tt::ReduceOp op) {
  Scratch scratch;
  mlir::OperandRange operands = op.getSrcs();
  unsigned axis = op.getAxis();
  RankedTensorType type = TensorOf(operands.front());
  if (!HasPlacement(type) || ScanOfTotal(op)) return scratch;
  int64_t warps = int64_t{1} << llvm::popcount(uint32_t(WarpMaskAlongAxis(ttg::ToLinearLayout(type), axis)));
  if (warps == 1) return scratch;
  int64_t others = type.getNumElements() / type.getDimSize(axis), slots = warps + (SharesTotals(op) ? 1 : 0);
  for (mlir::Value operand : operands) AddPart(scratch, slots * others, TensorOf(operand).getElementType());
  return scratch;
}

// Two to the number of bases of `in` that move along the axis, or beside it.
int64_t Extent(const LinearLayout& layout, absl::string_view in, unsigned axis, bool along) {
  const LayoutDim& from = layout.In(in);
  const LayoutDim& out = layout.OutDims()[axis];
  int64_t extent = 1;
  for (int32_t bit = 0; bit < from.bits; ++bit) {
    const uint64_t image = layout.columns()[from.shift + bit];
    if (image != 0 && (((image >> out.shift) & out.mask()) != 0) == along) extent *= 2;
  }
  return extent;
}

// What is left to do across warps, in cycles.
struct Totals {
  int64_t warps, threads, threads_per_warp;
  int64_t partials;        // of a result
  int64_t results, all;    // that a thread holds parts of; in the block
  int64_t lanes;           // that hold parts of a result
  int64_t words, combine;  // of a partial; instructions of a combination

  int64_t Issued(int64_t instructions) const { return instructions * warps / kSchedulers; }
  // Instructions of a tree over so many lanes, and what its last value waits.
  int64_t Tree(int64_t lanes) const { return llvm::Log2_64(lanes) * (words + combine); }
  int64_t Waits(int64_t lanes) const { return llvm::Log2_64(lanes) * (kShuffleCycles + kOperationCycles * combine); }

  // Each thread combines all that it holds for itself, or each lane has the partials of one warp.
  int64_t Alone() const {
    const int64_t itself = Issued(results * (words * partials / kAccessWords + (partials - 1) * combine));
    if (lanes < partials) return itself;
    return std::min(itself, std::max(Issued(results * (words + Tree(partials))), Waits(partials)));
  }
  // `lanes` combine a result together, and all threads read it behind another barrier.
  int64_t Shared(int64_t lanes) const {
    const int64_t parts = partials / lanes, reads = llvm::divideCeil(words, kAccessWords);
    const int64_t own = words * (parts + 1) + (parts - 1) * combine + Tree(lanes);
    return Issued(llvm::divideCeil(all, threads) * own + results * reads) + kBarrierCycles + 2 * kAccessCycles +
           Waits(lanes);
  }
  int64_t BestLanes() const {
    int64_t best = 1;
    for (int64_t n = 2; n <= std::min({threads / all, partials, threads_per_warp}); n *= 2)
      if (Shared(n) < Shared(best)) best = n;
    return best;
  }
};

Totals TotalsOf(tt::ReduceOp op) {
  const RankedTensorType type = op.InputType();
  const unsigned axis = op.getAxis();
  const LinearLayout layout = ttg::ToLinearLayout(type);
  Totals totals{.warps = ttg::NumWarps(op), .threads_per_warp = ttg::ThreadsPerWarp(op)};
  totals.threads = totals.warps * totals.threads_per_warp;
  totals.partials = WarpsAlongAxis(op);
  totals.results = Extent(layout, "register", axis, /*along=*/false);
  totals.all = type.getNumElements() / type.getDimSize(axis);
  totals.lanes = Extent(layout, "lane", axis, /*along=*/true);
  totals.combine = std::max<int64_t>(1, op.getCombineOp().front().getOperations().size() - 1);
  for (mlir::Value operand : op.getSrcs())
    totals.words += llvm::divideCeil(ElementBytes(TensorOf(operand).getElementType()), 4);
  return totals;
}

// Whether two regions compute the same of their arguments.
bool CombineAlike(mlir::Region& x, mlir::Region& y) {
  if (!x.hasOneBlock() || !y.hasOneBlock() || x.getNumArguments() != y.getNumArguments()) return false;
  llvm::DenseMap<mlir::Value, mlir::Value> same;
  for (auto [a, b] : llvm::zip(x.getArguments(), y.getArguments())) same[a] = b;
  auto are_same = [&](mlir::Value a, mlir::Value b) { return same.lookup_or(a, a) == b; };
  auto are_alike = [&](Operation& a, Operation& b) {
    return mlir::OperationEquivalence::isEquivalentTo(
        &a, &b, [&](mlir::Value v, mlir::Value w) { return mlir::success(are_same(v, w)); },
        [&](mlir::Value v, mlir::Value w) { same[v] = w; }, mlir::OperationEquivalence::IgnoreLocations);
  };
  return llvm::equal(x.front().without_terminator(), y.front().without_terminator(), are_alike) &&
         llvm::equal(x.front().getTerminator()->getOperands(), y.front().getTerminator()->getOperands(), are_same);
}

// A scan exchanges a partial result for each position of the axis index above the bits that each warp has for itself.
// The bits above are those of the warps, and those of what their threads hold beyond them.
Scratch OfScan(tt::ScanOp op) {
  Scratch scratch;
  RankedTensorType type = TensorOf(op.getSrcs().front());
  if (!HasPlacement(type)) return scratch;
  LinearLayout layout = ttg::ToLinearLayout(type);
  int32_t mask = WarpMaskAlongAxis(layout, op.getAxis());
  if (mask == 0) return scratch;
  int64_t chunk = type.getDimSize(op.getAxis());
  for (int bit = 0; mask >> bit; ++bit)
    if (mask >> bit & 1)
      chunk = std::min<int64_t>(chunk, layout.Basis("warp", bit, ttg::DimNames(type.getRank())[op.getAxis()]));
  for (mlir::Value operand : op.getSrcs())
    AddPart(scratch, type.getNumElements() / chunk, TensorOf(operand).getElementType());
  return scratch;
}

Scratch OfGather(tt::GatherOp op) {
  RankedTensorType src = TensorOf(op.getSrc());
  if (!HasPlacement(src) || !HasPlacement(op.getType())) return {};
  const GatherPlan plan = PlanGather(op);
  if (plan.kind != GatherPlan::Kind::kShared) return {};
  Scratch scratch = OnePart(src.getNumElements(), src.getElementType());
  scratch.stays_in_warp = plan.source.has_value();
  return scratch;
}

// Threads other than the one that did the access hold the result as well.
Scratch OfAtomic(mlir::Value result) {
  if (result.use_empty()) return {};
  auto tensor = llvm::dyn_cast<RankedTensorType>(result.getType());
  if (!tensor) return OnePart(1, result.getType());
  if (!HasPlacement(tensor)) return {};
  LinearLayout layout = ttg::ToLinearLayout(tensor);
  Coordinates copies = layout.FreeVariableMasks();
  for (auto [in, mask] : llvm::zip_equal(layout.InDims(), copies)) {
    if (mask != 0 && (in.name == "lane" || in.name == "warp")) {
      return OnePart(tensor.getNumElements(), tensor.getElementType());
    }
  }
  return {};
}

// A word for each of the values that a capture is lowered to: a buffer's are its address and an offset.
Scratch OfCaptures(ttg::StartPartitionsOp op) {
  constexpr int64_t kWords = 2, kWordBytes = 8;
  Scratch scratch;
  for (size_t i = 0; i < op.getCaptures().size(); ++i) scratch.offsets.push_back(i * kWords * kWordBytes);
  scratch.bytes = op.getCaptures().size() * kWords * kWordBytes;
  return scratch;
}

}  // namespace

int64_t ElementBytes(mlir::Type element) {
  if (llvm::isa<tt::PtrType>(element)) return 8;
  if (!element.isIntOrFloat()) return 8;  // index
  return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

int64_t BufferBytes(ttg::MemDescType type) { return ttg::BufferBits(type) / 8; }

int64_t AllocatedBytes(tt::FuncOp function) {
  int64_t bytes = 0;
  function.walk([&](ttg::LocalAllocOp alloc) { bytes += BufferBytes(alloc.getType()); });
  return bytes;
}

int32_t ConversionPartBits(ttg::ConvertLayoutOp op) {
  auto bits = op->getAttrOfType<mlir::IntegerAttr>(kConversionPartsAttr);
  return bits ? static_cast<int32_t>(bits.getInt()) : 0;
}

Scratch ScratchOf(Operation* op) {
  return llvm::TypeSwitch<Operation*, Scratch>(op)
      .Case([](ttg::ConvertLayoutOp convert) { return OfConversion(convert); })
      .Case([](tt::ReduceOp reduce) { return OfReduction(reduce); })
      .Case([](tt::ScanOp scan) { return OfScan(scan); })
      .Case([](tt::HistogramOp histogram) {
        auto type = TensorOf(histogram.getResult());
        return OnePart(type.getNumElements(), type.getElementType());
      })
      .Case([](tt::GatherOp gather) { return OfGather(gather); })
      .Case<tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicPollOp, ttg::LocalAtomicScatterRMWOp>(
          [](auto atomic) { return OfAtomic(atomic.getResult()); })
      .Case([](ttg::StartPartitionsOp start) { return OfCaptures(start); })
      .Default([](Operation*) { return Scratch(); });
}

int32_t WarpMaskAlongAxis(const LinearLayout& layout, unsigned axis) {
  if (!layout.HasIn("warp")) return 0;
  const LayoutDim& warp = layout.In("warp");
  const LayoutDim& out = layout.OutDims()[axis];
  size_t position = 0;
  while (layout.InDims()[position].name != "warp") ++position;
  int32_t copies = layout.FreeVariableMasks()[position], mask = 0;
  for (int32_t bit = 0; bit < warp.bits; ++bit) {
    bool moves = ((layout.columns()[warp.shift + bit] >> out.shift) & out.mask()) != 0;
    if (moves && ((copies >> bit) & 1) == 0) mask |= int32_t{1} << bit;
  }
  return mask;
}

int WarpsAlongAxis(tt::ReduceOp op) {
  if (!HasPlacement(op.InputType())) return 1;
  return 1 << llvm::popcount(uint32_t(WarpMaskAlongAxis(ttg::ToLinearLayout(op.InputType()), op.getAxis())));
}

tt::ScanOp ScanOfTotal(tt::ReduceOp op) {
  if (op.InputType().getRank() > 1) return {};
  Operation* combiner = op.SingleCombiner();
  const bool commutes = combiner && combiner->hasTrait<mlir::OpTrait::IsCommutative>();
  for (Operation* user : op.getSrcs()[0].getUsers()) {
    auto scan = llvm::dyn_cast<tt::ScanOp>(user);
    if (!scan || scan->getBlock() != op->getBlock() || !scan->isBeforeInBlock(op)) continue;
    if (scan.getReverse() && !commutes) continue;
    if (scan.getSrcs() == op.getSrcs() && CombineAlike(scan.getCombineOp(), op.getCombineOp())) return scan;
  }
  return {};
}

int LanesOfTotal(tt::ReduceOp op) { return TotalsOf(op).BestLanes(); }

bool SharesTotals(tt::ReduceOp op) {
  if (WarpsAlongAxis(op) == 1) return false;
  const LinearLayout layout = ttg::ToLinearLayout(op.InputType());
  if (layout.HasIn("block") && layout.InSize("block") > 1) return false;
  const Totals totals = TotalsOf(op);
  return static_cast<double>(totals.Alone()) > kWorthwhile * static_cast<double>(totals.Shared(totals.BestLanes()));
}

int WarpsAlongAxis(tt::ScanOp op) {
  RankedTensorType type = TensorOf(op.getSrcs().front());
  if (!HasPlacement(type)) return 1;
  return 1 << llvm::popcount(uint32_t(WarpMaskAlongAxis(ttg::ToLinearLayout(type), op.getAxis())));
}

bool IsReducible(const LinearLayout& layout, unsigned axis) {
  const LayoutDim& out = layout.OutDims()[axis];
  uint64_t along = out.mask() << out.shift;
  F2Span moves;
  return std::all_of(layout.columns().begin(), layout.columns().end(), [&](uint64_t column) {
    return (column & along) == 0 || ((column & ~along) == 0 && moves.Insert(column));
  });
}

bool IsScannable(const LinearLayout& layout, unsigned axis) {
  if (!IsReducible(layout, axis)) return false;
  const LayoutDim& out = layout.OutDims()[axis];
  uint64_t all = 0, of_lanes = 0, of_warps = 0;
  for (const LayoutDim& in : layout.InDims()) {
    for (int32_t bit = 0; bit < in.bits; ++bit) {
      uint64_t move = (layout.columns()[in.shift + bit] >> out.shift) & out.mask();
      if ((move & (move - 1)) != 0) return false;
      all |= move;
      if (in.name == "lane") of_lanes |= move;
      if (in.name == "warp") of_warps |= move;
    }
  }
  if (of_warps == 0) return true;
  // The bits between the lowest and the highest of the warps' are the warps' too.
  uint64_t lowest = of_warps & (~of_warps + 1);
  uint64_t span = (llvm::bit_ceil(of_warps + 1) - 1) & ~(lowest - 1);
  return (span & all) == of_warps && of_lanes < lowest;
}

}  // namespace tritond::compiler
