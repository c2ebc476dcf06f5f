// SPDX-License-Identifier: Apache-2.0
// ttg.convert_layout, planned from the two linear layouts alone: renaming registers, shuffles inside warps, or a round
// trip through swizzled shared memory.
#include "compiler/analysis/scratch.h"
#include "compiler/layout/conversion.h"
#include "compiler/layout/shared_swizzle.h"
#include "compiler/lowering/shared_access.h"

namespace tritond::compiler {
namespace {

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;
namespace LLVM = mlir::LLVM;

// XOR over the set bits of x of image[bit].
Value XorOfBits(Emitter& e, Value x, llvm::ArrayRef<int32_t> image) {
  Value result = e.Int(0);
  for (auto [bit, value] : llvm::enumerate(image)) {
    if (value == 0) continue;
    Value is_set = e.And(e.LShr(x, bit), e.Int(1));
    result = e.Xor(result, e.Mul(is_set, e.Int(value)));
  }
  return result;
}

// i1: whether an odd number of the bits under `mask` is set.
Value Parity(Emitter& e, Value x, int32_t mask) {
  if (mask == 0) return e.Bool(false);
  Value ones = LLVM::CtPopOp::create(e.b, e.loc, x.getType(), e.And(x, e.Int(mask)));
  return e.Trunc(ones, 1);
}

Values ConvertByShuffle(FunctionLowering& f, const ConversionPlan& plan, ValueList src) {
  Emitter& e = f.e;
  Value lane = e.Hoisted([&] {
    Value from_lane = XorOfBits(e, f.Lane(), plan.lane_from_lane);
    bool warp_moves = llvm::any_of(plan.lane_from_warp, [](int32_t v) { return v != 0; });
    return warp_moves ? e.Xor(from_lane, XorOfBits(e, f.Warp(), plan.lane_from_warp)) : from_lane;
  });
  bool same_lane = plan.scope == ConversionPlan::Scope::kThread;
  auto fetch = [&](int src_register, int lane_xor) {
    if (same_lane) return src[src_register];
    Value from = e.Hoisted([&] { return e.Xor(lane, e.Int(lane_xor)); });
    return f.Shuffle(src[src_register], [&](Value word) { return f.target.ShuffleIndex(e.b, e.loc, word, from); });
  };
  Values selectors;
  for (const auto& bit : plan.select_bits)
    selectors.push_back(e.Hoisted([&] {
      Value odd = Parity(e, f.Lane(), bit.lane_mask);
      return bit.warp_mask ? e.Xor(odd, Parity(e, f.Warp(), bit.warp_mask)) : odd;
    }));
  llvm::DenseMap<std::pair<int, int>, Value> done;
  Values results;
  for (auto [src_register, src_lane] : llvm::zip(plan.src_register, plan.src_lane)) {
    Value& result = done[{src_register, src_lane}];
    if (!result) {
      Values candidates;
      for (size_t choice = 0; choice < (size_t{1} << selectors.size()); ++choice) {
        int reg = src_register;
        for (auto [i, bit] : llvm::enumerate(plan.select_bits))
          if (choice >> i & 1) reg ^= bit.register_xor;
        candidates.push_back(fetch(reg, src_lane));
      }
      for (size_t i = selectors.size(); i-- > 0;)
        for (size_t k = 0; k < (size_t{1} << i); ++k)
          candidates[k] = e.Select(selectors[i], candidates[k + (size_t{1} << i)], candidates[k]);
      result = candidates[0];
    }
    results.push_back(result);
  }
  return results;
}

LogicalResult LowerConvertLayout(FunctionLowering& f, ttg::ConvertLayoutOp op) {
  auto from = llvm::cast<RankedTensorType>(op.getSrc().getType());
  const LinearLayout src = f.LayoutOf(from), dst = f.LayoutOf(op.getType());
  ValueList values = f.Get(op.getSrc());
  auto plan = PlanConversion(src, dst);
  if (!plan.ok()) return op.emitOpError() << "cannot convert: " << std::string(plan.status().message());
  switch (plan->kind) {
    case ConversionPlan::Kind::kNone:
      f.Set(op, values);
      return mlir::success();
    case ConversionPlan::Kind::kRegister: {
      Values results;
      for (int r : plan->src_register) results.push_back(values[r]);
      f.Set(op, results);
      return mlir::success();
    }
    case ConversionPlan::Kind::kShuffle:
      f.Set(op, ConvertByShuffle(f, *plan, values));
      return mlir::success();
    case ConversionPlan::Kind::kShared:
      break;
  }
  int bits = SharedType(f.e, values[0].getType()).getIntOrFloatBitWidth();
  auto swizzle = ChooseSwizzle(src, dst, bits);
  if (!swizzle.ok()) return op.emitOpError() << "cannot convert: " << std::string(swizzle.status().message());
  Value base = f.ScratchOf(op);
  StoreShared(f, swizzle->store, base, swizzle->store_vec, values);
  if (ScratchStaysInWarp(op))
    f.target.WarpBarrier(f.e.b, f.e.loc);
  else
    f.target.SharedBarrier(f.e.b, f.e.loc);
  f.Set(op, LoadShared(f, swizzle->load, base, swizzle->load_vec, values[0].getType()));
  return mlir::success();
}

}  // namespace

void AddLayoutOps(LoweringTable& table) { table.Add<ttg::ConvertLayoutOp>(LowerConvertLayout); }

}  // namespace tritond::compiler
