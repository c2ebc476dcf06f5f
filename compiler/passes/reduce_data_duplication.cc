// SPDX-License-Identifier: Apache-2.0
// An operand of a matrix unit is held by many threads at once. Where it must come through shared memory anyway, a
// conversion would move each copy by itself. This puts the operand into a buffer laid out for the unit's loads instead:
//
//   %y = ttg.convert_layout %x : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #ttg.dot_op<{…, parent = #mma}>>
//   ->
//   %m = ttg.local_alloc %x    : tensor<128x64xf16, #blocked> -> !ttg.memdesc<128x64xf16, #shared>
//   %y = ttg.local_load %m     : !ttg.memdesc<128x64xf16, #shared> -> tensor<128x64xf16, #ttg.dot_op<{…}>>
//
// #shared keeps the source's fastest dimension together, in groups of 16 bytes. It swizzles the groups such that eight
// neighbouring rows of one group lie in different banks. A conversion inside a thread or a warp stays. Operands under
// several encodings, as of dots of several shapes, share a buffer.
#include "compiler/dots/matrix_buffers.h"
#include "compiler/ir/encodings.h"
#include "compiler/layout/conversion.h"
#include "compiler/passes/passes.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_REDUCEDATADUPLICATIONPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::RankedTensorType;

bool GoesThroughSharedMemory(RankedTensorType from, RankedTensorType to) {
  auto plan = PlanConversion(ttg::ToLinearLayout(from), ttg::ToLinearLayout(to));
  return plan.ok() && plan->kind == ConversionPlan::Kind::kShared;
}

// The buffer of `type` that holds what `convert` converts and was made before it in its block; or null.
ttg::LocalAllocOp BufferBefore(ttg::ConvertLayoutOp convert, ttg::MemDescType type) {
  for (mlir::Operation* user : convert.getSrc().getUsers())
    if (auto buffer = llvm::dyn_cast<ttg::LocalAllocOp>(user); buffer && buffer.getType() == type &&
                                                               buffer->getBlock() == convert->getBlock() &&
                                                               buffer->isBeforeInBlock(convert))
      return buffer;
  return nullptr;
}

void Rewrite(ttg::ConvertLayoutOp convert) {
  auto from = llvm::cast<RankedTensorType>(convert.getSrc().getType());
  RankedTensorType to = convert.getType();
  if (llvm::isa<ttg::DotOperandEncodingAttr>(from.getEncoding()) || !IsMatrixOperand(to)) return;
  if (!llvm::isa<mlir::IntegerType, mlir::FloatType>(from.getElementType()) || !GoesThroughSharedMemory(from, to))
    return;
  mlir::Attribute shared =
      MatrixBufferEncoding(from, OrderInThread(from), llvm::cast<ttg::DotOperandEncodingAttr>(to.getEncoding()));
  if (!shared) return;
  mlir::OpBuilder b(convert);
  auto type =
      ttg::MemDescType::get(b.getContext(), from.getShape(), from.getElementType(), shared,
                            ttg::SharedMemorySpaceAttr::get(b.getContext()), /*mutableMemory=*/false, from.getShape());
  auto buffer = BufferBefore(convert, type);
  if (!buffer) buffer = ttg::LocalAllocOp::create(b, convert.getLoc(), type, convert.getSrc(), mlir::IntegerAttr());
  // At the first use, so that one barrier serves the buffers of both operands, which then also lie side by side.
  mlir::Operation* first = nullptr;
  for (mlir::Operation* user : convert->getUsers())
    if (user->getBlock() == convert->getBlock() && (!first || user->isBeforeInBlock(first))) first = user;
  bool all_here =
      llvm::all_of(convert->getUsers(), [&](auto* user) { return user->getBlock() == convert->getBlock(); });
  if (first && all_here) b.setInsertionPoint(first);
  auto load = ttg::LocalLoadOp::create(b, convert.getLoc(), to, buffer, /*token=*/mlir::Value());
  convert.replaceAllUsesWith(load.getResult());
  convert.erase();
}

class ReduceDataDuplicationPass : public impl::ReduceDataDuplicationPassBase<ReduceDataDuplicationPass> {
  void runOnOperation() override {
    llvm::SmallVector<ttg::ConvertLayoutOp> conversions;
    getOperation().walk([&](ttg::ConvertLayoutOp convert) { conversions.push_back(convert); });
    for (ttg::ConvertLayoutOp convert : conversions) Rewrite(convert);
  }
};

}  // namespace
}  // namespace tritond::compiler
