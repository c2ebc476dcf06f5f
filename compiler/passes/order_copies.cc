// SPDX-License-Identifier: Apache-2.0
// For targets whose asynchronous copies write to shared memory side by side, in the order of lanes
// (TargetInfo::async_copies). Gives loads that feed dots the encoding under which the places of their buffer lie side
// by side in that order.
//
//   scf.for … {                                              scf.for … {
//     %a = tt.load %p : …, #blocked                            %q = ttg.convert_layout %p : … -> #linear
//     %x = ttg.convert_layout %a : … -> #dot_op        ->      %a = tt.load %q : …, #linear
//                                                              %x = ttg.convert_layout %a : … -> #dot_op
//
// The buffer is swizzled so that dots read it without bank conflicts. Its layout says which element stands at which
// place, and so which lane has to load it. The row's groups are permuted among the lanes that load the row. What an
// instruction reads of memory is the same. The conversions of pointers and masks move out of the loop
// (remove_layout_conversions.cc), which computes them under the new encoding.
//
// Loads get it only where the loop may be pipelined and a copy is as wide as what a thread would load otherwise.
// Narrower copies are more instructions.
#include "compiler/analysis/axis_info.h"
#include "compiler/dots/load_buffers.h"
#include "compiler/ir/encodings.h"
#include "compiler/passes/passes.h"
#include "compiler/pipelining/loop_effects.h"
#include "compiler/pipelining/loop_schedule.h"
#include "mlir/IR/IRMapping.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_ORDERCOPIESPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;

Value Converted(mlir::OpBuilder& b, Value value, mlir::Attribute encoding) {
  auto type = llvm::dyn_cast_if_present<RankedTensorType>(value ? value.getType() : mlir::Type());
  if (!type) return value;
  auto converted = RankedTensorType::get(type.getShape(), type.getElementType(), encoding);
  return ttg::ConvertLayoutOp::create(b, value.getLoc(), converted, value);
}

void LoadUnder(tt::LoadOp load, mlir::Attribute encoding) {
  mlir::OpBuilder b(load);
  mlir::IRMapping mapping;
  for (Value operand : load->getOperands()) mapping.map(operand, Converted(b, operand, encoding));
  auto type = llvm::cast<RankedTensorType>(load.getType());
  mlir::Operation* under = b.clone(*load, mapping);
  under->getResult(0).setType(RankedTensorType::get(type.getShape(), type.getElementType(), encoding));
  for (mlir::OpOperand& use : llvm::make_early_inc_range(load->getUses()))
    if (llvm::isa<ttg::ConvertLayoutOp>(use.getOwner())) use.set(under->getResult(0));
  if (!load->use_empty()) load->getResult(0).replaceAllUsesWith(Converted(b, under->getResult(0), type.getEncoding()));
  load->erase();
}

class OrderCopiesPass : public impl::OrderCopiesPassBase<OrderCopiesPass> {
 public:
  using OrderCopiesPassBase::OrderCopiesPassBase;

 private:
  void runOnOperation() override {
    std::optional<AxisInfoAnalysis> axes;
    llvm::SmallVector<std::pair<tt::LoadOp, mlir::Attribute>> ordered;
    getOperation().walk([&](ForOp loop) {
      auto attr = loop->getAttrOfType<mlir::IntegerAttr>(kNumStagesAttr);
      if ((attr ? attr.getInt() : num_stages) < 2) return;
      for (tt::LoadOp load : loop.getBody()->getOps<tt::LoadOp>()) {
        if (!axes) axes.emplace(getOperation());
        if (mlir::Attribute encoding = EncodingFor(load, loop, *axes)) ordered.push_back({load, encoding});
      }
    });
    for (auto [load, encoding] : ordered) LoadUnder(load, encoding);
  }

  mlir::Attribute EncodingFor(tt::LoadOp load, ForOp loop, const AxisInfoAnalysis& axes) {
    auto type = llvm::dyn_cast<RankedTensorType>(load.getType());
    if (!type || load.getIsVolatile() || !llvm::isa_and_present<ttg::BlockedEncodingAttr>(type.getEncoding()))
      return {};
    if (!type.getElementType().isIntOrFloat() || type.getElementTypeBitWidth() < 8 || !MayStartEarly(load, loop))
      return {};
    llvm::SmallVector<BufferRead> reads = ReadsOf(load, loop.getBody());
    if (reads.empty() || reads[0].defines == load.getResult()) return {};
    const int bytes = AccessBytes(load, axes), element_bytes = static_cast<int>(type.getElementTypeBitWidth()) / 8;
    if (bytes != least_copy_bytes && bytes != most_copy_bytes) return {};
    return LaneOrderEncoding(type, LoadBufferEncoding(type, reads), bytes / element_bytes, ttg::ThreadsPerWarp(load),
                             ttg::NumWarps(load));
  }

  // Of neighbours in memory that a thread loads at once.
  static int AccessBytes(tt::LoadOp load, const AxisInfoAnalysis& axes) {
    auto type = llvm::cast<RankedTensorType>(load.getType());
    unsigned fast = llvm::cast<ttg::BlockedEncodingAttr>(type.getEncoding()).getOrder()[0];
    int run = std::min(ttg::ToLinearLayout(type).NumConsecutive("register", ttg::DimNames(type.getRank())[fast]),
                       axes.PointerContiguity(load.getPtr(), fast));
    if (load.getMask()) run = std::min(run, axes.MaskConstancy(load.getMask(), fast));
    return std::min<int>(16, run * static_cast<int>(type.getElementTypeBitWidth()) / 8);
  }
};

}  // namespace
}  // namespace tritond::compiler
