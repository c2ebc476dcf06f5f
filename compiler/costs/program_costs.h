// SPDX-License-Identifier: Apache-2.0
// What one program of a kernel asks of the multiprocessor that runs it, counted in its TTGIR.
#ifndef COMPILER_COSTS_PROGRAM_COSTS_H_
#define COMPILER_COSTS_PROGRAM_COSTS_H_

#include "compiler/ir/tt_dialect.h"
#include "compiler/targets/target_info.h"
#include "llvm/ADT/MapVector.h"

namespace tritond::compiler {

struct ProgramCosts {
  double issue_slots = 0;    // of warps, as CostModel counts instructions
  double products = 0;       // multiply-adds of dots
  double matrix_cycles = 0;  // of the matrix unit, for dots whose instruction has a known rate
  double shared_bytes = 0;   // between shared memory and registers, caches or the matrix unit
  double global_bytes = 0;   // between global memory and the multiprocessor, in whole sectors
  double waits = 0;          // for global memory, one after the other
  int unknown_loops = 0;     // whose iterations are not known: counted once
  int unknown_dots = 0;      // whose instruction has no known rate
  // Bytes by the kernel's argument that the address comes from; null: not known.
  llvm::MapVector<mlir::Value, double> bytes_by_argument;

  // This plus `factor` times `other`.
  void Add(const ProgramCosts& other, double factor);
};

// Of a function in TTGIR. Loops count as often as they run, where their bounds are constants; of an scf.if each branch
// counts half. A function that it calls counts as one instruction, and so does an operation that is not known.
ProgramCosts CostsOf(tt::FuncOp function, const TargetInfo& info);

// Gives the scalar arguments of a kernel and its program's indices constant values, as far as they are known. Then
// folds what follows from them, above all the trip counts of loops. `values` has one for each argument; of a pointer it
// is not looked at. Fails if folding does.
mlir::LogicalResult FixLaunch(tt::FuncOp function, llvm::ArrayRef<int64_t> values, llvm::ArrayRef<int64_t> program);

}  // namespace tritond::compiler

#endif  // COMPILER_COSTS_PROGRAM_COSTS_H_
