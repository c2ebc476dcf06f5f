// SPDX-License-Identifier: Apache-2.0
// Moves between the lanes of a warp whose sources are known when a kernel is compiled.
#ifndef COMPILER_LOWERING_LANE_MAPS_H_
#define COMPILER_LOWERING_LANE_MAPS_H_

#include <vector>

#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler {

// For each lane of a warp the lane from which it takes a value, or kAnyLane.
using LaneMap = std::vector<int>;

LaneMap MapLanes(const TargetOps& target, llvm::function_ref<int(int)> source);

// Whether a region of scalars takes any values: lanes that do not matter combine what they happen to get.
bool CombinesAnything(mlir::Region& region);

// The value, of any type, of the lane that `map` names. Where the target has no moves for that, `other` moves an i32.
mlir::Value MoveLanes(FunctionLowering& f, mlir::Value value, llvm::ArrayRef<int> map,
                      llvm::function_ref<mlir::Value(mlir::Value)> other);

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_LANE_MAPS_H_
