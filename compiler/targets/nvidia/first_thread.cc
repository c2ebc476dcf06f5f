// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/first_thread.h"

namespace tritond::compiler::nvidia {

mlir::Value IsFirstThread(FunctionLowering& f, mlir::Value predicate) {
  mlir::Value lane = f.Lane(), warp = f.Warp();
  mlir::Value first = f.e.Hoisted([&] { return f.e.Equal(f.e.Or(lane, warp), f.e.Int(0)); });
  return predicate ? f.e.And(first, predicate) : first;
}

std::string AddSharedAddress(FunctionLowering& f, PtxBuilder& ptx, mlir::Value buffer, mlir::Value bytes) {
  mlir::Value base = f.Get(buffer)[0];
  if (bytes) base = f.e.Gep(base, f.e.b.getI8Type(), bytes);
  return "[" + ptx.AddInput(mlir::LLVM::PtrToIntOp::create(f.e.b, f.e.loc, f.e.b.getI32Type(), base)) + "]";
}

}  // namespace tritond::compiler::nvidia
