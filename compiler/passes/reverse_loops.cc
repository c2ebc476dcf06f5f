// SPDX-License-Identifier: Apache-2.0
// A loop that reads what a loop before it has read begins where that one ended, for caches hold what was read last:
//
//   scf.for %i = 0 to %n step 1024 { … tt.load (%row + %i + [0 … 1023]) … }
//   scf.for %i = 0 to %n step 1024 {                          scf.for %i = 0 to %n step 1024 {
//     %x = tt.load (%row + %i + [0 … 1023])            ->       %j = %last - %i
//     … tt.store (%out + %i + [0 … 1023]) …                     %x = tt.load (%row + %j + [0 … 1023])
//   }                                                           … tt.store (%out + %j + [0 … 1023]) …
//                                                             }
//
// Where the rows of all resident blocks do not fit into a cache, the second loop would find nothing of its row: the
// least recently used data are those that it asks for next.
//
// If the second loop adds up numbers, whose sum depends on the order, and the first one only finds a maximum, then the
// first one runs backwards.
//
// The iterations of such a loop may run in any order. What it carries are maxima and the like. Its stores write other
// elements in each iteration, and what it loads by the same argument of the kernel are the elements that this iteration
// writes. Two arguments count as different memory, as for the pipeliner.
#include "compiler/analysis/element_ranges.h"
#include "compiler/analysis/pointer_roots.h"
#include "compiler/ir/encodings.h"
#include "compiler/passes/passes.h"
#include "compiler/pipelining/loop_iterations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_REVERSELOOPSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;

// The elements that an access of a loop's iteration means, as offsets: fixed + counter * %i + factor * (0 … last) + ….
struct Place {
  llvm::SmallVector<std::pair<Value, int64_t>> fixed;
  int64_t constant = 0, counter = 0;
  llvm::SmallVector<std::pair<int64_t, int64_t>> ranges;  // factor and last

  bool operator==(const Place& other) const {
    return fixed == other.fixed && constant == other.constant && counter == other.counter && ranges == other.ranges;
  }
};

// Of a loop over a row whose length is not known.
constexpr int64_t kTypicalIterations = 8;

class PlaceFinder final {
 public:
  explicit PlaceFinder(ForOp loop) : loop_(loop) {}

  std::optional<Place> Of(Value pointer) {
    place_ = {};
    if (!Add(pointer, 1)) return std::nullopt;
    llvm::sort(place_.fixed, [](const auto& a, const auto& b) {
      return std::pair(a.first.getAsOpaquePointer(), a.second) < std::pair(b.first.getAsOpaquePointer(), b.second);
    });
    llvm::sort(place_.ranges);
    return std::move(place_);
  }

 private:
  // Neither sums nor products of what is in use reach the ends of int64_t.
  static constexpr int64_t kMost = int64_t{1} << 31;

  bool Add(Value value, int64_t factor) {
    if (std::abs(factor) > kMost) return false;
    if (value == loop_.getInductionVar()) return place_.counter += factor, true;
    llvm::APInt constant;
    if (mlir::matchPattern(value, mlir::m_ConstantInt(&constant)))
      return constant.abs().ult(kMost) && (place_.constant += factor * constant.getSExtValue(), true);
    Operation* op = value.getDefiningOp();
    if (llvm::isa_and_present<tt::AddPtrOp, arith::AddIOp>(op))
      return Add(op->getOperand(0), factor) && Add(op->getOperand(1), factor);
    if (llvm::isa_and_present<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, arith::ExtSIOp, ttg::ConvertLayoutOp>(op))
      return Add(op->getOperand(0), factor);
    if (auto range = llvm::dyn_cast_if_present<tt::MakeRangeOp>(op)) {
      place_.constant += factor * range.getStart();
      if (const int64_t last = range.getEnd() - range.getStart() - 1; last > 0) place_.ranges.push_back({factor, last});
      return true;
    }
    if (auto product = llvm::dyn_cast_if_present<arith::MulIOp>(op);
        product && mlir::matchPattern(product.getRhs(), mlir::m_ConstantInt(&constant)))
      return constant.abs().ult(kMost) && Add(product.getLhs(), factor * constant.getSExtValue());
    if (llvm::isa<mlir::RankedTensorType>(value.getType()) || !loop_.isDefinedOutsideOfLoop(value)) return false;
    place_.fixed.push_back({value, factor});
    return true;
  }

  ForOp loop_;
  Place place_;
};

// The constant step of a loop with signs, at least 1; 0: it has none.
int64_t StepOf(ForOp loop) {
  return loop.getUnsignedCmp() ? 0 : std::max<int64_t>(0, mlir::getConstantIntValue(loop.getStep()).value_or(0));
}

// Whether no element belongs to two iterations. Ranges that are narrower than a step may not reach beyond it; with what
// the whole loop runs through, they may not reach the multiples that the others add.
bool IsApartInEachIteration(const Place& place, ForOp loop) {
  const int64_t stride = std::abs(place.counter) * StepOf(loop);
  int64_t narrow = 0, wide = 0;
  for (auto [factor, last] : place.ranges) {
    if (factor <= 0) return false;
    if (factor < stride) narrow += factor * last;
    if (factor >= stride && wide == 0) wide = factor;
    if (factor >= stride && factor % wide != 0) return false;
  }
  if (stride == 0 || narrow >= stride) return false;
  if (wide == 0) return true;
  const std::optional<ConstantLoop> known = ConstantLoopOf(loop);
  return known && stride * (known->iterations - 1) + narrow < wide;
}

struct Access {
  Operation* op;
  PointerRoots roots;
  std::optional<Place> place;
};

