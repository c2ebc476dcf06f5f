// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/nvidia_ops.h"

#include "compiler/ir/encodings.h"
#include "compiler/targets/llvm_emitters.h"
#include "compiler/targets/nvidia/architecture.h"
#include "compiler/targets/nvidia/ptx_builder.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/InlineAsm.h"
#include "mlir/IR/BuiltinOps.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;

namespace {

constexpr int kAllLanes = -1;

bool IsOfCluster(mlir::OpBuilder& b) {
  mlir::Operation* op = b.getInsertionBlock()->getParentOp();
  auto module = op->getParentOfType<mlir::ModuleOp>();
  auto ctas = module ? module->getAttrOfType<mlir::IntegerAttr>(ttg::kNumCtasAttr) : nullptr;
  return ctas && ctas.getInt() > 1;
}

mlir::Value EmitSpecialRegister(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef name, tt::ProgramDim axis) {
  const char letter = "xyz"[static_cast<int>(axis)];
  return EmitIntrinsic(b, loc, ("llvm.nvvm.read.ptx.sreg." + name + "." + llvm::Twine(letter)).str(), b.getI32Type(),
                       {});
}

// Integers in registers of 32 bits have zeros above. LLVM would leave there what the instruction before happens to.
void WidenToRegisters(mlir::OpBuilder& b, mlir::Location loc, llvm::MutableArrayRef<mlir::Value> operands,
                      llvm::StringRef constraints) {
  auto* operand = operands.begin();
  for (const llvm::InlineAsm::ConstraintInfo& info : llvm::InlineAsm::ParseConstraints(constraints)) {
    if (info.Type != llvm::InlineAsm::isInput || operand == operands.end()) continue;
    mlir::Value& value = *operand++;
    const bool is_float = llvm::is_contained(info.Codes, "f");
    if (!value.getType().isInteger(16) || !(is_float || llvm::is_contained(info.Codes, "r"))) continue;
    value = LLVM::ZExtOp::create(b, loc, b.getI32Type(), value);
    if (is_float) value = LLVM::BitcastOp::create(b, loc, b.getF32Type(), value);
  }
}

}  // namespace

mlir::Value NvidiaOps::ThreadId(mlir::OpBuilder& b, mlir::Location loc) const {
  return EmitSpecialRegister(b, loc, "tid", tt::ProgramDim::kX);
}

mlir::Value NvidiaOps::ProgramId(mlir::OpBuilder& b, mlir::Location loc, tt::ProgramDim axis) const {
  return EmitSpecialRegister(b, loc, IsOfCluster(b) ? "clusterid" : "ctaid", axis);
}

mlir::Value NvidiaOps::NumPrograms(mlir::OpBuilder& b, mlir::Location loc, tt::ProgramDim axis) const {
  return EmitSpecialRegister(b, loc, IsOfCluster(b) ? "nclusterid" : "nctaid", axis);
}

bool NvidiaOps::HasClusters() const { return compute_capability_ >= nvidia::kFirstWithClusters; }

mlir::Value NvidiaOps::BlockInCluster(mlir::OpBuilder& b, mlir::Location loc) const {
  return EmitIntrinsic(b, loc, "llvm.nvvm.read.ptx.sreg.cluster.ctarank", b.getI32Type(), {});
}

// Bulk copies read what threads have stored: the fence comes before others know of it.
void NvidiaOps::ClusterBarrier(mlir::OpBuilder& b, mlir::Location loc) const {
  EmitIntrinsic(b, loc, "llvm.nvvm.fence.proxy.async.global", nullptr, {});
  EmitIntrinsic(b, loc, "llvm.nvvm.barrier.cluster.arrive.aligned", nullptr, {});
  EmitIntrinsic(b, loc, "llvm.nvvm.barrier.cluster.wait.aligned", nullptr, {});
}

void NvidiaOps::Barrier(mlir::OpBuilder& b, mlir::Location loc) const {
  EmitIntrinsic(b, loc, "llvm.nvvm.barrier.cta.sync.aligned.all", nullptr, {EmitI32(b, loc, 0)});
}

