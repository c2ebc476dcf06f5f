// SPDX-License-Identifier: Apache-2.0
// The operations of the ttg dialect.
include "compiler/ir/ttg_encodings.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class TTG_Op<string mnemonic, list<Trait> traits = []> : Op<TTG_Dialect, mnemonic, traits>;
def TTG_SameShape : NativeOpTrait<"SameTensorShape"> { let cppNamespace = "::tritond::tt"; }
// A result that is another view of the operand's memory.
class TTG_ViewOp<string mnemonic> : TTG_Op<mnemonic, [Pure]> { let hasVerifier = 1; }

def TTG_Shared : Resource<"::tritond::ttg::SharedMemory">;
class TTG_BufferArg<list<OpVariableDecorator> effects> : Arg<TTG_MemDescType, "", effects>;
def TTG_ReadBuffer : TTG_BufferArg<[MemRead<TTG_Shared>]>;
def TTG_WrittenBuffer : TTG_BufferArg<[MemWrite<TTG_Shared>]>;
def TTG_UpdatedBuffer : TTG_BufferArg<[MemRead<TTG_Shared>, MemWrite<TTG_Shared>]>;

//===-- Tensors ---------------------------------------------------------------------------------------------------===//

def TTG_ConvertLayoutOp : TTG_Op<"convert_layout", [Pure, TTG_SameShape]> {
  let summary = "the same tensor under another encoding";
  let arguments = (ins TT_Tensor:$src, UnitAttr:$force_warp_shuffle);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}
def TTG_Fp4ToFpOp : TTG_Op<"fp4_to_fp", [Pure]> {
  let summary = "unpacks pairs of 4-bit floats (e2m1) along `axis`: low half first";
  let arguments = (ins TT_TensorOf<I8>:$src, I32Attr:$axis);
  let results = (outs TT_FloatTensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

//===-- Buffers in shared memory ----------------------------------------------------------------------------------===//

def TTG_LocalAllocOp : TTG_Op<"local_alloc", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a buffer in shared memory, filled with `src` if given";
  let arguments = (ins Optional<TT_Tensor>:$src, OptionalAttr<I32Attr>:$alignment);
  let results = (outs TTG_MemDescType:$result);
  let assemblyFormat = "($src^)? attr-dict `:` functional-type(operands, results)";
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$src), [{
    build($_builder, $_state, type, src, ::mlir::IntegerAttr());
  }]>];
  let hasVerifier = 1;
}
def TTG_LocalDeallocOp : TTG_Op<"local_dealloc"> {
  let summary = "ends the life of a buffer";
  let arguments = (ins TTG_BufferArg<[MemFree<TTG_Shared>]>:$src);
  let assemblyFormat = "$src attr-dict `:` qualified(type($src))";
}
def TTG_LocalLoadOp : TTG_Op<"local_load"> {
  let summary = "reads a buffer into registers";
  let arguments = (ins TTG_ReadBuffer:$src, Optional<TTG_AsyncTokenType>:$token);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src (`token` $token^)? attr-dict `:` qualified(type($src)) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$src), [{
    build($_builder, $_state, type, src, ::mlir::Value());
  }]>];
  let hasVerifier = 1;
}
def TTG_LocalStoreOp : TTG_Op<"local_store"> {
  let summary = "writes registers to a buffer";
  let arguments = (ins TT_Tensor:$src, TTG_WrittenBuffer:$dst);
  let assemblyFormat = "$src `,` $dst attr-dict `:` type($src) `->` qualified(type($dst))";
  let hasVerifier = 1;
}
def TTG_LocalGatherOp : TTG_Op<"local_gather"> {
  let summary = "result[i] = src[i with coordinate `axis` replaced by indices[i]]";
  let arguments = (ins TTG_ReadBuffer:$src, TT_IntTensor:$indices, I32Attr:$axis, Optional<TTG_AsyncTokenType>:$token);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = [{$src `[` $indices `]` (`token` $token^)? attr-dict `:` qualified(type($src)) `,`
      type($indices) `->` type($result)}];
  let hasVerifier = 1;
}
def TTG_LocalScatterOp : TTG_Op<"local_scatter"> {
  let summary = "dst[i with coordinate `axis` replaced by indices[i]] = values[i]; which of several wins is open";
  let arguments = (ins TTG_WrittenBuffer:$dst, TT_Tensor:$values, TT_IntTensor:$indices, I32Attr:$axis,
                       Optional<TTG_AsyncTokenType>:$token);
  let assemblyFormat = [{$dst `[` $indices `]` `,` $values (`token` $token^)? attr-dict `:` qualified(type($dst)) `,`
      type($indices) `,` type($values)}];
  let hasVerifier = 1;
}
def TTG_LocalAtomicScatterRMWOp : TTG_Op<"local_atomic_scatter_rmw"> {
  let summary = "local_scatter that combines each value with the element atomically; the result is the one before";
  let arguments = (ins TT_RmwOp:$atomic_rmw_op, TTG_UpdatedBuffer:$dst, TT_Tensor:$values, TT_IntTensor:$indices,
                       Optional<TT_BoolTensor>:$mask, I32Attr:$axis);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = [{$atomic_rmw_op `,` $dst `[` $indices `]` `,` $values (`,` $mask^)? attr-dict `:`
      functional-type(operands, results)}];
  let hasVerifier = 1;
}

