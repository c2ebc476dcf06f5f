// SPDX-License-Identifier: Apache-2.0
// A row or column that is broadcast over a tile has the tile's encoding, under which a few lanes hold all of it, and
// all others the same again. One of them copies each element, in as many instructions as a lane holds elements, and
// each has an address of its own. So loads that become copies get an encoding under which the lanes share the elements:
//
//   scf.for … {                                              scf.for … {
//     %p = tt.addptr %base, %i : …, #slice                     %q = tt.addptr %base', %i' : …, #blocked
//     %a = tt.load %p {tt.latency = 2} : …, #slice      ->     %b = tt.load %q {tt.latency = 2} : …, #blocked
//     use %a                                                   %a = ttg.convert_layout %b : … -> #slice
//   }                                                          use %a
//
// The conversion costs nothing, for it is how the buffer is read. So do loads that wait in registers, where these would
// be many: the conversion takes them through shared memory. Addresses and masks are computed again under the new
// encoding. So a load keeps its own one where these depend on what a loop carries or on other loads.
#include "compiler/analysis/axis_info.h"
#include "compiler/dots/load_buffers.h"
#include "compiler/dots/loop_registers.h"
#include "compiler/encoding/encoding_rules.h"
#include "compiler/ir/encodings.h"
#include "compiler/passes/passes.h"
#include "compiler/pipelining/loop_schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_SPREADCOPIESPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Attribute;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;

constexpr int64_t kMostCopyBytes = 16;
// Of a thread, that wait as they are.
constexpr int64_t kMostWaitingWords = 8;

RankedTensorType TensorType(Value value) { return llvm::dyn_cast<RankedTensorType>(value.getType()); }

// Computes values of a loop again under other encodings.
class Recomputation final {
 public:
  explicit Recomputation(ForOp loop) : loop_(loop) {}

  // Also of what is no tensor.
  bool CanMake(Value value, Attribute encoding) {
    RankedTensorType type = TensorType(value);
    if (!type || (encoding && (type.getEncoding() == encoding || loop_.isDefinedOutsideOfLoop(value)))) return true;
    if (!encoding) return false;
    Operation* op = value.getDefiningOp();
    if (!op || op->getNumResults() != 1 || op->getNumRegions() > 0 || !mlir::isPure(op)) return false;
    if (llvm::isa<ttg::ConvertLayoutOp>(op)) return CanMake(op->getOperand(0), encoding);
    const EncodingRule rule = EncodingRuleOf(op);
    if (rule == EncodingRule::kFree) return true;
    return rule == EncodingRule::kTied && llvm::all_of(op->getOpOperands(), [&](mlir::OpOperand& operand) {
             return CanMake(operand.get(),
                            TensorType(operand.get()) ? TiedOperandEncoding(operand, encoding) : encoding);
           });
  }

  Value Make(OpBuilder& b, Value value, Attribute encoding) {
    RankedTensorType type = TensorType(value);
    if (!type || type.getEncoding() == encoding) return value;
    Value& made = made_[{value, encoding}];
    if (made) return made;
    const RankedTensorType wanted = type.cloneWithEncoding(encoding);
    Operation* op = value.getDefiningOp();
    // What masked elements become stays a constant, by which it is known.
    if (loop_.isDefinedOutsideOfLoop(value) && !(op && EncodingRuleOf(op) == EncodingRule::kFree)) {
      OpBuilder before(loop_);
      return made = ttg::ConvertLayoutOp::create(before, value.getLoc(), wanted, value);
    }
    if (llvm::isa<ttg::ConvertLayoutOp>(op)) return Make(b, op->getOperand(0), encoding);
    mlir::IRMapping mapping;
    for (mlir::OpOperand& operand : op->getOpOperands())
      if (TensorType(operand.get()))
        mapping.map(operand.get(), Make(b, operand.get(), TiedOperandEncoding(operand, encoding)));
    Operation* copy = b.clone(*op, mapping);
    copy->getResult(0).setType(wanted);
    if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(copy))
      constant.setValueAttr(llvm::cast<mlir::DenseElementsAttr>(constant.getValue()).reshape(wanted));
    return made_[{value, encoding}] = copy->getResult(0);
  }

 private:
  ForOp loop_;
  llvm::DenseMap<std::pair<Value, Attribute>, Value> made_;
};

