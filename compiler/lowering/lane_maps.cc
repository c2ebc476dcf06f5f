// SPDX-License-Identifier: Apache-2.0
#include "compiler/lowering/lane_maps.h"

#include "compiler/lowering/target_ops.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritond::compiler {

using mlir::Value;

LaneMap MapLanes(const TargetOps& target, llvm::function_ref<int(int)> source) {
  LaneMap map;
  for (int lane = 0; lane < target.WarpSize(); ++lane) map.push_back(source(lane));
  return map;
}

bool CombinesAnything(mlir::Region& region) {
  return region.hasOneBlock() && llvm::all_of(region.front().without_terminator(),
                                              [](mlir::Operation& op) { return mlir::isSpeculatable(&op); });
}

Value MoveLanes(FunctionLowering& f, Value value, llvm::ArrayRef<int> map, llvm::function_ref<Value(Value)> other) {
  return f.Shuffle(value, [&](Value word) {
    Value moved = f.target.MoveLanes(f.e.b, f.e.loc, word, map);
    return moved ? moved : other(word);
  });
}

}  // namespace tritond::compiler
