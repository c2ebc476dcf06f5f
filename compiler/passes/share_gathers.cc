// SPDX-License-Identifier: Apache-2.0
// A gather through shared memory writes all of its source there, and the threads of the block meet before they read it
// and before it is overwritten. Several gathers of one tensor write it once:
//
//   %a = tt.gather %x[%i] {axis = 1}           %m = ttg.local_alloc %x : … -> !ttg.memdesc<4x1024xf32, #linear>
//   %b = tt.gather %x[%j] {axis = 1}      ->   %a = ttg.local_gather %m[%i] {axis = 1}
//                                              %b = ttg.local_gather %m[%j] {axis = 1}
//
// #linear is row-major. Where indices are computed, it is spread over the banks (BankSpread). Gathers that take
// shuffles stay (PlanGather).
#include "compiler/analysis/computed_values.h"
#include "compiler/analysis/gather_plan.h"
#include "compiler/ir/encodings.h"
#include "compiler/layout/bank_spread.h"
#include "compiler/passes/passes.h"
#include "llvm/ADT/MapVector.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SHAREGATHERSPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::RankedTensorType;
using mlir::Value;

// Of one tensor, in one block, in order.
using Group = llvm::SmallVector<tt::GatherOp>;

RankedTensorType TypeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

bool GoesThroughSharedMemory(tt::GatherOp gather) {
  mlir::Type element = TypeOf(gather.getSrc()).getElementType();
  if (!element.isIntOrFloat() || element.isInteger(1)) return false;
  return PlanGather(gather).kind == GatherPlan::Kind::kShared;
}

// Spread for the first gather that reads at the distance of its own elements, if any does.
BankSpread SpreadFor(const Group& group) {
  for (tt::GatherOp gather : group) {
    if (TypeOf(gather.getSrc()).getShape() != TypeOf(gather.getResult()).getShape()) continue;
    if (!IsComputed(gather.getIndices())) continue;
    return SpreadOfGather(gather, ttg::ToLinearLayout(TypeOf(gather.getResult())), SharedMemoryShape());
  }
  return {};
}

ttg::MemDescType BufferType(const Group& group) {
  RankedTensorType type = TypeOf(tt::GatherOp(group.front()).getSrc());
  auto names = ttg::DimNames(type.getRank());
  LinearLayout places;  // offset -> row-major place
  for (int dim = static_cast<int>(type.getRank()) - 1; dim >= 0; --dim)
    places *= LinearLayout::Identity1D(static_cast<int32_t>(type.getDimSize(dim)), "offset", names[dim]);
  llvm::SmallVector<absl::string_view> order(names.begin(), names.end());
  const LinearLayout row_major = places.FlattenOuts("offset");
  const LinearLayout spread = SpreadFor(group).Of(row_major);
  const auto outs = places.OutDims();
  places = LinearLayout::FromColumns(spread.InDims(), outs, spread.columns()).TransposeOuts(order);
  places *= LinearLayout::Zeros1D(1, "block", names[0]);
  auto* context = type.getContext();
  auto encoding = ttg::SharedLinearEncodingAttr::get(context, places, /*alignment=*/16);
  return ttg::MemDescType::get(context, type.getShape(), type.getElementType(), encoding,
                               ttg::SharedMemorySpaceAttr::get(context), /*mutableMemory=*/false, type.getShape());
}

void Share(const Group& group) {
  tt::GatherOp first = group.front();
  mlir::OpBuilder b(first);
  Value buffer = ttg::LocalAllocOp::create(b, first.getLoc(), BufferType(group), first.getSrc(), mlir::IntegerAttr());
  for (tt::GatherOp gather : group) {
    b.setInsertionPoint(gather);
    auto read = ttg::LocalGatherOp::create(b, gather.getLoc(), gather.getType(), buffer, gather.getIndices(),
                                           gather.getAxis(), /*token=*/Value());
    gather.replaceAllUsesWith(read.getResult());
    gather.erase();
  }
}

struct ShareGathersPass final : impl::ShareGathersPassBase<ShareGathersPass> {
  void runOnOperation() override {
    auto clusters = getOperation()->getAttrOfType<mlir::IntegerAttr>(ttg::kNumCtasAttr);
    if (clusters && clusters.getInt() > 1) return;
    llvm::MapVector<std::pair<mlir::Block*, Value>, Group> groups;
    getOperation().walk([&](tt::GatherOp gather) { groups[{gather->getBlock(), gather.getSrc()}].push_back(gather); });
    for (auto& [place, group] : groups) {
      if (group.size() < 2) continue;
      llvm::erase_if(group, [](tt::GatherOp gather) { return !GoesThroughSharedMemory(gather); });
      if (group.size() > 1) Share(group);
    }
  }
};

}  // namespace
}  // namespace tritond::compiler
