// SPDX-License-Identifier: Apache-2.0
// Lets the warps of a block share K where each thread would have few accumulators of a dot by multiply-adds. Operands
// are read from shared memory for each row and column of a thread's tile, which a small tile uses too seldom:
//
//   16x64 of them, 4 warps     a thread: 2 x 4 accumulators, 32 of K:  48 reads of 16 bytes for 256 multiply-adds
//   the same, 2 parts of K     a thread: 4 x 4 accumulators, 16 of K:  32 reads
//
//   %r = scf.for … iter_args(%sum = %init) {
//     %x = ttg.local_load %a : … -> tensor<16x32xf32, #dot_op<0, #old>>
//     %y = ttg.local_load %b : … -> tensor<32x64xf32, #dot_op<1, #old>>
//     %d = tt.dot %x, %y, %sum
//     scf.yield %d
//   }
//   ->
//   %p = scf.for … iter_args(%partial = zeros : tensor<2x16x64xf32, #parts>) {        #parts: a warp has one of the two
//     %x = tt.trans (tt.reshape (ttg.local_load %a)) : … -> tensor<2x16x16xf32, #dot_op<0, #parts>>
//     %y = tt.reshape (ttg.local_load %b)            : … -> tensor<2x16x64xf32, #dot_op<1, #parts>>
//     %d = tt.dot %x, %y, %partial
//     scf.yield %d
//   }
//   %r = %init + tt.reduce<add, axis 0>(ttg.convert_layout %p)                     a thread has all parts of its own
//
// The reshapes and transpositions move nothing: each thread loads what it needs. The cycles of accumulator_sharing.h
// decide how many parts there are: as few as possible, none where they save less than an eighth of an iteration. In a
// loop whose iterations are known they must also pay for the reduction. Nothing but the dot may see the sum in the
// loop.
#include "compiler/dots/accumulator_sharing.h"
#include "compiler/dots/dot_slices.h"
#include "compiler/ir/encodings.h"
#include "compiler/passes/carried_values.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SHAREKPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;

// The least part of an iteration's cycles that is worth more registers.
constexpr int64_t kLeastGain = 8;
// Of a sum: it is written to shared memory and read again, a quarter of a wide access each time.
constexpr int64_t kReductionCycles = 8;

RankedTensorType TypeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

// A dot whose sum the loop carries at `index`, of operands that come from buffers.
struct CarriedDot {
  RankedTensorType Type() { return TypeOf(dot.getD()); }
  int64_t K() { return TypeOf(dot.getA()).getDimSize(1); }

  unsigned index = 0;
  tt::DotOp dot;
  ttg::LocalLoadOp loads[2];
};

std::optional<CarriedDot> FindCarriedDot(ForOp loop, unsigned index) {
  CarriedDot found;
  found.index = index;
  found.dot = loop.getYieldedValues()[index].getDefiningOp<tt::DotOp>();
  Value argument = loop.getRegionIterArg(index);
  if (!found.dot || found.dot->getBlock() != loop.getBody() || !found.dot->hasOneUse()) return std::nullopt;
  if (found.dot.getC() != argument || !argument.hasOneUse()) return std::nullopt;
  RankedTensorType type = found.Type();
  const bool is_wide_float = llvm::isa<mlir::FloatType>(type.getElementType()) && type.getElementTypeBitWidth() >= 32;
  if (type.getRank() != 2 || !is_wide_float || !llvm::isa<ttg::BlockedEncodingAttr>(type.getEncoding()))
    return std::nullopt;
  for (int side : {0, 1}) {
    Value operand = found.dot->getOperand(side);
    auto load = operand.getDefiningOp<ttg::LocalLoadOp>();
    if (!load || !operand.hasOneUse() || load->getBlock() != loop.getBody()) return std::nullopt;
    if (!llvm::isa<ttg::SwizzledSharedEncodingAttr>(load.getSrc().getType().getEncoding())) return std::nullopt;
    found.loads[side] = load;
  }
  return found;
}

llvm::SmallVector<SumOperand> OperandsOf(CarriedDot& carried) {
  llvm::SmallVector<SumOperand> operands;
  for (int side : {0, 1}) {
    ttg::MemDescType buffer = carried.loads[side].getSrc().getType();
    auto encoding = llvm::cast<ttg::SwizzledSharedEncodingAttr>(buffer.getEncoding());
    operands.emplace_back(buffer.getElementType(), static_cast<int>(encoding.getOrder()[0]) == DimOfK(2, side));
  }
  return operands;
}