//===-- Views of buffers ------------------------------------------------------------------------------------------===//

def TTG_MemDescIndexOp : TTG_ViewOp<"memdesc_index"> {
  let summary = "src[index] along the first dimension, which has to be the slowest in memory";
  let arguments = (ins TTG_MemDescType:$src, I32:$index);
  let results = (outs TTG_MemDescType:$result);
  let assemblyFormat = "$src `[` $index `]` attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
}
def TTG_MemDescSubsliceOp : TTG_ViewOp<"memdesc_subslice"> {
  let summary = "the part of src that begins at `offsets`, multiples of the result's sizes";
  let arguments = (ins TTG_MemDescType:$src, DenseI32ArrayAttr:$offsets);
  let results = (outs TTG_MemDescType:$result);
  let assemblyFormat = [{$src `[` custom<Offsets>($offsets) `]` attr-dict `:` qualified(type($src)) `->`
      qualified(type($result))}];
}
def TTG_MemDescTransOp : TTG_ViewOp<"memdesc_trans"> {
  let summary = "dimension i of the result is dimension order[i] of src";
  let arguments = (ins TTG_MemDescType:$src, DenseI32ArrayAttr:$order);
  let results = (outs TTG_MemDescType:$result);
  let assemblyFormat = "$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
}
def TTG_MemDescReshapeOp : TTG_ViewOp<"memdesc_reshape"> {
  let summary = "the same elements in row-major order under another shape";
  let arguments = (ins TTG_MemDescType:$src);
  let results = (outs TTG_MemDescType:$result);
  let assemblyFormat = "$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
}
def TTG_MemDescReinterpretOp : TTG_ViewOp<"memdesc_reinterpret"> {
  let summary = "the bytes of a whole buffer as one of another type and shape";
  let arguments = (ins TTG_MemDescType:$src);
  let results = (outs TTG_MemDescType:$result);
  let assemblyFormat = "$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
}

//===-- Asynchronous copies ---------------------------------------------------------------------------------------===//

// The type of an optional operand follows from the pointers'.
class FromSrc<string operand, string infer, string get> : TypesMatchWith<operand # " type matches src type", "src",
    operand, infer # "($_self)", "!::llvm::cast<AsyncCopyGlobalToLocalOp>($_op)." # get # "() || std::equal_to<>()">;

