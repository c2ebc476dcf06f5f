// SPDX-License-Identifier: Apache-2.0
// Sets of allocations flow along operands until nothing changes. Functions without buffers, which most are, cost one
// walk.
#include "compiler/analysis/alias.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::Value;

bool IsBuffer(Value value) { return llvm::isa<ttg::MemDescType>(value.getType()); }

bool TouchesBuffers(Operation* op) {
  if (llvm::any_of(op->getOperands(), IsBuffer) || llvm::any_of(op->getResults(), IsBuffer)) return true;
  return llvm::isa<mlir::RegionBranchOpInterface>(op);
}

}  // namespace

BufferAliases::BufferAliases(mlir::FunctionOpInterface function) {
  llvm::SmallVector<Operation*> carriers;
  function->walk<mlir::WalkOrder::PreOrder>([&](Operation* op) {
    if (auto allocation = llvm::dyn_cast<ttg::LocalAllocOp>(op)) {
      allocations_.push_back(allocation);
      owners_[allocation.getResult()] = {op};
      order_.push_back(allocation.getResult());
    } else if (TouchesBuffers(op)) {
      carriers.push_back(op);
    }
  });
  if (allocations_.empty()) return;
  while (FlowThroughAll(carriers)) {
  }
}

llvm::ArrayRef<Operation*> BufferAliases::Of(Value buffer) const {
  auto found = owners_.find(buffer);
  return found == owners_.end() ? llvm::ArrayRef<Operation*>() : llvm::ArrayRef<Operation*>(found->second);
}

llvm::SmallVector<Value> BufferAliases::Views(ttg::LocalAllocOp allocation) const {
  llvm::SmallVector<Value> views;
  for (Value value : order_) {
    if (llvm::is_contained(owners_.find(value)->second, allocation.getOperation())) views.push_back(value);
  }
  return views;
}

bool BufferAliases::Flow(Value from, Value to) {
  if (!IsBuffer(to)) return false;
  auto source = owners_.find(from);
  if (source == owners_.end()) return false;
  Owners owners = source->second;
  auto [target, added] = owners_.try_emplace(to);
  if (added) order_.push_back(to);
  size_t before = target->second.size();
  for (Operation* owner : owners) {
    if (!llvm::is_contained(target->second, owner)) target->second.push_back(owner);
  }
  return target->second.size() != before;
}

bool BufferAliases::FlowThroughAll(llvm::ArrayRef<Operation*> carriers) {
  bool news = false;
  for (Operation* op : carriers) {
    if (llvm::isa<mlir::RegionBranchOpInterface>(op)) {
      news |= FlowThroughRegions(op);
    } else if (auto start = llvm::dyn_cast<ttg::StartPartitionsOp>(op)) {
      for (mlir::Region& region : start.getPartitionRegions())
        for (auto [capture, argument] : llvm::zip(start.getCaptures(), region.getArguments()))
          news |= Flow(capture, argument);
    } else if (llvm::isa<mlir::BranchOpInterface>(op)) {
      news |= FlowThroughBranch(op);
    } else {
      for (Value operand : op->getOperands()) {
        for (Value result : op->getResults()) news |= Flow(operand, result);
      }
    }
  }
  return news;
}

bool BufferAliases::FlowThroughBranch(Operation* op) {
  bool news = false;
  auto branch = llvm::cast<mlir::BranchOpInterface>(op);
  for (unsigned i = 0; i < op->getNumSuccessors(); ++i) {
    mlir::SuccessorOperands operands = branch.getSuccessorOperands(i);
    for (unsigned k = 0; k < operands.size(); ++k) {
      if (operands[k]) news |= Flow(operands[k], op->getSuccessor(i)->getArgument(k));
    }
  }
  return news;
}

bool BufferAliases::FlowThroughRegions(Operation* op) {
  bool news = false;
  auto branch = llvm::cast<mlir::RegionBranchOpInterface>(op);
  llvm::SmallVector<mlir::RegionSuccessor, 2> successors;
  branch.getSuccessorRegions(mlir::RegionBranchPoint::parent(), successors);
  for (mlir::RegionSuccessor& to : successors) {
    for (auto [operand, input] : llvm::zip(branch.getEntrySuccessorOperands(to), to.getSuccessorInputs())) {
      news |= Flow(operand, input);
    }
  }
  for (mlir::Region& region : op->getRegions()) {
    successors.clear();
    branch.getSuccessorRegions(region, successors);
    for (mlir::Block& block : region) {
      auto terminator = llvm::dyn_cast<mlir::RegionBranchTerminatorOpInterface>(block.getTerminator());
      for (mlir::RegionSuccessor& to : successors) {
        if (!terminator) continue;
        for (auto [operand, input] : llvm::zip(terminator.getSuccessorOperands(to), to.getSuccessorInputs())) {
          news |= Flow(operand, input);
        }
      }
    }
  }
  return news;
}

}  // namespace tritond::compiler