// How the accumulators are shared when K is in so many parts.
struct PartedAccumulators {
  unsigned parts = 1;
  AccumulatorSharing sharing;
  int64_t cycles = 0;  // of an iteration
};

PartedAccumulators BestParts(CarriedDot& carried, ForOp loop, llvm::ArrayRef<SumOperand> operands, unsigned lanes,
                             const SharingRates& rates) {
  const unsigned warps = ttg::NumWarps(carried.dot);
  const int64_t rows = carried.Type().getDimSize(0), columns = carried.Type().getDimSize(1);
  const int64_t group = std::max(operands[0].group, operands[1].group);
  const std::optional<llvm::APInt> iterations = loop.getStaticTripCount();
  PartedAccumulators best;
  for (unsigned parts = 1; parts <= warps && carried.K() % (parts * group) == 0; parts *= 2) {
    const SharedAccumulators shared = ShareAccumulators(rows, columns, lanes, warps / parts, operands, rates);
    const int64_t cycles = shared.cost.cycles * (carried.K() / (parts * group));
    const int64_t gain = best.cycles - cycles;
    const int64_t reduction = kReductionCycles * shared.sharing.Left(0) * shared.sharing.Left(1);
    const bool pays = !iterations || gain * iterations->getSExtValue() > reduction;
    if (parts == 1 || (gain * kLeastGain >= best.cycles && pays)) best = {parts, shared.sharing, cycles};
  }
  return best;
}

class PartedDot final {
 public:
  PartedDot(CarriedDot carried, unsigned parts, ttg::BlockedEncodingAttr encoding)
      : carried_(carried), parts_(parts), encoding_(encoding) {}

  ForOp Rewrite(ForOp loop) {
    mlir::IRRewriter b(loop);
    tt::DotOp dot = carried_.dot;
    mlir::Location loc = dot.getLoc();
    RankedTensorType type = carried_.Type();
    auto parted =
        RankedTensorType::get({parts_, type.getDimSize(0), type.getDimSize(1)}, type.getElementType(), encoding_);
    Value zeros = arith::ConstantOp::create(
        b, loc, mlir::DenseElementsAttr::get(parted, b.getFloatAttr(type.getElementType(), 0.0)));
    auto yields = [&](mlir::OpBuilder& inner, mlir::Location, llvm::ArrayRef<mlir::BlockArgument> added) {
      inner.setInsertionPoint(dot);
      Value x = Operand(inner, 0), y = Operand(inner, 1);
      return llvm::SmallVector<Value>{
          tt::DotOp::create(inner, loc, parted, x, y, added[0], dot.getInputPrecision(), dot.getMaxNumImpreciseAcc())};
    };
    loop =
        llvm::cast<ForOp>(*loop.replaceWithAdditionalYields(b, zeros, /*replaceInitOperandUsesInLoop=*/false, yields));
    // The old sum is carried unchanged: the result is what it started from.
    loop.getBody()->getTerminator()->setOperand(carried_.index, loop.getRegionIterArg(carried_.index));
    if (Value old = loop.getResult(carried_.index); !old.use_empty()) {
      b.setInsertionPoint(FirstUser(loop, old));
      Value start = loop.getInitArgs()[carried_.index], result = Sum(b, loc, loop.getResults().back(), type);
      if (!mlir::matchPattern(start, mlir::m_AnyZeroFloat())) result = arith::AddFOp::create(b, loc, start, result);
      old.replaceAllUsesWith(result);
    }
    dot.erase();
    for (ttg::LocalLoadOp load : carried_.loads) load.erase();
    return loop;
  }

 private:
  // Where the sum is needed: by then the loop's buffers are free, and the reduction may use their place.
  static mlir::Operation* FirstUser(ForOp loop, Value value) {
    mlir::Operation* first = loop->getBlock()->getTerminator();
    for (mlir::Operation* user : value.getUsers())
      if (mlir::Operation* here = loop->getBlock()->findAncestorOpInBlock(*user); here->isBeforeInBlock(first))
        first = here;
    return first;
  }