// Whether it is a row that is copied, or waits in many registers.
bool IsShared(tt::LoadOp load) {
  auto type = llvm::dyn_cast<RankedTensorType>(load.getType());
  if (!type || !IsRowOfTile(type)) return false;
  return load->hasAttr(kInRegistersAttr) ? RegistersOf(load.getResult()) > kMostWaitingWords
                                         : IsBuffered(load) && !HasFill(load);
}

// Under which lanes share the elements of a load, as many neighbours each as a copy moves. Null where they share them.
Attribute SharedEncoding(tt::LoadOp load, const AxisInfoAnalysis& axes) {
  auto type = llvm::cast<RankedTensorType>(load.getType());
  const unsigned rank = type.getRank();
  const auto* longest = llvm::find(type.getShape(), type.getNumElements());
  if (longest == type.getShape().end()) return {};
  const unsigned fast = longest - type.getShape().begin();
  int64_t run = axes.PointerContiguity(load.getPtr(), fast);
  if (load.getMask()) run = std::min<int64_t>(run, axes.MaskConstancy(load.getMask(), fast));
  run = std::min(run, kMostCopyBytes * 8 / type.getElementTypeBitWidth());
  const LinearLayout layout = ttg::ToLinearLayout(type);
  const int64_t at_once = std::min<int64_t>(run, layout.NumConsecutive("register", ttg::DimNames(rank)[fast]));
  if (layout.InSize("register") <= at_once) return {};
  llvm::SmallVector<unsigned> of_thread(rank, 1), lanes(rank, 1), warps(rank, 1), order{fast};
  of_thread[fast] = static_cast<unsigned>(run);
  lanes[fast] = ttg::ThreadsPerWarp(load);
  warps[fast] = ttg::NumWarps(load);
  for (unsigned dim = rank; dim-- > 0;)
    if (dim != fast) order.push_back(dim);
  return ttg::BlockedEncodingAttr::get(type.getContext(), of_thread, lanes, warps, order);
}

void LoadUnder(OpBuilder& b, tt::LoadOp load, Attribute encoding, Recomputation& recomputation) {
  mlir::IRMapping mapping;
  for (mlir::OpOperand& operand : load->getOpOperands())
    mapping.map(operand.get(), recomputation.Make(b, operand.get(), encoding));
  auto type = llvm::cast<RankedTensorType>(load.getType());
  Operation* shared = b.clone(*load, mapping);
  shared->getResult(0).setType(type.cloneWithEncoding(encoding));
  load.replaceAllUsesWith(ttg::ConvertLayoutOp::create(b, load.getLoc(), type, shared->getResult(0)).getResult());
  load.erase();
}

void SpreadCopies(ForOp loop, const AxisInfoAnalysis& axes) {
  Recomputation recomputation(loop);
  for (auto load : llvm::make_early_inc_range(loop.getBody()->getOps<tt::LoadOp>())) {
    if (!IsShared(load)) continue;
    const Attribute encoding = SharedEncoding(load, axes);
    auto can_make = [&](Value operand) { return recomputation.CanMake(operand, encoding); };
    if (!encoding || !llvm::all_of(load->getOperands(), can_make)) continue;
    OpBuilder b(load);
    LoadUnder(b, load, encoding, recomputation);
  }
}

struct SpreadCopiesPass final : impl::SpreadCopiesPassBase<SpreadCopiesPass> {
  void runOnOperation() override {
    llvm::SmallVector<ForOp> loops;
    getOperation().walk([&](ForOp loop) {
      if (llvm::any_of(loop.getBody()->getOps<tt::LoadOp>(), IsShared)) loops.push_back(loop);
    });
    if (loops.empty()) return;
    const AxisInfoAnalysis axes(getOperation());
    for (ForOp loop : loops) SpreadCopies(loop, axes);
  }
};

}  // namespace
}  // namespace tritond::compiler
