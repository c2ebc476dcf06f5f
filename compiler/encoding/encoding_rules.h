// SPDX-License-Identifier: Apache-2.0
// How an operation ties the encodings of its operands and results: what layout assignment may change, and what follows.
#ifndef COMPILER_ENCODING_ENCODING_RULES_H_
#define COMPILER_ENCODING_ENCODING_RULES_H_

#include "mlir/IR/Operation.h"

namespace tritond::compiler {

enum class EncodingRule {
  kFixed,    // operands and results keep the encodings they have: wide accesses, dots, calls, what is unknown
  kTied,     // the result's encoding follows from the operands', and the reverse; all results have one
  kUniform,  // takes operands in any one encoding; results, if tensors, are free
  kAny,      // takes each operand in any encoding; has no tensor results
  kFree,     // no tensor operands; the result can be made under any encoding
};

EncodingRule EncodingRuleOf(mlir::Operation* op);

// Under a tied or uniform operation: the operand may have any encoding all the same (the table of a gather).
bool TakesAnyEncoding(mlir::OpOperand& operand);

// For a tied operation: the encoding that `operand` under `encoding` gives the results, and the one that `operand` must
// have for results under `encoding`. Null if there is none.
mlir::Attribute TiedResultEncoding(mlir::OpOperand& operand, mlir::Attribute encoding);
mlir::Attribute TiedOperandEncoding(mlir::OpOperand& operand, mlir::Attribute encoding);

// Under `encoding`, lanes may hold copies of what a broadcast or a join takes. This is an encoding under which these
// lanes share what is made of it: the elements of a broadcast along the new dimensions, where the operand's elements
// are where they were, or the pairs of a join, of which each takes its part. `encoding` itself where no lane is free or
// it belongs to a matrix unit.
mlir::Attribute SharedEncoding(mlir::Operation* op, mlir::Attribute encoding);

// For a tied operation: results under `result` come from `operand` under `encoding`, in the eyes of the verifier and of
// lowering.
bool AreTied(mlir::OpOperand& operand, mlir::Attribute encoding, mlir::Attribute result);

// A load or store with at least one element a thread: its encoding was chosen for memory and is worth keeping.
bool IsWideAccess(mlir::Operation* op);

// Loops around `block`, within its function.
int LoopDepth(mlir::Block* block);

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_ENCODING_RULES_H_