  // Operand `side` with the parts of K as batches: 16x32 -> 16x2x16 -> 2x16x16, 32x64 -> 2x16x64.
  Value Operand(mlir::OpBuilder& b, int side) {
    ttg::LocalLoadOp load = carried_.loads[side];
    mlir::Location loc = load.getLoc();
    RankedTensorType whole = load.getType();
    mlir::Type element = whole.getElementType();
    const int64_t k = carried_.K() / parts_, other = whole.getDimSize(1 - DimOfK(2, side));
    const llvm::SmallVector<int64_t, 3> batches =
        side == 0 ? llvm::SmallVector<int64_t, 3>{parts_, other, k} : llvm::SmallVector<int64_t, 3>{parts_, k, other};
    const llvm::SmallVector<int64_t, 3> split = side == 0 ? llvm::SmallVector<int64_t, 3>{other, parts_, k} : batches;
    mlir::Attribute operand = ttg::DotOperandEncodingAttr::get(b.getContext(), side, encoding_, /*kWidth=*/0);
    const int32_t order[] = {1, 0, 2};
    mlir::Attribute before = side == 0 ? ttg::TransEncoding(operand, batches, order) : operand;
    mlir::Attribute flat = ttg::ReshapeEncoding(before, split, whole.getShape());
    Value value = ttg::LocalLoadOp::create(b, loc, RankedTensorType::get(whole.getShape(), element, flat),
                                           load.getSrc(), load.getToken());
    value = tt::ReshapeOp::create(b, loc, RankedTensorType::get(split, element, before), value);
    if (side == 0) value = tt::TransOp::create(b, loc, RankedTensorType::get(batches, element, operand), value, order);
    return value;
  }

  // The parts added up, under the encoding of `type`, in which a thread has all parts of its accumulators.
  Value Sum(mlir::OpBuilder& b, mlir::Location loc, Value value, RankedTensorType type) {
    auto old = llvm::cast<ttg::BlockedEncodingAttr>(type.getEncoding());
    auto with_parts = [](unsigned count, llvm::ArrayRef<unsigned> values) {
      return llvm::SmallVector<unsigned>{count, values[0], values[1]};
    };
    const unsigned order[] = {old.getOrder()[0] + 1, old.getOrder()[1] + 1, 0};
    auto together = ttg::BlockedEncodingAttr::get(b.getContext(), with_parts(parts_, old.getSizePerThread()),
                                                  with_parts(1, old.getThreadsPerWarp()),
                                                  with_parts(1, old.getWarpsPerCTA()), order);
    RankedTensorType parted = TypeOf(value);
    value = ttg::ConvertLayoutOp::create(
        b, loc, RankedTensorType::get(parted.getShape(), parted.getElementType(), together), value);
    auto slice = ttg::SliceEncodingAttr::get(b.getContext(), 0, together);
    auto reduce = tt::ReduceOp::create(
        b, loc, mlir::TypeRange(RankedTensorType::get(type.getShape(), type.getElementType(), slice)),
        mlir::ValueRange(value), /*axis=*/0);
    mlir::Block* block =
        b.createBlock(&reduce.getCombineOp(), {}, {type.getElementType(), type.getElementType()}, {loc, loc});
    Value sum = arith::AddFOp::create(b, loc, block->getArgument(0), block->getArgument(1));
    tt::ReduceReturnOp::create(b, loc, sum);
    b.setInsertionPointAfter(reduce);
    return ttg::ConvertLayoutOp::create(b, loc, type, reduce->getResult(0));
  }

  CarriedDot carried_;
  int64_t parts_;
  ttg::BlockedEncodingAttr encoding_;
};

class ShareKPass : public impl::ShareKPassBase<ShareKPass> {
 public:
  using ShareKPassBase::ShareKPassBase;

 private:
  void runOnOperation() override {
    RewriteCarriedValues(getOperation(), [&](ForOp loop, unsigned index) { return Visit(loop, index); });
  }

  ForOp Visit(ForOp loop, unsigned index) {
    std::optional<CarriedDot> carried = FindCarriedDot(loop, index);
    if (!carried) return loop;
    llvm::SmallVector<SumOperand> operands = OperandsOf(*carried);
    const PartedAccumulators best = BestParts(*carried, loop, operands, ttg::ThreadsPerWarp(getOperation()),
                                              {shared_bytes, issued_warps, pairs_share_reads});
    if (best.parts == 1) return loop;
    auto encoding = best.sharing.BatchEncoding(&getContext(), operands, /*batch_lanes=*/1, best.parts);
    return PartedDot(*carried, best.parts, encoding).Rewrite(loop);
  }
};

}  // namespace
}  // namespace tritond::compiler