// The loads and the stores of a loop that does nothing else; nullopt if it does.
std::optional<llvm::SmallVector<Access>> AccessesOf(ForOp loop) {
  llvm::SmallVector<Access> accesses;
  PlaceFinder places(loop);
  for (Operation& op : loop.getBody()->without_terminator()) {
    auto load = llvm::dyn_cast<tt::LoadOp>(op);
    if (!llvm::isa<tt::LoadOp, tt::StoreOp>(op)) {
      if (!mlir::isMemoryEffectFree(&op)) return std::nullopt;
      continue;
    }
    std::optional<PointerRoots> roots = RootsOfPointer(op.getOperand(0));
    if (!roots || (load && load.getIsVolatile())) return std::nullopt;
    accesses.push_back({&op, std::move(*roots), places.Of(op.getOperand(0))});
  }
  return accesses;
}

bool Meet(const PointerRoots& a, const PointerRoots& b) {
  return llvm::any_of(a, [&](Value root) { return b.contains(root); });
}

// Whether what the loop carries at `index` is the same in whatever order the iterations add to it.
bool CarriesInAnyOrder(ForOp loop, unsigned index) {
  Value carried = loop.getRegionIterArg(index), next = loop.getYieldedValues()[index];
  Operation* op = next.getDefiningOp();
  return carried.hasOneUse() && *carried.user_begin() == op && next.hasOneUse() &&
         llvm::isa<arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp,
                   arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::AddIOp, arith::AndIOp, arith::OrIOp,
                   arith::XOrIOp>(op);
}

bool MayRunInAnyOrder(ForOp loop) {
  if (StepOf(loop) == 0 || mlir::getConstantIntValue(loop.getLowerBound()) != 0) return false;
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    if (!CarriesInAnyOrder(loop, i)) return false;
  const std::optional<llvm::SmallVector<Access>> accesses = AccessesOf(loop);
  if (!accesses) return false;
  for (const Access& store : *accesses) {
    if (!llvm::isa<tt::StoreOp>(store.op)) continue;
    if (!store.place || !IsApartInEachIteration(*store.place, loop)) return false;
    for (const Access& other : *accesses)
      if (Meet(store.roots, other.roots) && !(other.place && *other.place == *store.place)) return false;
  }
  return true;
}

// What the loop loads from other places in each iteration, and how many bytes.
llvm::SmallVector<std::pair<Place, int64_t>> PlacesOfLoads(ForOp loop) {
  llvm::SmallVector<std::pair<Place, int64_t>> places;
  for (auto load : loop.getBody()->getOps<tt::LoadOp>()) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(load.getType());
    std::optional<Place> place = PlaceFinder(loop).Of(load.getPtr());
    if (!tensor || !place || place->counter == 0) continue;
    places.emplace_back(std::move(*place), tensor.getNumElements() * tensor.getElementTypeBitWidth() / 8);
  }
  return places;
}

// A loop before another one that reads some of the same elements, in steps of the same size, and how many bytes of
// them an iteration reads. Null: there is none.
struct Reader {
  ForOp loop;
  int64_t bytes = 0;
};

// The last one.
Reader LastReaderBefore(ForOp loop) {
  const auto places = PlacesOfLoads(loop);
  for (Operation* before = loop->getPrevNode(); before && !places.empty(); before = before->getPrevNode()) {
    Reader reader{llvm::dyn_cast<ForOp>(before)};
    if (!reader.loop || StepOf(reader.loop) != StepOf(loop)) continue;
    for (const auto& [place, bytes] : PlacesOfLoads(reader.loop))
      if (llvm::any_of(places, [&, &at = place](const auto& other) { return other.first == at; }))
        reader.bytes += bytes;
    if (reader.bytes > 0) return reader;
  }
  return {};
}

class ReverseLoopsPass final : public impl::ReverseLoopsPassBase<ReverseLoopsPass> {
 public:
  using ReverseLoopsPassBase::ReverseLoopsPassBase;

 private:
  void runOnOperation() override {
    getOperation().walk([&](ForOp loop) {
      auto [first, bytes] = LastReaderBefore(loop);
      if (!first || reversed_.contains(first) || !ExceedsCache(loop, bytes)) return;
      if (MayRunInAnyOrder(loop)) {
        Reverse(loop);
      } else if (!LastReaderBefore(first).loop && MayRunInAnyOrder(first)) {
        Reverse(first);
      }
    });
  }

  // Whether the rows of all blocks that the device runs at once do, of which an iteration reads so many bytes.
  bool ExceedsCache(ForOp loop, int64_t bytes) {
    const std::optional<ConstantLoop> known = ConstantLoopOf(loop);
    const int64_t of_block = cache_bytes_of_warp * ttg::NumWarps(loop);
    return of_block > 0 && bytes * (known ? known->iterations : kTypicalIterations) > of_block;
  }

  void Reverse(ForOp loop) {
    mlir::OpBuilder b(loop);
    const mlir::Location loc = loop.getLoc();
    Value zero = arith::ConstantIntOp::create(b, loc, 0, 64), one = arith::ConstantIntOp::create(b, loc, 1, 64);
    Value number = arith::SubIOp::create(b, loc, CountIterations(b, loop), one);
    // Without an iteration it is not used; so it is never negative, as the counter.
    Value last = CounterAt(b, loop, arith::MaxSIOp::create(b, loc, number, zero));
    b.setInsertionPointToStart(loop.getBody());
    Value counter = loop.getInductionVar();
    auto place = arith::SubIOp::create(b, loc, last, counter,
                                       arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw);
    counter.replaceAllUsesExcept(place, place);
    reversed_.insert(loop);
  }

  llvm::DenseSet<Operation*> reversed_;
};

}  // namespace
}  // namespace tritond::compiler