void NvidiaOps::PartBarrier(mlir::OpBuilder& b, mlir::Location loc, int number, int threads) const {
  EmitIntrinsic(b, loc, "llvm.nvvm.barrier.cta.sync.aligned.count", nullptr,
                {EmitI32(b, loc, number), EmitI32(b, loc, threads)});
}

int NvidiaOps::WarpsOfGroup() const {
  return compute_capability_ >= nvidia::kFirstWithWarpGroups ? nvidia::kWarpsOfGroup : 1;
}

void NvidiaOps::ExchangeRegisters(mlir::OpBuilder& b, mlir::Location loc, int from, int to) const {
  EmitIntrinsic(b, loc,
                to > from ? "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32" : "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32",
                nullptr, {EmitI32(b, loc, to)});
}

void NvidiaOps::WarpBarrier(mlir::OpBuilder& b, mlir::Location loc) const {
  EmitIntrinsic(b, loc, "llvm.nvvm.bar.warp.sync", nullptr, {EmitI32(b, loc, kAllLanes)});
}

mlir::Value NvidiaOps::ShuffleXor(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, int mask) const {
  return EmitIntrinsic(b, loc, "llvm.nvvm.shfl.sync.bfly.i32", b.getI32Type(),
                       {EmitI32(b, loc, kAllLanes), value, EmitI32(b, loc, mask), EmitI32(b, loc, WarpSize() - 1)});
}

mlir::Value NvidiaOps::ShuffleIndex(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, mlir::Value lane) const {
  return EmitIntrinsic(b, loc, "llvm.nvvm.shfl.sync.idx.i32", b.getI32Type(),
                       {EmitI32(b, loc, kAllLanes), value, lane, EmitI32(b, loc, WarpSize() - 1)});
}

std::optional<mlir::Value> NvidiaOps::WarpReduce(mlir::OpBuilder& b, mlir::Location loc, mlir::Operation* combiner,
                                                 mlir::Value value) const {
  if (!combiner || !value.getType().isInteger(32)) return std::nullopt;
  // "redux.sync", compute capability 8.0.
  llvm::StringRef kind = llvm::StringSwitch<llvm::StringRef>(combiner->getName().getStringRef())
                             .Case("arith.addi", "add")
                             .Case("arith.minsi", "min")
                             .Case("arith.maxsi", "max")
                             .Case("arith.minui", "umin")
                             .Case("arith.maxui", "umax")
                             .Case("arith.andi", "and")
                             .Case("arith.ori", "or")
                             .Case("arith.xori", "xor")
                             .Default("");
  if (kind.empty()) return std::nullopt;
  return EmitIntrinsic(b, loc, ("llvm.nvvm.redux.sync." + kind).str(), b.getI32Type(),
                       {value, EmitI32(b, loc, kAllLanes)});
}

void NvidiaOps::GridDependencyWait(mlir::OpBuilder& b, mlir::Location loc) const {
  if (compute_capability_ >= 90) EmitIntrinsic(b, loc, "llvm.nvvm.griddepcontrol.wait", nullptr, {});
}

void NvidiaOps::GridDependencyLaunchDependents(mlir::OpBuilder& b, mlir::Location loc) const {
  if (compute_capability_ >= 90) EmitIntrinsic(b, loc, "llvm.nvvm.griddepcontrol.launch.dependents", nullptr, {});
}

mlir::FailureOr<mlir::Value> NvidiaOps::InlineAsm(mlir::OpBuilder& b, mlir::Location loc, mlir::Type result,
                                                  mlir::ValueRange args, llvm::StringRef text,
                                                  llvm::StringRef constraints, bool has_side_effects) const {
  llvm::SmallVector<mlir::Value> operands(args);
  WidenToRegisters(b, loc, operands, constraints);
  return EmitInlineAssembly(b, loc, result, operands, text, constraints, has_side_effects);
}

}  // namespace tritond::compiler
