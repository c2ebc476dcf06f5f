// SPDX-License-Identifier: Apache-2.0
#include "tests/support/evaluation.h"

#include "absl/strings/str_cat.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

namespace tritond::tests {

using mlir::Operation;

void Evaluation::Fail(Operation* op, const llvm::Twine& message) {
  if (failed()) return;
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << message << "\n  in ";
  op->print(stream, mlir::OpPrintingFlags().skipRegions());
  stream << "\n  at " << op->getLoc() << ", program " << program_[0] << ", " << program_[1] << ", " << program_[2];
  status_ = absl::InvalidArgumentError(text);
}

uint64_t Evaluation::Steering(Operation* op, const Datum& scalar) {
  if (scalar.elements[0].poison) Fail(op, "an undefined value steers the program");
  return scalar.elements[0].bits;
}

void Evaluation::Bind(mlir::Value value, Datum datum) { (*frame_)[value.getAsOpaquePointer()] = std::move(datum); }

Data Evaluation::RunOperation(Operation* op) {
  auto handler = handlers_.find(op->getName().getStringRef());
  if (handler == handlers_.end()) {
    Fail(op, "the evaluator does not know this operation");
    return {};
  }
  llvm::SmallVector<const Datum*, 4> operands;
  for (mlir::Value operand : op->getOperands()) operands.push_back(&Get(operand));
  Data results = handler->second(*this, op, operands);
  if (!failed() && results.size() != op->getNumResults())
    Fail(op, llvm::Twine("the evaluator gave ") + llvm::Twine(results.size()) + " results");
  return results;
}

mlir::Block* Evaluation::Branch(Operation* terminator) {
  mlir::Block* target = nullptr;
  mlir::ValueRange operands;
  if (auto branch = llvm::dyn_cast<mlir::cf::BranchOp>(terminator)) {
    target = branch.getDest();
    operands = branch.getDestOperands();
  } else if (auto branch = llvm::dyn_cast<mlir::cf::CondBranchOp>(terminator)) {
    bool taken = Steering(terminator, Get(branch.getCondition()));
    target = taken ? branch.getTrueDest() : branch.getFalseDest();
    operands = taken ? branch.getTrueDestOperands() : branch.getFalseDestOperands();
  } else if (terminator->getNumSuccessors()) {
    Fail(terminator, "the evaluator does not know this branch");
  }
  if (!target) return nullptr;
  Data values;
  for (mlir::Value operand : operands) values.push_back(Get(operand));
  for (auto [argument, value] : llvm::zip(target->getArguments(), values)) Bind(argument, std::move(value));
  return target;
}

Data Evaluation::RunRegion(mlir::Region& region, Data arguments, Operation** terminator) {
  mlir::Block* block = &region.front();
  for (auto [argument, value] : llvm::zip(block->getArguments(), arguments)) Bind(argument, std::move(value));
  while (block) {
    mlir::Block* next = nullptr;
    for (Operation& op : *block) {
      if (--steps_left_ < 0) Fail(&op, "the program takes too many steps");
      if (failed()) return {};
      if (op.hasTrait<mlir::OpTrait::IsTerminator>()) {
        if ((next = Branch(&op))) break;
        if (terminator) *terminator = &op;
        Data results;
        for (mlir::Value operand : op.getOperands()) results.push_back(Get(operand));
        return results;
      }
      Data results = RunOperation(&op);
      if (failed()) return {};
      for (auto [value, datum] : llvm::zip(op.getResults(), results)) Bind(value, std::move(datum));
    }
    block = next;
  }
  return {};
}

Data Evaluation::RunFunction(mlir::Region& body, Data arguments) {
  Frame frame;
  Frame* caller = std::exchange(frame_, &frame);
  Data results = RunRegion(body, std::move(arguments));
  frame_ = caller;
  return results;
}

Handler Elementwise(ElementFn fn) {
  return [fn = std::move(fn)](Evaluation&, Operation* op, Operands operands) -> Data {
    return {MakeDatum(op->getResult(0).getType(), [&](int64_t i) {
      llvm::SmallVector<Element, 3> x;
      for (const Datum* operand : operands) {
        x.push_back(operand->elements[i]);
        if (x.back().poison) return Element::Poison();
      }
      return fn(op, x);
    })};
  };
}

}  // namespace tritond::tests
