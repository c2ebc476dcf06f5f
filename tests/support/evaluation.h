// SPDX-License-Identifier: Apache-2.0
// One program of a launch while it is evaluated, as the families of operations see it. For ttir_evaluator.cc and the
// evaluate_*.cc alone.
#ifndef TESTS_SUPPORT_EVALUATION_H_
#define TESTS_SUPPORT_EVALUATION_H_

#include <array>
#include <functional>
#include <unordered_map>

#include "absl/status/status.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Region.h"
#include "tests/support/evaluator_memory.h"
#include "tests/support/evaluator_value.h"

namespace tritond::tests {

class Evaluation;

using Operands = llvm::ArrayRef<const Datum*>;
// The results of an operation. A handler that cannot give them calls Fail and returns whatever it likes.
using Handler = std::function<Data(Evaluation&, mlir::Operation*, Operands)>;
using HandlerTable = llvm::StringMap<Handler>;

class Evaluation {
 public:
  Evaluation(const HandlerTable& handlers, EvaluatorMemory& memory, std::array<uint32_t, 3> grid,
             std::array<uint32_t, 3> program)
      : handlers_(handlers), memory_(memory), grid_(grid), program_(program) {}

  EvaluatorMemory& memory() { return memory_; }
  uint32_t grid(int axis) const { return grid_[axis]; }
  uint32_t program(int axis) const { return program_[axis]; }

  // Runs the region from its first block and returns the operands of the terminator that left it, stored in
  // `terminator` when given. Values of the regions around stay visible.
  Data RunRegion(mlir::Region& region, Data arguments, mlir::Operation** terminator = nullptr);
  // As RunRegion for the body of a function: sees no values but its own.
  Data RunFunction(mlir::Region& body, Data arguments);

  // The first failure ends the evaluation.
  void Fail(mlir::Operation* op, const llvm::Twine& message);
  bool failed() const { return !status_.ok(); }
  const absl::Status& status() const { return status_; }

  // The bits of a scalar that steers the program. Fails where it is poison.
  uint64_t Steering(mlir::Operation* op, const Datum& scalar);

 private:
  using Frame = std::unordered_map<void*, Datum>;

  Data RunOperation(mlir::Operation* op);
  // The block that a branch goes to, after its arguments are set; null for other terminators.
  mlir::Block* Branch(mlir::Operation* terminator);
  void Bind(mlir::Value value, Datum datum);
  const Datum& Get(mlir::Value value) const { return frame_->at(value.getAsOpaquePointer()); }

  const HandlerTable& handlers_;
  EvaluatorMemory& memory_;
  std::array<uint32_t, 3> grid_, program_;
  Frame* frame_ = nullptr;
  absl::Status status_;
  int64_t steps_left_ = 20'000'000;
};

// A value of `type` with elements of fn(i).
template <typename Fn>
Datum MakeDatum(mlir::Type type, Fn fn) {
  Datum result{type, {}};
  int64_t count = CountOf(type);
  result.elements.reserve(count);
  for (int64_t i = 0; i < count; ++i) result.elements.push_back(fn(i));
  return result;
}

// An operation that acts on each element alone: fn(operation, element of each operand); poison gives poison.
using ElementFn = std::function<Element(mlir::Operation*, llvm::ArrayRef<Element>)>;
Handler Elementwise(ElementFn fn);

// Each family adds the operations that it knows.
void AddArithmetic(HandlerTable& table);     // evaluate_arithmetic.cc
void AddCasts(HandlerTable& table);          // evaluate_casts.cc
void AddMathFunctions(HandlerTable& table);  // evaluate_math.cc
void AddShapes(HandlerTable& table);         // evaluate_shapes.cc
void AddMemory(HandlerTable& table);         // evaluate_memory.cc
void AddBlocks(HandlerTable& table);         // evaluate_blocks.cc
void AddRegions(HandlerTable& table);        // evaluate_regions.cc
void AddDots(HandlerTable& table);           // evaluate_dots.cc

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_EVALUATION_H_
