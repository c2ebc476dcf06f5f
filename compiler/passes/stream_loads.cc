// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/stream_loads.h"

#include "compiler/dots/loop_registers.h"
#include "compiler/encoding/conversion_cost.h"
#include "compiler/ir/dot_interface.h"
#include "compiler/ir/encodings.h"
#include "compiler/pipelining/loop_effects.h"
#include "compiler/pipelining/loop_schedule.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::scf::ForOp;

// Words that wait: more of them would cost resident blocks.
constexpr int64_t kMostWords = 32;
// The same in a recurrence, whose iterations compute for at least so many instructions for each word.
constexpr int64_t kMostRecurrenceWords = 64;
constexpr double kLeastRecurring = 8;
// Where a loop computes so many times as long as memory takes, only its warps' number counts.
constexpr int64_t kMuchLonger = 3;
// What a thread has in registers beside what a loop carries, as measured of real kernels; the most it can have.
constexpr int64_t kOtherRegisters = 56, kMostRegisters = 255;

// Whether so much of an iteration that loads so many words waits for what the one before has made.
bool Recurs(ForOp loop, int64_t words) {
  llvm::DenseSet<Value> waiting;
  int64_t registers = 2 * words + kOtherRegisters;
  for (Value argument : loop.getRegionIterArgs()) {
    auto type = llvm::dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !llvm::isa<mlir::FloatType>(type.getElementType())) continue;
    waiting.insert(argument);
    registers += RegistersOf(argument);
  }
  if (waiting.empty() || registers > kMostRegisters) return false;
  llvm::DenseSet<Operation*> others;
  for (Operation& op : loop.getBody()->without_terminator()) {
    if (llvm::any_of(UsesOf(&op), [&](Value use) { return waiting.contains(use); }))
      waiting.insert_range(op.getResults());
    else
      others.insert(&op);
  }
  return InstructionsOf(loop, others) >= kLeastRecurring * static_cast<double>(words);
}

// Whether an iteration that loads so many words issues instructions for much longer than memory needs for these.
bool Computes(ForOp loop, int64_t words, int64_t word_instructions) {
  if (word_instructions == 0) return false;
  return InstructionsOf(loop, /*but=*/{}) > static_cast<double>(kMuchLonger * words * word_instructions);
}

}  // namespace

double InstructionsOf(ForOp loop, const llvm::DenseSet<Operation*>& but) {
  double instructions = 0;
  CostModel costs;
  loop.getBody()->walk([&](Operation* op) {
    if (op->getNumResults() != 1 || but.contains(op)) return;
    auto type = llvm::dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (type) instructions += CostModel::ElementCost(op).value_or(0) * costs.Registers(type, type.getEncoding());
  });
  return instructions;
}

StreamLoads FindStreamLoads(ForOp loop, int64_t min_words, int64_t word_instructions) {
  if (min_words == 0 || !loop.getBody()->getOps<tt::DotOpInterface>().empty()) return {};
  StreamLoads streams;
  int64_t words = 0;
  bool waits = false;  // in any case
  for (tt::LoadOp load : loop.getBody()->getOps<tt::LoadOp>()) {
    if (load.getIsVolatile()) continue;
    const bool stays = !MayStartEarly(load, loop);
    waits |= stays;
    auto type = llvm::dyn_cast<RankedTensorType>(load.getType());
    if (stays || !type || !type.getElementType().isIntOrFloat()) continue;
    const int64_t elements = ttg::ToLinearLayout(type).InSize("register");
    words += (elements * type.getElementTypeBitWidth() + 31) / 32;
    streams.loads.push_back(load);
  }
  streams.recurs = words > kMostWords && words <= kMostRecurrenceWords && Recurs(loop, words);
  const bool are_many = words > kMostWords || waits;
  if (words < min_words || (are_many && !streams.recurs) || Computes(loop, words, word_instructions)) return {};
  return streams;
}

}  // namespace tritond::compiler
