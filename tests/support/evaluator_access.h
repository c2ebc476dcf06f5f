// SPDX-License-Identifier: Apache-2.0
// How the evaluator reads and writes memory, for evaluate_memory.cc and evaluate_blocks.cc alone. All functions fail
// the evaluation where the access is wrong.
#ifndef TESTS_SUPPORT_EVALUATOR_ACCESS_H_
#define TESTS_SUPPORT_EVALUATOR_ACCESS_H_

#include "compiler/ir/tt_dialect.h"
#include "tests/support/evaluation.h"

namespace tritond::tests {

bool IsBlockPointer(mlir::Type type);
// Of an element in memory; i1 takes one.
int BytesOf(mlir::Type element);

Element LoadElement(Evaluation& e, mlir::Operation* op, Element address, mlir::Type element);
void StoreElement(Evaluation& e, mlir::Operation* op, Element address, mlir::Type element, Element value);

// What an atomic operation leaves in memory. Neither operand is poison.
Element Combine(tt::RmwOp kind, Element before, Element value, mlir::Type element);

Data LoadThroughBlockPointer(Evaluation& e, tt::LoadOp op, const Datum& ptr);
void StoreThroughBlockPointer(Evaluation& e, tt::StoreOp op, const Datum& ptr, const Datum& value);

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_EVALUATOR_ACCESS_H_
