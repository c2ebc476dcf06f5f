// SPDX-License-Identifier: Apache-2.0
// Operations that say which element is where. None moves data between threads. The encodings of their operands and
// results are such that every element is where it is needed, in another register at most.
#include "compiler/layout/conversion.h"
#include "compiler/lowering/function_lowering.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace tritond::compiler {
namespace {

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;
namespace LLVM = mlir::LLVM;

RankedTensorType TensorType(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

// The coordinates that the registers of `layout` add to those of the thread.
llvm::SmallVector<Coordinates> RegisterCoordinates(const LinearLayout& layout) {
  llvm::SmallVector<Coordinates> result;
  for (int r = 0; r < layout.InSize("register"); ++r) result.push_back(layout.ApplyNamed({{"register", r}}));
  return result;
}

// For each register of `result`, a register of `source` that holds the same element in every thread. Failure when an
// element would have to come from another thread.
mlir::FailureOr<llvm::SmallVector<int>> MatchRegisters(const LinearLayout& source, const LinearLayout& result) {
  auto plan = PlanConversion(source, result);
  if (!plan.ok()) return mlir::failure();
  llvm::SmallVector<int> match;
  if (plan->kind == ConversionPlan::Kind::kNone)
    for (int r = 0; r < result.InSize("register"); ++r) match.push_back(r);
  else if (plan->kind == ConversionPlan::Kind::kRegister)
    match.assign(plan->src_register.begin(), plan->src_register.end());
  else
    return mlir::failure();
  return match;
}

LogicalResult SetMatched(FunctionLowering& f, mlir::Operation* op, Value source, const LinearLayout& from,
                         const LinearLayout& to) {
  auto match = MatchRegisters(from, to);
  if (failed(match)) return op->emitOpError("has encodings that would move elements between threads");
  Values results;
  ValueList values = f.Get(source);
  for (int r : *match) results.push_back(values[r]);
  f.Set(op->getResult(0), results);
  return mlir::success();
}

LogicalResult LowerSplat(FunctionLowering& f, tt::SplatOp op) {
  f.Set(op, Values(f.NumRegisters(op.getType()), f.Scalar(op.getSrc())));
  return mlir::success();
}

LogicalResult LowerUnsplat(FunctionLowering& f, tt::UnsplatOp op) {
  f.Set(op, {f.Scalar(op.getSrc())});
  return mlir::success();
}

LogicalResult LowerBlockMask(FunctionLowering& f, tt::BlockMaskOp op) {
  f.Set(op, f.Get(op.getMask()));
  return mlir::success();
}

// Both have the same lanes and warps. A register of the result reads the source's register at its coordinates, with 0
// in the dimensions that were of size one.
LogicalResult LowerBroadcast(FunctionLowering& f, tt::BroadcastOp op) {
  RankedTensorType type = TensorType(op.getSrc());
  const LinearLayout to = f.LayoutOf(op.getType());
  LinearLayout narrowed = to;
  auto names = ttg::DimNames(type.getRank());
  for (int dim = 0; dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) == 1) narrowed = narrowed.ResizeOut(names[dim], 1);
  return SetMatched(f, op, op.getSrc(), f.LayoutOf(type), narrowed);
}

// The source's encoding is the result's without the new dimension.
LogicalResult LowerExpandDims(FunctionLowering& f, tt::ExpandDimsOp op) {
  const LinearLayout& to = f.LayoutOf(op.getType());
  auto kept = ttg::DimNames(op.getType().getRank());
  kept.erase(kept.begin() + op.getAxis());
  llvm::SmallVector<absl::string_view> views(kept.begin(), kept.end());
  auto names = ttg::DimNames(kept.size());
  llvm::SmallVector<absl::string_view> renamed(names.begin(), names.end());
  LinearLayout dropped = to.Sublayout(to.InNames(), views).RenameOuts(renamed);
  return SetMatched(f, op, op.getSrc(), f.LayoutOf(TensorType(op.getSrc())), dropped);
}

LogicalResult LowerTrans(FunctionLowering& f, tt::TransOp op) {
  RankedTensorType type = TensorType(op.getSrc());
  auto moved = ttg::TransEncoding(type.getEncoding(), type.getShape(), op.getOrder());
  auto from = RankedTensorType::get(op.getType().getShape(), type.getElementType(), moved);
  return SetMatched(f, op, op.getSrc(), f.LayoutOf(from), f.LayoutOf(op.getType()));
}

LogicalResult LowerReshape(FunctionLowering& f, tt::ReshapeOp op) {
  RankedTensorType type = TensorType(op.getSrc());
  auto moved = ttg::ReshapeEncoding(type.getEncoding(), type.getShape(), op.getType().getShape());
  auto from = RankedTensorType::get(op.getType().getShape(), type.getElementType(), moved);
  const LinearLayout source = f.LayoutOf(from), result = f.LayoutOf(op.getType());
  if (op.getAllowReorder() && failed(MatchRegisters(source, result))) {
    // Any order will do, as long as each thread keeps its elements and copies stay copies of one element.
    LinearLayout unique_from = source.RemoveZeroBases("register"), unique_to = result.RemoveZeroBases("register");
    if (source == unique_from && result == unique_to && source.InSize("register") == result.InSize("register") &&
        source.IsInjective() && result.IsInjective()) {
      f.Set(op, f.Get(op.getSrc()));
      return mlir::success();
    }
  }
  return SetMatched(f, op, op.getSrc(), source, result);
}

LogicalResult LowerJoin(FunctionLowering& f, tt::JoinOp op) {
  // Each half is looked up where the last coordinate is 0 or 1.
  const LinearLayout& to = f.LayoutOf(op.getType());
  auto names = ttg::DimNames(op.getType().getRank());
  llvm::SmallVector<absl::string_view> halves(names.begin(), std::prev(names.end()));
  if (!to.IsZero({"lane", "warp"}, {names.back()}))
    return op.emitOpError("has an encoding that splits pairs over threads");
  auto match = MatchRegisters(f.LayoutOf(TensorType(op.getLhs())), to.Sublayout(to.InNames(), halves));
  if (failed(match)) return op.emitOpError("has encodings that would move elements between threads");
  Values results;
  for (auto [r, coordinates] : llvm::enumerate(RegisterCoordinates(to)))
    results.push_back(f.Get(coordinates.back() ? op.getRhs() : op.getLhs())[(*match)[r]]);
  f.Set(op, results);
  return mlir::success();
}

LogicalResult LowerSplit(FunctionLowering& f, tt::SplitOp op) {
  RankedTensorType type = TensorType(op.getSrc()), half_type = TensorType(op.getOutLHS());
  const LinearLayout from = f.LayoutOf(type), to = f.LayoutOf(half_type);
  auto names = ttg::DimNames(type.getRank());
  llvm::SmallVector<absl::string_view> halves(names.begin(), std::prev(names.end()));
  if (!from.IsZero({"lane", "warp"}, {names.back()}))
    return op.emitOpError("has an encoding that splits pairs over threads");
  auto coordinates = RegisterCoordinates(from);
  ValueList values = f.Get(op.getSrc());
  for (int side = 0; side < 2; ++side) {
    // Registers of this side, as a layout of their own.
    Values results;
    auto wanted = RegisterCoordinates(to);
    for (const Coordinates& want : wanted) {
      auto it = llvm::find_if(coordinates, [&](const Coordinates& have) {
        return have.back() == side && std::equal(want.begin(), want.end(), have.begin());
      });
      if (it == coordinates.end())
        return op.emitOpError("has encodings that would move elements between registers of other threads");
      results.push_back(values[it - coordinates.begin()]);
    }
    f.Set(op->getResult(side), results);
  }
  LinearLayout dropped = from.Sublayout({"lane", "warp"}, halves);
  if (dropped != to.Sublayout({"lane", "warp"}, halves))
    return op.emitOpError("has encodings that would move elements between threads");
  return mlir::success();
}

LogicalResult LowerMakeRange(FunctionLowering& f, tt::MakeRangeOp op) {
  const LinearLayout& layout = f.LayoutOf(op.getType());
  Value thread = f.ThreadPart(layout, "dim0");
  Values results;
  int start = static_cast<int32_t>(op.getStart());
  for (const Coordinates& c : RegisterCoordinates(layout)) {
    Value index = f.Coordinate(layout, "dim0", thread, c[0]);
    results.push_back(start >= 0 ? f.e.Add(index, f.e.Int(start))
                                 : Value(LLVM::AddOp::create(f.e.b, f.e.loc, index, f.e.Int(start))));
  }
  f.Set(op, results);
  return mlir::success();
}

LogicalResult LowerAddPtr(FunctionLowering& f, tt::AddPtrOp op) {
  auto pointer = llvm::cast<tt::PtrType>(tt::ElementOf(op.getType()));
  mlir::Type pointee = f.ConvertType(pointer.getPointeeType());
  if (!pointee) return op.emitOpError() << "advances a pointer to " << pointer.getPointeeType();
  if (pointee.isInteger(1)) pointee = f.e.b.getI8Type();
  Values results;
  llvm::DenseMap<std::pair<Value, Value>, Value> done;
  for (auto [ptr, offset] : llvm::zip(f.Get(op.getPtr()), f.Get(op.getOffset()))) {
    Value& result = done[{ptr, offset}];
    if (!result) result = f.e.Gep(ptr, pointee, offset);
    results.push_back(result);
  }
  f.Set(op, results);
  return mlir::success();
}

LogicalResult LowerPoison(FunctionLowering& f, mlir::ub::PoisonOp op) {
  Values results;
  for (mlir::Type type : f.ConvertTypes(op.getType())) results.push_back(f.e.Poison(type));
  f.Set(op, results);
  return mlir::success();
}

LogicalResult LowerUndef(FunctionLowering& f, LLVM::UndefOp op) {
  Values results;
  for (mlir::Type type : f.ConvertTypes(op.getType())) results.push_back(f.e.Poison(type));
  f.Set(op, results);
  return mlir::success();
}

// Elements may take any order: each thread's of the second tensor come after its of the first.
LogicalResult LowerCat(FunctionLowering& f, tt::CatOp op) {
  auto half = llvm::cast<RankedTensorType>(op.getLhs().getType());
  const LinearLayout one = f.LayoutOf(half), both = f.LayoutOf(llvm::cast<RankedTensorType>(op.getType()));
  bool fits = both.InSize("register") == 2 * one.InSize("register");
  for (const char* in : {"lane", "warp"})
    fits = fits && one.Sublayout({in}, one.OutNames()).Rank() == both.Sublayout({in}, both.OutNames()).Rank();
  if (!fits) return op.emitOpError("has a result encoding that does not hold both operands' registers");
  Values results(f.Get(op.getLhs()));
  llvm::append_range(results, f.Get(op.getRhs()));
  f.Set(op.getResult(), results);
  return mlir::success();
}

}  // namespace

void AddShapeOps(LoweringTable& table) {
  table.Add<tt::SplatOp>(LowerSplat);
  table.Add<tt::UnsplatOp>(LowerUnsplat);
  table.Add<tt::BroadcastOp>(LowerBroadcast);
  table.Add<tt::BlockMaskOp>(LowerBlockMask);
  table.Add<tt::ExpandDimsOp>(LowerExpandDims);
  table.Add<tt::TransOp>(LowerTrans);
  table.Add<tt::ReshapeOp>(LowerReshape);
  table.Add<tt::JoinOp>(LowerJoin);
  table.Add<tt::SplitOp>(LowerSplit);
  table.Add<tt::CatOp>(LowerCat);
  table.Add<tt::MakeRangeOp>(LowerMakeRange);
  table.Add<tt::AddPtrOp>(LowerAddPtr);
  table.Add<mlir::ub::PoisonOp>(LowerPoison);
  table.Add<LLVM::UndefOp>(LowerUndef);
}

}  // namespace tritond::compiler
