// SPDX-License-Identifier: Apache-2.0
// Loops often count in 64 bits what 32 bits hold, as indices have 64 bits elsewhere. Counts of a tensor's size then
// take twice the registers, and two instructions an addition:
//
//   %r = scf.for %i = %a to %b step %c1024           %r = scf.for %i = %a to %b step %c1024
//       iter_args(%n = dense<0> : …xi64) : i32 {         iter_args(%n = dense<0> : …xi32) : i32 {
//     %x = arith.extui %hit : …xi1 to …xi64      ->    %x = arith.extui %hit : …xi1 to …xi32
//     %s = arith.addi %n, %x                           %s = arith.addi %n, %x
//     scf.yield %s                                     scf.yield %s
//   }                                                }
//                                                    %w = arith.extui %r : …xi32 to …xi64
//
// A loop runs at most as often as its counter has numbers, divided by the step. So the greatest term, times that, is
// the greatest count. Nothing but the addition may read the count in the loop.
#include "compiler/ir/tt_dialect.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_NARROWCOUNTSPASS
#include "compiler/passes/passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Operation;
using mlir::Value;
using mlir::scf::ForOp;

constexpr unsigned kWide = 64, kNarrow = 32;
constexpr uint64_t kMostNarrow = std::numeric_limits<uint32_t>::max();

mlir::Type WithWidth(mlir::Type type, unsigned bits) {
  auto element = mlir::IntegerType::get(type.getContext(), bits);
  auto shaped = llvm::dyn_cast<mlir::RankedTensorType>(type);
  return shaped ? mlir::Type(shaped.clone(element)) : element;
}

// The greatest element, of what is no constant by its bits before it was extended. Nullopt: more than 32 bits hold.
std::optional<uint64_t> MostOf(Value value) {
  mlir::Attribute attribute;
  if (mlir::matchPattern(value, mlir::m_Constant(&attribute))) {
    if (auto dense = llvm::dyn_cast<mlir::SplatElementsAttr>(attribute))
      attribute = dense.getSplatValue<mlir::Attribute>();
    auto number = llvm::dyn_cast<mlir::IntegerAttr>(attribute);
    if (!number || number.getValue().getActiveBits() > kNarrow) return std::nullopt;
    return number.getValue().getZExtValue();
  }
  Operation* op = value.getDefiningOp();
  if (auto extension = llvm::dyn_cast_or_null<arith::ExtUIOp>(op)) {
    const unsigned bits = mlir::getElementTypeOrSelf(extension.getIn().getType()).getIntOrFloatBitWidth();
    return bits <= kNarrow ? std::optional((uint64_t{1} << bits) - 1) : std::nullopt;
  }
  if (llvm::isa_and_present<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp>(op)) return MostOf(op->getOperand(0));
  if (auto select = llvm::dyn_cast_or_null<arith::SelectOp>(op)) {
    std::optional<uint64_t> a = MostOf(select.getTrueValue()), b = a ? MostOf(select.getFalseValue()) : std::nullopt;
    return b ? std::optional(std::max(*a, *b)) : std::nullopt;
  }
  return std::nullopt;
}

// The iterations of a loop, at most; nullopt: more than 32 bits hold.
std::optional<uint64_t> MostIterations(ForOp loop) {
  std::optional<int64_t> step = mlir::getConstantIntValue(loop.getStep());
  auto counter = llvm::dyn_cast<mlir::IntegerType>(loop.getInductionVar().getType());
  if (!step || *step <= 0 || !counter || counter.getWidth() > kNarrow) return std::nullopt;
  const uint64_t numbers = (uint64_t{1} << counter.getWidth()) - 1;
  return (numbers - 1) / static_cast<uint64_t>(*step) + 1;
}

// The addition by which the loop counts in argument `index`; null: it does something else there, or counts further than
// 32 bits.
arith::AddIOp AdditionOf(ForOp loop, unsigned index) {
  mlir::BlockArgument count = loop.getRegionIterArg(index);
  if (!mlir::getElementTypeOrSelf(count.getType()).isInteger(kWide) || !count.hasOneUse()) return {};
  auto add = loop.getYieldedValues()[index].getDefiningOp<arith::AddIOp>();
  if (!add || !add->hasOneUse() || *count.user_begin() != add || add->getBlock() != loop.getBody()) return {};
  std::optional<uint64_t> first = MostOf(loop.getInitArgs()[index]), iterations = MostIterations(loop);
  if (!mlir::matchPattern(loop.getInitArgs()[index], mlir::m_Constant())) return {};
  std::optional<uint64_t> most = MostOf(add.getLhs() == count ? add.getRhs() : add.getLhs());
  if (!first || !iterations || !most) return {};
  return *most == 0 || *iterations <= (kMostNarrow - *first) / *most ? add : arith::AddIOp();
}

void Narrow(ForOp loop, unsigned index, arith::AddIOp add) {
  mlir::OpBuilder b(loop);
  mlir::BlockArgument count = loop.getRegionIterArg(index);
  mlir::Type wide = count.getType(), narrow = WithWidth(wide, kNarrow);
  mlir::OpOperand& first = loop.getInitArgsMutable()[index];
  first.set(arith::TruncIOp::create(b, loop.getLoc(), narrow, first.get()));
  count.setType(narrow);
  b.setInsertionPoint(add);
  Value term = add.getLhs() == count ? add.getRhs() : add.getLhs();
  term = arith::TruncIOp::create(b, add.getLoc(), narrow, term);
  Value sum = arith::AddIOp::create(b, add.getLoc(), count, term);
  add.replaceAllUsesWith(sum);
  add.erase();
  Value result = loop.getResult(index);
  result.setType(narrow);
  b.setInsertionPointAfter(loop);
  auto extension = arith::ExtUIOp::create(b, loop.getLoc(), wide, result);
  result.replaceAllUsesExcept(extension, extension);
}

struct NarrowCountsPass final : impl::NarrowCountsPassBase<NarrowCountsPass> {
  void runOnOperation() override {
    getOperation().walk([](ForOp loop) {
      for (unsigned index = 0; index < loop.getNumRegionIterArgs(); ++index)
        if (arith::AddIOp add = AdditionOf(loop, index)) Narrow(loop, index, add);
    });
  }
};

}  // namespace
}  // namespace tritond::compiler
