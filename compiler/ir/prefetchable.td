// SPDX-License-Identifier: Apache-2.0
// Reads from global memory that a cache can be told of beforehand.
#ifndef COMPILER_IR_PREFETCHABLE_TD_
#define COMPILER_IR_PREFETCHABLE_TD_

include "mlir/IR/OpBase.td"

def TTG_PrefetchableOpInterface : OpInterface<"PrefetchableOpInterface"> {
  let cppNamespace = "::tritond::ttg";
  let description = [{
    A read from global memory. The device has an operation that brings what is read into a cache and that nothing needs
    to wait for. A target whose IR has such reads prefetches to its caches.}];
  let methods = [InterfaceMethod<[{
      Emits that operation for what this one would read with the operands that `mapping` has in place of its own. Where
      `exists` (i1, null: always) is false nothing is brought. The result is the token of the operation in flight.}],
      "::mlir::Value", "EmitPrefetch",
      (ins "::mlir::OpBuilder &":$b, "const ::mlir::IRMapping &":$mapping, "::mlir::Value":$exists)>];
}

#endif  // COMPILER_IR_PREFETCHABLE_TD_
