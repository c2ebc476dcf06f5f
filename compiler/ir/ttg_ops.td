// SPDX-License-Identifier: Apache-2.0
// The operations of the ttg dialect.
include "compiler/ir/ttg_types.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class TTG_Op<string mnemonic, list<Trait> traits = []> : Op<TTG_Dialect, mnemonic, traits>;
def TTG_SameShape : NativeOpTrait<"SameTensorShape"> { let cppNamespace = "::tritond::tt"; }

def TTG_ConvertLayoutOp : TTG_Op<"convert_layout", [Pure, TTG_SameShape]> {
  let summary = "the same tensor under another encoding";
  let arguments = (ins TT_Tensor:$src, UnitAttr:$force_warp_shuffle);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}
def TTG_BarrierOp : TTG_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads of the block wait; memory of the named address spaces is then visible to all";
  let description = "`all`, or a list joined by `|` of local, global_read, global_write, tensor_read, tensor_write.";
  let arguments = (ins StrAttr:$addr_space);
  let hasCustomAssemblyFormat = 1;
}
def TTG_LocalAllocOp : TTG_Op<"local_alloc", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a buffer in shared memory, filled with `src` if given";
  let arguments = (ins Optional<TT_Tensor>:$src, OptionalAttr<I32Attr>:$alignment);
  let results = (outs TTG_MemDescType:$result);
  let assemblyFormat = "($src^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def TTG_LocalDeallocOp : TTG_Op<"local_dealloc", [MemoryEffects<[MemFree]>]> {
  let summary = "ends the life of a buffer";
  let arguments = (ins TTG_MemDescType:$src);
  let assemblyFormat = "$src attr-dict `:` qualified(type($src))";
}
def TTG_LocalLoadOp : TTG_Op<"local_load", [MemoryEffects<[MemRead]>]> {
  let summary = "reads a buffer into registers";
  let arguments = (ins TTG_MemDescType:$src, Optional<TTG_AsyncTokenType>:$token);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src (`token` $token^)? attr-dict `:` qualified(type($src)) `->` type($result)";
  let hasVerifier = 1;
}
def TTG_LocalStoreOp : TTG_Op<"local_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes registers to a buffer";
  let arguments = (ins TT_Tensor:$src, TTG_MemDescType:$dst);
  let assemblyFormat = "$src `,` $dst attr-dict `:` type($src) `->` qualified(type($dst))";
  let hasVerifier = 1;
}
def TTG_MemDescIndexOp : TTG_Op<"memdesc_index", [Pure]> {
  let summary = "buffer number `index` of a row of equal buffers: the first dimension taken at `index`";
  let description = [{
    The row's encoding is that of one buffer, or has one more dimension, which must be its slowest. An index outside the
    row is undefined.}];
  let arguments = (ins TTG_MemDescType:$src, I32:$index);
  let results = (outs TTG_MemDescType:$result);
  let assemblyFormat = "$src `[` $index `]` attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
  let hasVerifier = 1;
}
