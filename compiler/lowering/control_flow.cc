// SPDX-License-Identifier: Apache-2.0
// Branches, calls and returns: every tensor operand becomes one operand a register.
#include "compiler/analysis/global_scratch.h"
#include "compiler/lowering/function_lowering.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

namespace tritond::compiler {
namespace {

using mlir::LogicalResult;
using mlir::Value;
namespace LLVM = mlir::LLVM;

Values Expand(FunctionLowering& f, mlir::ValueRange values) {
  Values result;
  for (Value value : values) {
    ValueList list = f.Get(value);
    result.append(list.begin(), list.end());
  }
  return result;
}

// What the program says of a loop, as that its invariants stay, is said of the branch back.
template <typename Branch>
void KeepAnnotation(mlir::Operation* from, Branch to) {
  if (auto annotation = from->getAttrOfType<LLVM::LoopAnnotationAttr>("llvm.loop_annotation"))
    to.setLoopAnnotationAttr(annotation);
}

LogicalResult LowerBranch(FunctionLowering& f, mlir::cf::BranchOp op) {
  KeepAnnotation(op, LLVM::BrOp::create(f.e.b, op.getLoc(), Expand(f, op.getDestOperands()), f.BlockFor(op.getDest())));
  return mlir::success();
}

LogicalResult LowerCondBranch(FunctionLowering& f, mlir::cf::CondBranchOp op) {
  KeepAnnotation(op, LLVM::CondBrOp::create(f.e.b, op.getLoc(), f.Scalar(op.getCondition()),
                                            f.BlockFor(op.getTrueDest()), Expand(f, op.getTrueDestOperands()),
                                            f.BlockFor(op.getFalseDest()), Expand(f, op.getFalseDestOperands())));
  return mlir::success();
}

LogicalResult LowerSwitch(FunctionLowering& f, mlir::cf::SwitchOp op) {
  Emitter& e = f.e;
  llvm::SmallVector<Values> lists;
  llvm::SmallVector<mlir::ValueRange> operands;
  llvm::SmallVector<mlir::Block*> blocks;
  for (mlir::Block* block : op.getCaseDestinations()) blocks.push_back(f.BlockFor(block));
  for (size_t i = 0; i < blocks.size(); ++i) lists.push_back(Expand(f, op.getCaseOperands(i)));
  for (const Values& list : lists) operands.push_back(list);
  LLVM::SwitchOp::create(e.b, e.loc, f.Scalar(op.getFlag()), f.BlockFor(op.getDefaultDestination()),
                         Expand(f, op.getDefaultOperands()), op.getCaseValues().value_or(nullptr), blocks, operands);
  return mlir::success();
}

LogicalResult LowerUnreachable(FunctionLowering& f, mlir::ub::UnreachableOp op) {
  LLVM::UnreachableOp::create(f.e.b, op.getLoc());
  return mlir::success();
}

LogicalResult LowerReturn(FunctionLowering& f, tt::ReturnOp op) {
  Emitter& e = f.e;
  f.DismissPartitions();
  Values values = Expand(f, op.getSrcs());
  if (values.size() > 1) {
    llvm::SmallVector<mlir::Type> types;
    for (Value value : values) types.push_back(value.getType());
    Value all = LLVM::UndefOp::create(e.b, e.loc, LLVM::LLVMStructType::getLiteral(op.getContext(), types));
    for (auto [i, value] : llvm::enumerate(values))
      all = LLVM::InsertValueOp::create(e.b, e.loc, all, value, static_cast<int64_t>(i));
    values = {all};
  }
  LLVM::ReturnOp::create(e.b, e.loc, values);
  return mlir::success();
}

LogicalResult LowerCall(FunctionLowering& f, tt::CallOp op) {
  Emitter& e = f.e;
  Values arguments = Expand(f, op.getOperands());
  // A device function takes the shared memory after its caller's, and both scratch pointers.
  auto global = LLVM::LLVMPointerType::get(op.getContext(), 1);
  auto hidden = f.HiddenArguments();
  bool from_device_function = !hidden.empty() && hidden[0].getType() != global;
  // A callee that uses no shared memory was given no place in it.
  bool uses_shared = op->hasAttr("allocation.offset");
  auto shared = LLVM::LLVMPointerType::get(op.getContext(), 3);
  arguments.push_back(uses_shared ? f.ScratchOf(op) : e.Zero(shared));
  auto pointers = from_device_function ? hidden.drop_front() : hidden;
  size_t next = 0;
  for (bool given :
       {from_device_function || f.options.global_scratch, from_device_function || f.options.profile_scratch})
    arguments.push_back(given ? pointers[next++] : e.Zero(global));
  if (op->hasAttr(kGlobalScratchOffsetAttr)) {
    mlir::FailureOr<Value> frame = f.GlobalScratchOf(op);
    if (failed(frame)) return mlir::failure();
    arguments[arguments.size() - 2] = *frame;
  }
  llvm::SmallVector<mlir::Type> results = f.ConvertTypes(op.getResultTypes());
  mlir::TypeRange type = results;
  llvm::SmallVector<mlir::Type, 1> packed;
  if (results.size() > 1) {
    packed.push_back(LLVM::LLVMStructType::getLiteral(op.getContext(), results));
    type = packed;
  }
  auto call = LLVM::CallOp::create(e.b, e.loc, type, op.getCallee(), arguments);
  size_t at = 0;
  for (Value result : op.getResults()) {
    Values values;
    for (size_t i = f.ConvertTypes(result.getType()).size(); i > 0; --i, ++at)
      values.push_back(results.size() == 1 ? Value(call.getResult())
                                           : LLVM::ExtractValueOp::create(e.b, e.loc, call.getResult(), at));
    f.Set(result, values);
  }
  return mlir::success();
}

}  // namespace

void AddControlFlow(LoweringTable& table) {
  table.Add<mlir::cf::BranchOp>(LowerBranch);
  table.Add<mlir::cf::CondBranchOp>(LowerCondBranch);
  table.Add<mlir::cf::SwitchOp>(LowerSwitch);
  table.Add<mlir::ub::UnreachableOp>(LowerUnreachable);
  table.Add<tt::ReturnOp>(LowerReturn);
  table.Add<tt::CallOp>(LowerCall);
}

}  // namespace tritond::compiler