def TTG_AsyncCopyGlobalToLocalOp : TTG_Op<"async_copy_global_to_local", [AttrSizedOperandSegments,
    FromSrc<"mask", "::tritond::tt::MaskTypeOf", "getMask">,
    FromSrc<"other", "::tritond::tt::PointeeTypeOf", "getOther">]> {
  let summary = "starts a copy from global memory to a buffer; it has ended after an async_wait for its group";
  let description = [{
    `contiguity` promises so many neighbours in memory, under one mask, in each thread. Where `mask` is false the
    element becomes `other`, zero without one.}];
  let arguments = (ins Arg<TT_PtrTensor, "", [MemRead]>:$src, TTG_WrittenBuffer:$result, Optional<TT_BoolTensor>:$mask,
      Optional<TT_Type>:$other,
      DefaultValuedAttr<TT_CacheModifier, "::tritond::tt::CacheModifier::kNone">:$cache,
      DefaultValuedAttr<TT_EvictionPolicy, "::tritond::tt::EvictionPolicy::kNormal">:$evict,
      DefaultValuedAttr<BoolAttr, "false">:$isVolatile, DefaultValuedAttr<I32Attr, "1">:$contiguity);
  let results = (outs TTG_AsyncTokenType:$token);
  let assemblyFormat = [{$src `,` $result (`mask` $mask^)? (`other` $other^)?
      oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict) attr-dict `:` type($src) `->` type($result)}];
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::mlir::Value":$result, "::mlir::Value":$mask,
      "::mlir::Value":$other, CArg<"::tritond::tt::CacheModifier", "::tritond::tt::CacheModifier::kNone">:$cache,
      CArg<"::tritond::tt::EvictionPolicy", "::tritond::tt::EvictionPolicy::kNormal">:$evict,
      CArg<"int", "1">:$contiguity), [{
    build($_builder, $_state, AsyncTokenType::get($_builder.getContext()), src, result, mask, other, cache, evict,
          /*isVolatile=*/false, contiguity);
  }]>];
  let hasVerifier = 1;
}
def TTG_AsyncCommitGroupOp : TTG_Op<"async_commit_group", [MemoryEffects<[MemRead<TTG_Shared>, MemWrite<TTG_Shared>]>]> {
  let summary = "the copies that the thread has started since the last commit become a group";
  let arguments = (ins Variadic<TTG_AsyncTokenType>:$input_tokens);
  let results = (outs TTG_AsyncTokenType:$token);
  let assemblyFormat = "(`tokens` $input_tokens^)? attr-dict";
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$tokens), [{
    build($_builder, $_state, AsyncTokenType::get($_builder.getContext()), tokens);
  }]>];
}
def TTG_AsyncWaitOp : TTG_Op<"async_wait", [MemoryEffects<[MemRead<TTG_Shared>, MemWrite<TTG_Shared>]>]> {
  let summary = "waits until at most `num` groups of the thread's copies are in flight; no barrier";
  let arguments = (ins Variadic<TTG_AsyncTokenType>:$tokens, I32Attr:$num);
  let results = (outs TTG_AsyncTokenType:$token);
  let assemblyFormat = "($tokens^)? attr-dict";
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$tokens, "int":$num), [{
    build($_builder, $_state, AsyncTokenType::get($_builder.getContext()), tokens, static_cast<uint32_t>(num));
  }]>];
  let hasVerifier = 1;
}

//===-- Threads and programs --------------------------------------------------------------------------------------===//

def TTG_BarrierOp : TTG_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads of the block wait; memory of the named address spaces is then visible to all";
  let description = "`none`, `all`, or a list joined by `|` of local, global_read, global_write, tensor_read, tensor_write.";
  let arguments = (ins StrAttr:$addr_space);
  let hasCustomAssemblyFormat = 1;
}
def TTG_WarpIdOp : TTG_Op<"warp_id", [Pure]> {
  let summary = "the warp of the thread in its block";
  let arguments = (ins UnitAttr:$omitUniformHint);
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}
def TTG_LaneIdOp : TTG_Op<"lane_id", [Pure]> {
  let summary = "the lane of the thread in its warp";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}
