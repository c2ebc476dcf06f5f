// SPDX-License-Identifier: Apache-2.0
#include "compiler/encoding/exchange_cost.h"

#include "compiler/analysis/axis_runs.h"
#include "compiler/analysis/scratch.h"
#include "compiler/encoding/conversion_cost.h"
#include "compiler/ir/encodings.h"
#include "compiler/layout/lane_reduction.h"

namespace tritond::compiler {
namespace {

using mlir::RankedTensorType;

// Instructions that combine two tuples, and words of a tuple.
struct Tuple {
  double combine = 0, words = 0;
};

Tuple TupleOf(mlir::Region& combine, mlir::ValueRange operands) {
  Tuple tuple;
  auto is_long = [](mlir::Type type) { return type.isInteger(64); };
  combine.walk([&](mlir::Operation* op) {
    if (op->hasTrait<mlir::OpTrait::IsTerminator>()) return;
    // Integers of 64 bits take an instruction for each half.
    tuple.combine += CostModel::ElementCost(op).value_or(1) * (llvm::any_of(op->getOperandTypes(), is_long) ? 2 : 1);
  });
  for (mlir::Value operand : operands) tuple.words += ElementBytes(tt::ElementOf(operand.getType())) > 4 ? 2 : 1;
  return tuple;
}

// Registers that hold different elements.
double ElementsOf(const LinearLayout& layout) {
  double elements = 1;
  for (auto [dim, copies] : llvm::zip(layout.InDims(), layout.FreeVariableMasks()))
    if (dim.name == "register") elements = dim.size() >> llvm::popcount(static_cast<uint32_t>(copies));
  return elements;
}

}  // namespace

double ScanCost(tt::ScanOp scan, const LinearLayout& layout) {
  const Tuple tuple = TupleOf(scan.getCombineOp(), scan.getSrcs());
  const auto shape = llvm::cast<RankedTensorType>(scan.getSrcs()[0].getType()).getShape();
  const auto runs = RunsAlong(layout, ttg::DimNames(shape.size())[scan.getAxis()]);
  const double elements = ElementsOf(layout);
  const double shuffle = kShuffledWord * tuple.words, carry = tuple.combine + tuple.words;
  double cost = 0, chunks = elements;
  bool follows_lanes = false;  // the last lane of a chunk has its total
  for (size_t i = 0; i < runs.size(); ++i) {
    const AxisRun& run = runs[i];
    const double size = run.Size(), before = chunks;
    if (run.in == "lane") {
      cost += chunks * static_cast<double>(run.bits.size()) * (shuffle + carry);
      if (i > 0) cost += chunks * shuffle;  // from the lane before, for segments
      follows_lanes = true;
      continue;
    }
    if (run.in == "register") {
      chunks /= size;
      // The total of the registers; those of chunks come in front of the segments, too.
      if (i + 1 < runs.size() || i > 0) cost += (before - chunks) * tuple.combine;
      if (i > 0) cost += (before - chunks) * carry + (follows_lanes ? before * shuffle : 0);
      follows_lanes = false;
      continue;
    }
    // Warps, and the registers above them: each thread reads all totals.
    const double rounds = i + 1 < runs.size() ? runs[++i].Size() : 1;
    const double totals = chunks * size;
    cost += kBarrier + tuple.words * (kSharedWord * chunks + kVectorWord * totals) + (totals + chunks) * carry;
    chunks /= rounds;
    follows_lanes = false;
  }
  // At last each thread scans its segments.
  return cost + elements * tuple.combine;
}

double ReductionCost(tt::ReduceOp reduce, const LinearLayout& layout) {
  const Tuple tuple = TupleOf(reduce.getCombineOp(), reduce.getSrcs());
  const auto runs = RunsAlong(layout, ttg::DimNames(reduce.InputType().getRank())[reduce.getAxis()]);
  const double elements = ElementsOf(layout);
  double registers = 1, warps = 1;
  int lane_bits = 0;
  for (const AxisRun& run : runs) {
    if (run.in == "register") registers *= run.Size();
    if (run.in == "lane") lane_bits += static_cast<int>(run.bits.size());
    if (run.in == "warp") warps *= run.Size();
  }
  const double results = elements / registers;
  double cost = (elements - results) * tuple.combine;
  mlir::Operation* combiner = reduce.SingleCombiner();
  const bool commutes = combiner && combiner->hasTrait<mlir::OpTrait::IsCommutative>();
  const bool stays_apart = !commutes && warps > 1;
  cost += PlanLaneReduction(results, lane_bits, {tuple.words, tuple.combine, !commutes, stays_apart}).slots;
  if (warps > 1)
    cost += kBarrier + results * (tuple.words * (kSharedWord + kVectorWord * warps) + (warps - 1) * tuple.combine);
  return cost;
}

}  // namespace tritond::compiler
