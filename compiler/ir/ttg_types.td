// SPDX-License-Identifier: Apache-2.0
// The ttg dialect (TritonGPU IR): tensors carry an encoding that says which thread holds which element.
#ifndef COMPILER_IR_TTG_TYPES_TD_
#define COMPILER_IR_TTG_TYPES_TD_

include "compiler/ir/tt_types.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"

def TTG_Dialect : Dialect {
  let name = "ttg";
  let cppNamespace = "::tritond::ttg";
  let summary = "Triton GPU IR: Triton IR with the placement of every element";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::tritond::tt::TTDialect"];
}

//===-- Encodings -------------------------------------------------------------------------------------------------===//

def TTG_DistributedEncoding : AttrInterface<"DistributedEncoding"> {
  let cppNamespace = "::tritond::ttg";
  let description = "Places the elements of a tensor in the registers of threads.";
  let methods = [
    InterfaceMethod<[{
      The layout for a tensor of `shape`: (register, lane, warp, block) -> (dim0, dim1, …), sizes powers of two.
      Surjective onto the shape; a zero basis marks copies.}],
      "::tritond::compiler::LinearLayout", "ToLinearLayout", (ins "::llvm::ArrayRef<int64_t>":$shape)>,
    InterfaceMethod<"Number of tensor dimensions.", "unsigned", "Rank">];
}
def TTG_MatrixEncoding : AttrInterface<"MatrixEncoding"> {
  let cppNamespace = "::tritond::ttg";
  let description = "The result of matrix instructions: how their unit wants its operands.";
  let methods = [
    InterfaceMethod<[{
      The encoding of a buffer in shared memory that holds an operand of `type` with its elements in `order`, fastest
      dimension first, and from which the unit reads it by itself; dimension `k` is the one that is summed over. Null
      where it takes such operands from registers alone.}],
      "::mlir::Attribute", "OperandBuffer", (ins "::mlir::RankedTensorType":$type, "::llvm::ArrayRef<unsigned>":$order,
      "unsigned":$k)>,
    InterfaceMethod<[{
      Whether the unit adds the products of elements `operand` to elements `result` where these are. Otherwise threads
      round its accumulators, in 32 bits, to them.}],
      "bool", "AddsToResult", (ins "::mlir::Type":$operand, "::mlir::Type":$result)>];
}
def TTG_SharedEncoding : AttrInterface<"SharedEncoding"> {
  let cppNamespace = "::tritond::ttg";
  let description = "Places the elements of a tensor in shared memory.";
  let methods = [
    InterfaceMethod<"The layout for `shape`: (offset in elements, block) -> (dim0, dim1, …).",
      "::tritond::compiler::LinearLayout", "ToLinearLayout", (ins "::llvm::ArrayRef<int64_t>":$shape)>,
    InterfaceMethod<"Number of tensor dimensions.", "unsigned", "Rank">];
}

def TTG_SharedMemorySpace : AttrDef<TTG_Dialect, "SharedMemorySpace"> {
  let mnemonic = "shared_memory";
  let summary = "memory shared by the threads of a block";
}

//===-- Types -----------------------------------------------------------------------------------------------------===//

def TTG_AsyncTokenType : TypeDef<TTG_Dialect, "AsyncToken"> {
  let mnemonic = "async.token";
  let summary = "an asynchronous copy in flight";
}
def TTG_MemDescType : TypeDef<TTG_Dialect, "MemDesc"> {
  let mnemonic = "memdesc";
  let summary = "a tensor, or a part of one, in shared memory";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, "::mlir::Attribute":$encoding,
      "::mlir::Attribute":$memorySpace, "bool":$mutableMemory, ArrayRefParameter<"int64_t">:$allocShape);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif  // COMPILER_IR_TTG_TYPES_TD_