def TTG_GlobalScratchAllocOp : TTG_Op<"global_scratch_alloc"> {
  let summary = "global memory of the program's own, for as long as it runs";
  let arguments = (ins I32Attr:$nbytes, I32Attr:$alignment, OptionalAttr<UnitAttr>:$third_party_allocation,
                       OptionalAttr<UnitAttr>:$shared_cluster_state, OptionalAttr<StrAttr>:$backend);
  let results = (outs Arg<TT_Ptr, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

//===-- Loops in stages -------------------------------------------------------------------------------------------===//

def TTG_PredicateStageOp : TTG_Op<"predicate_stage", [Pure, AllTypesMatch<["iv", "ub", "step"]>]> {
  let summary = "whether `stage` of the loop has an iteration to do at `iv`: iv < ub - (maxStage - stage) * step";
  let arguments = (ins AnySignlessIntegerOrIndex:$iv, AnySignlessIntegerOrIndex:$ub, AnySignlessIntegerOrIndex:$step,
                       I32Attr:$maxStage, I32Attr:$stage);
  let results = (outs I1:$result);
  let assemblyFormat = [{$iv `,` $ub `,` $step `maxStage` $maxStage `stage` $stage attr-dict `:` type($iv) `->`
      type($result)}];
  let hasVerifier = 1;
}
def TTG_MaskOp : TTG_Op<"mask", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "the region runs where `pred` holds; results are undefined where it does not";
  let arguments = (ins I1:$pred);
  let results = (outs Variadic<AnyType>:$result);
  let regions = (region SizedRegion<1>:$region);
  let hasVerifier = 1;
}
def TTG_MaskReturnOp : TTG_Op<"mask.return", [HasParent<"MaskOp">, Pure, Terminator, ReturnLike]> {
  let summary = "the results of the mask around it";
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "($result^)? attr-dict (`:` type($result)^)?";
}

//===-- Warp groups -----------------------------------------------------------------------------------------------===//

def TTG_WarpSpecializeOp : TTG_Op<"warp_specialize", [RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "regions that run at the same time on warps of their own";
  let description = [{
    The `default` region runs on the warps that are here and may use values from above; each partition runs on further
    `partitionNumWarps[i]` warps and sees its arguments alone. All meet at the end.

        %0 = ttg.warp_specialize(%a)
        default { … ttg.warp_yield %x : i32 }
        partition0(%arg0: i32) num_warps(4) { … ttg.warp_return } : (i32) -> i32}];
  let arguments = (ins DenseI32ArrayAttr:$partitionNumWarps, OptionalAttr<DenseI32ArrayAttr>:$warpGroupStartIds,
      OptionalAttr<DenseI32ArrayAttr>:$requestedRegisters, OptionalAttr<DenseI32ArrayAttr>:$actualRegisters);
  let results = (outs Variadic<AnyType>:$defaultPassthrough);
  let regions = (region MinSizedRegion<1>:$defaultRegion, SizedRegion<1>:$partitionHolder);
  let extraClassDeclaration = "WarpSpecializePartitionsOp Partitions();";
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}
def TTG_WarpSpecializePartitionsOp : TTG_Op<"warp_specialize.partitions", [IsolatedFromAbove, RecursiveMemoryEffects,
    RecursivelySpeculatable, Terminator, HasParent<"WarpSpecializeOp">]> {
  let summary = "the partitions of a warp_specialize, isolated from above, and what they capture";
  let arguments = (ins Variadic<AnyType>:$explicitCaptures);
  let regions = (region VariadicRegion<MinSizedRegion<1>>:$partitionRegions);
  let hasVerifier = 1;
}
def TTG_WarpYieldOp : TTG_Op<"warp_yield", [Pure, Terminator, ReturnLike, HasParent<"WarpSpecializeOp">]> {
  let summary = "the results of a warp_specialize, from its default region";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^)? attr-dict (`:` type($values)^)?";
}
def TTG_WarpReturnOp : TTG_Op<"warp_return", [Pure, Terminator, ReturnLike,
    ParentOneOf<["WarpSpecializePartitionsOp", "StartPartitionsOp"]>]> {
  let summary = "the end of a partition";
  let assemblyFormat = "attr-dict";
}

// What ttg-split-warp-specialize makes of a warp_specialize: the default region becomes blocks of the function between
// these two.
def TTG_StartPartitionsOp : TTG_Op<"start_partitions", [IsolatedFromAbove]> {
  let summary = "partitions begin on their warps; the warps that are here go on";
  let description = [{
    Partition i runs on `partitionNumWarps[i]` warps from warp `warpGroupStartIds[i]` of the block on. The captures are
    its arguments. `actualRegisters`, where given, is how many registers a thread has meanwhile, here and in each
    partition.}];
  let arguments = (ins Variadic<AnyType>:$captures, DenseI32ArrayAttr:$partitionNumWarps,
      DenseI32ArrayAttr:$warpGroupStartIds, OptionalAttr<DenseI32ArrayAttr>:$actualRegisters);
  let results = (outs TTG_AsyncTokenType:$token);
  let regions = (region VariadicRegion<MinSizedRegion<1>>:$partitionRegions);
  let hasVerifier = 1;
}
def TTG_JoinPartitionsOp : TTG_Op<"join_partitions"> {
  let summary = "waits until all partitions that were started with `token` have returned";
  let arguments = (ins TTG_AsyncTokenType:$token);
  let assemblyFormat = "$token attr-dict";
}
