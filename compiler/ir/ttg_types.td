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
def TTG_SharedEncoding : AttrInterface<"SharedEncoding"> {
  let cppNamespace = "::tritond::ttg";
  let description = "Places the elements of a tensor in shared memory.";
  let methods = [
    InterfaceMethod<"The layout for `shape`: (offset in elements, block) -> (dim0, dim1, …).",
      "::tritond::compiler::LinearLayout", "ToLinearLayout", (ins "::llvm::ArrayRef<int64_t>":$shape)>,
    InterfaceMethod<"Number of tensor dimensions.", "unsigned", "Rank">];
}

class TTG_Encoding<string name, string keyword, list<Trait> traits> : AttrDef<TTG_Dialect, name, traits> {
  let mnemonic = keyword;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

// An encoding of tensors: its rank is the tensor's.
class TTG_TensorEncoding<string name, string keyword> : TTG_Encoding<name, keyword,
    [DeclareAttrInterfaceMethods<TTG_DistributedEncoding>, DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]>;

def TTG_BlockedEncoding : TTG_TensorEncoding<"BlockedEncoding", "blocked"> {
  let summary = "tiles of sizePerThread x threadsPerWarp x warpsPerCTA, repeated over the tensor";
  let description = "`order` lists the dimensions from the fastest-varying.";
  let parameters = (ins ArrayRefParameter<"unsigned">:$sizePerThread, ArrayRefParameter<"unsigned">:$threadsPerWarp,
      ArrayRefParameter<"unsigned">:$warpsPerCTA, ArrayRefParameter<"unsigned">:$order);
  let extraClassDeclaration = [{
    // Lanes, then warps, spread greedily over `shape` from the fastest dimension of `order`.
    static BlockedEncodingAttr ForShape(::mlir::MLIRContext* context, ::llvm::ArrayRef<int64_t> shape,
        ::llvm::ArrayRef<unsigned> size_per_thread, ::llvm::ArrayRef<unsigned> order, unsigned num_warps,
        unsigned threads_per_warp);
  }];
}
def TTG_SliceEncoding : TTG_TensorEncoding<"SliceEncoding", "slice"> {
  let summary = "the parent's placement with dimension `dim` dropped";
  let parameters = (ins "unsigned":$dim, "DistributedEncoding":$parent);
  let extraClassDeclaration = [{
    // `shape` with a dimension of size one at `dim`: the parent's shape.
    ::llvm::SmallVector<int64_t> PaddedShape(::llvm::ArrayRef<int64_t> shape);
  }];
}
def TTG_DotOperandEncoding : TTG_TensorEncoding<"DotOperandEncoding", "dot_op"> {
  let summary = "operand a (opIdx 0) or b (opIdx 1) of a dot whose result has the encoding `parent`";
  let parameters = (ins "unsigned":$opIdx, "DistributedEncoding":$parent, DefaultValuedParameter<"unsigned", "0">:$kWidth);
}
def TTG_NvidiaMmaEncoding : TTG_TensorEncoding<"NvidiaMmaEncoding", "nvidia_mma"> {
  let summary = "the result of matrix instructions of NVIDIA GPUs: mma.sync (version 2)";
  let description = [{
    Tiles of `instrShape`, each held by a warp as the PTX ISA says, by `warpsPerCTA` warps (numbered from the last
    dimension), repeated over the tensor. Rank 3 is a batch of matrices.}];
  let parameters = (ins "unsigned":$versionMajor, "unsigned":$versionMinor, ArrayRefParameter<"unsigned">:$warpsPerCTA,
      ArrayRefParameter<"unsigned">:$instrShape);
}
def TTG_LinearEncoding : TTG_TensorEncoding<"LinearEncoding", "linear"> {
  let summary = "any linear layout, given by its bases";
  let parameters = (ins "::tritond::compiler::LinearLayout":$layout);
}
def TTG_SwizzledSharedEncoding : TTG_Encoding<"SwizzledSharedEncoding", "swizzled_shared",
    [DeclareAttrInterfaceMethods<TTG_SharedEncoding>]> {
  let summary = "row-major in `order`, groups of `vec` elements swizzled by the row";
  let description = "Group g of row r stands at group g xor ((r / perPhase) mod maxPhase).";
  let parameters = (ins "unsigned":$vec, "unsigned":$perPhase, "unsigned":$maxPhase,
                        ArrayRefParameter<"unsigned">:$order);
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
