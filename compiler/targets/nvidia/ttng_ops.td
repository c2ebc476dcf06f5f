// SPDX-License-Identifier: Apache-2.0
// The ttng dialect: what only NVIDIA GPUs do, on ttg's tensors and buffers.
#ifndef COMPILER_TARGETS_NVIDIA_TTNG_OPS_TD_
#define COMPILER_TARGETS_NVIDIA_TTNG_OPS_TD_

include "compiler/ir/ttg_types.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TTNG_Dialect : Dialect {
  let name = "ttng";
  let cppNamespace = "::tritond::ttng";
  let summary = "Triton GPU IR of NVIDIA GPUs: operations that groups of warps do together";
  let dependentDialects = ["::tritond::ttg::TTGDialect"];
}

def TTNG_WarpGroupDotOp : Op<TTNG_Dialect, "warp_group_dot", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TypesMatchWith<"result has the type of c", "d", "c", "$_self">]> {
  let summary = "d = a * b + c by wgmma: four warps multiply what lies in shared memory, a also in registers";
  let description = [{
    Of nvidia_mma version 5 it is by tcgen05.mma; place_accumulators.cc makes operations on tensor memory of it.
    Upstream's `isAsync` allows it to go on until a warp_group_dot_wait. Here that takes no effect: such a dot has ended.
    Where it is `in_flight`, the dots of a thread form groups in their order, and it goes on until a warp_group_wait for
    its group: until then its buffers are read, and only the c of a dot of the same type may take d. Where `useC` is
    there and does not hold, d = a * b.}];
  let arguments = (ins AnyTypeOf<[TT_FpIntTensor, TTG_MemDescType]>:$a, TTG_MemDescType:$b, TT_FpIntTensor:$c,
      Optional<I1>:$useC, UnitAttr:$in_flight, OptionalAttr<I32Attr>:$inputPrecision, OptionalAttr<I32Attr>:$maxNumImpreciseAcc,
      OptionalAttr<BoolAttr>:$isAsync);
  let results = (outs TT_FpIntTensor:$d);
  let assemblyFormat = "$a `,` $b `,` $c (`,` $useC^)? attr-dict `:` qualified(type($a)) `*` qualified(type($b)) `->` type($d)";
  let builders = [OpBuilder<(ins "mlir::Type":$d, "mlir::Value":$a, "mlir::Value":$b, "mlir::Value":$c), [{
    build($_builder, $_state, mlir::TypeRange(d), mlir::ValueRange{a, b, c}, llvm::ArrayRef<mlir::NamedAttribute>());
  }]>];
  let hasVerifier = 1;
}

def TTNG_WarpGroupWaitOp : Op<TTNG_Dialect, "warp_group_wait", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "waits until at most `pending` of the thread's dots are in flight";
  let description = [{
    The results are the `accumulators` of dots that have ended by then. `buffers`: those that these dots have read, or
    the rows of buffers that hold them; until here they belong to the dots.}];
  let arguments = (ins Variadic<TT_FpIntTensor>:$accumulators, Variadic<TTG_MemDescType>:$buffers, I32Attr:$pending);
  let results = (outs Variadic<TT_FpIntTensor>:$results);
  let assemblyFormat = [{($accumulators^ `:` type($accumulators) `->` type($results))? (`buffers` $buffers^ `:` qualified(type($buffers)))?
      attr-dict}];
  let hasVerifier = 1;
}

def TTNG_WarpGroupDotWaitOp : Op<TTNG_Dialect, "warp_group_dot_wait", [Pure,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "`inputs` of upstream's asynchronous dots, of which at most `pendings` go on";
  let arguments = (ins Variadic<AnyTypeOf<[TT_FpIntTensor, TTG_MemDescType]>>:$inputs, I32Attr:$pendings,
      UnitAttr:$warpGroupLocal);
  let results = (outs Variadic<AnyTypeOf<[TT_FpIntTensor, TTG_MemDescType]>>:$outputs);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs)";
}

def TTNG_Shared : Resource<"::tritond::ttg::SharedMemory">;

//===-- mbarriers -------------------------------------------------------------------------------------------------===//

// Objects in shared memory that count arrivals (PTX ISA, "mbarrier"). One thread acts for all that run the operation;
// all of them wait. Names and syntax are upstream's.
def TTNG_Signals : Resource<"::tritond::compiler::Signals">;
class TTNG_MbarrierOp<string mnemonic, list<Trait> traits = []> : Op<TTNG_Dialect, mnemonic, traits> {
  let hasVerifier = 1;
}
// What the operation that makes a mbarrier says of it, and what others say.
def TTNG_MadeMbarrier : Arg<TTG_MemDescType, "", [MemWrite<TTNG_Shared>]>;
// It is changed, too: nothing may leave the operation out.
def TTNG_UsedMbarrier : Arg<TTG_MemDescType, "", [MemRead<TTNG_Signals>, MemWrite<TTNG_Signals>]>;

def TTNG_InitBarrierOp : TTNG_MbarrierOp<"init_barrier"> {
  let summary = "makes a mbarrier whose phases take `count` arrivals each";
  let arguments = (ins TTNG_MadeMbarrier:$alloc, I32Attr:$count);
  let assemblyFormat = "$alloc `,` $count attr-dict `:` qualified(type($alloc))";
}
def TTNG_InvalBarrierOp : TTNG_MbarrierOp<"inval_barrier", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "ends a mbarrier: its memory is free for other data, and it orders accesses no longer";
  let arguments = (ins TTG_MemDescType:$alloc);
  let assemblyFormat = "$alloc attr-dict `:` qualified(type($alloc))";
}
def TTNG_BarrierExpectOp : TTNG_MbarrierOp<"barrier_expect", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "an arrival, where `pred` holds, with which the phase waits for `size` bytes of copies besides";
  let arguments = (ins TTG_MemDescType:$alloc, I32Attr:$size, I1:$pred, OptionalAttr<I32Attr>:$fromCTA);
  let assemblyFormat = "$alloc `,` $size attr-dict `,` $pred `:` qualified(type($alloc))";
}
def TTNG_ArriveBarrierOp : TTNG_MbarrierOp<"arrive_barrier", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "`count` arrivals, where `pred` holds";
  let description = "What threads have read and written before is over for those who wait for the phase.";
  let arguments = (ins TTG_MemDescType:$alloc, I32Attr:$count, Optional<I1>:$pred, OptionalAttr<I32Attr>:$fromCTA,
      DefaultValuedAttr<I32Attr, "0">:$multicastCTA);
  let assemblyFormat = "$alloc `,` $count (`,` $pred^)? attr-dict `:` qualified(type($alloc))";
}
// This compiler's own. With it warps run apart by up to one phase: each arrives, goes on with what needs no other warp,
// and waits later.
def TTNG_ArriveBarrierByWarpsOp : TTNG_MbarrierOp<"arrive_barrier_by_warps"> {
  let summary = "an arrival of each warp on its own";
  let description = "What the warp's threads have read and written before is over for those who wait for the phase.";
  let arguments = (ins TTNG_UsedMbarrier:$alloc);
  let assemblyFormat = "$alloc attr-dict `:` qualified(type($alloc))";
}
def TTNG_WaitBarrierOp : TTNG_MbarrierOp<"wait_barrier", [AttrSizedOperandSegments]> {
  let summary = "waits, where `pred` holds, until the phase of parity `phase` is over";
  let description = "`deps`: buffers that the wait is for. They live until here at least.";
  let arguments = (ins TTNG_UsedMbarrier:$alloc, I32:$phase, Optional<I1>:$pred, Variadic<TTG_MemDescType>:$deps);
  let assemblyFormat = [{$alloc `,` $phase (`,` $pred^)? (`deps` $deps^)? attr-dict `:` qualified(type($alloc))
      (`,` qualified(type($deps))^)?}];
}
def TTNG_AsyncCopyMbarrierArriveOp : TTNG_MbarrierOp<"async_copy_mbarrier_arrive"> {
  let summary = "each thread arrives once the asynchronous copies that it has started are over";
  let description = [{
    Without `noIncrement` the phase expects one arrival more for each, so that its count does not change.}];
  let arguments = (ins TTNG_UsedMbarrier:$barrier, UnitAttr:$noIncrement);
  let assemblyFormat = "$barrier attr-dict `:` qualified(type($barrier))";
}
def TTNG_FenceAsyncSharedOp : Op<TTNG_Dialect, "fence_async_shared"> {
  let summary = "what threads wrote to shared memory before is seen by asynchronous instructions after";
  let arguments = (ins DefaultValuedAttr<BoolAttr, "false">:$bCluster);
  let assemblyFormat = "attr-dict";
}
def TTNG_FenceAsyncGlobalOp : Op<TTNG_Dialect, "fence_async_global"> {
  let summary = "what threads wrote to global memory before is seen by asynchronous instructions after";
  let assemblyFormat = "attr-dict";
}

//===-- Tensor maps -----------------------------------------------------------------------------------------------===//

// Descriptors of tensors for bulk copies of tiles (PTX ISA, "Tensors"), which a kernel makes in global memory itself.
// Sizes, strides and coordinates of a tensor map go from the innermost dimension on; of a copy from the outermost.
def TTNG_SentReads : Resource<"::tritond::compiler::SentReads">;
def TTNG_TensormapCreateOp : Op<TTNG_Dialect, "tensormap_create", [AttrSizedOperandSegments]> {
  let summary = "writes a tensor map of 128 bytes to `desc_ptr`";
  let description = [{
    `global_stride` is in bytes, of dimensions 1 …; the numbers of types, swizzles and so on are those of PTX. `slot`,
    128 bytes of shared memory, takes the map on its way. `warp`: of the block, the one that does it. Where `fill_nan`
    is set, elements outside of the tensor are NaNs, whatever `fill_mode` says.}];
  let arguments = (ins Arg<TT_Ptr, "", [MemWrite]>:$desc_ptr, TT_Ptr:$global_address, Variadic<I32>:$box_dim,
      Variadic<I32>:$global_dim, Variadic<I64>:$global_stride, Variadic<I32>:$element_stride,
      Arg<Optional<TTG_MemDescType>, "", [MemWrite<TTNG_Shared>]>:$slot, Optional<I1>:$fill_nan, I32Attr:$elem_type,
      I32Attr:$interleave_layout, I32Attr:$swizzle_mode, I32Attr:$fill_mode,
      DefaultValuedAttr<I32Attr, "0">:$warp);
  let assemblyFormat = [{$desc_ptr `,` $global_address `,` `[` $box_dim `]` `,` `[` $global_dim `]` `,`
      `[` $global_stride `]` `,` `[` $element_stride `]` (`slot` $slot^)? (`nan` $fill_nan^)? attr-dict `:`
      functional-type(operands, results)}];
  let hasVerifier = 1;
}
def TTNG_TensormapFenceproxyAcquireOp : Op<TTNG_Dialect, "tensormap_fenceproxy_acquire"> {
  let summary = "copies after it see the tensor map as it was written";
  let arguments = (ins Arg<TT_Ptr, "", [MemRead, MemWrite]>:$desc_ptr);
  let assemblyFormat = "$desc_ptr attr-dict `:` qualified(type($desc_ptr))";
}
def TTNG_ReinterpretTensorDescOp : Op<TTNG_Dialect, "reinterpret_tensor_descriptor", [Pure]> {
  let summary = "the tensor map at a pointer as a descriptor of blocks";
  let arguments = (ins TT_Ptr:$rawDesc);
  let results = (outs TT_TensorDesc:$result);
  let assemblyFormat = "$rawDesc attr-dict `:` qualified(type($rawDesc)) `to` qualified(type($result))";
}
def TTNG_AsyncTMACopyGlobalToLocalOp : Op<TTNG_Dialect, "async_tma_copy_global_to_local",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "starts to fill a buffer with the block at `coord`; `barrier` waits for its bytes";
  let arguments = (ins TT_TensorDesc:$desc, Variadic<I32>:$coord, TTG_MemDescType:$result, TTG_MemDescType:$barrier,
      I1:$pred, UnitAttr:$multicast);
  let assemblyFormat = [{$desc `[` $coord `]` $result `,` $barrier `,` $pred attr-dict `:` qualified(type($desc)) `,`
      qualified(type($barrier)) `->` qualified(type($result))}];
  let hasVerifier = 1;
}
def TTNG_AsyncTMACopyLocalToGlobalOp : Op<TTNG_Dialect, "async_tma_copy_local_to_global"> {
  let summary = "starts to write a buffer to the block at `coord`";
  let arguments = (ins Arg<TT_TensorDesc, "", [MemWrite]>:$desc, Variadic<I32>:$coord,
      Arg<TTG_MemDescType, "", [MemRead<TTNG_SentReads>]>:$src);
  let assemblyFormat = "$desc `[` $coord `]` $src attr-dict `:` qualified(type($desc)) `,` qualified(type($src))";
  let hasVerifier = 1;
}
def TTNG_AsyncTMAReduceOp : Op<TTNG_Dialect, "async_tma_reduce"> {
  let summary = "starts to combine the elements of the block at `coord` with a buffer's, each atomically and relaxed";
  let description = "The map says of which type they are, also whether integers have a sign.";
  let arguments = (ins TT_DescriptorReduceKind:$kind, Arg<TT_TensorDesc, "", [MemRead, MemWrite]>:$desc,
      Variadic<I32>:$coord, Arg<TTG_MemDescType, "", [MemRead<TTNG_SentReads>]>:$src);
  let assemblyFormat = "$kind `,` $desc `[` $coord `]` $src attr-dict `:` qualified(type($desc)) `,` qualified(type($src))";
  let hasVerifier = 1;
}
def TTNG_TMAStoreWaitOp : Op<TTNG_Dialect, "async_tma_store_wait", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "waits until at most `pendings` of the copies to global memory go on; `read_only`: until they have read";
  let arguments = (ins I32Attr:$pendings, UnitAttr:$read_only);
  let assemblyFormat = "attr-dict";
}

//===-- Tensor memory ---------------------------------------------------------------------------------------------===//

// Accumulators of tcgen05 (PTX ISA, "Tensor Memory"). An address is an i32: lane times 2^16, plus column. Of a matrix of
// several times 128 rows these are one after the other along the columns.
def TTNG_TensorMemory : Resource<"::tritond::ttng::TensorMemory">;
class TTNG_TensorMemoryOp<string mnemonic, list<Trait> traits = []> : Op<TTNG_Dialect, mnemonic, traits> {
  let hasVerifier = 1;
}
def TTNG_TensorMemoryAllocOp : TTNG_TensorMemoryOp<"tensor_memory_alloc", [MemoryEffects<[MemWrite<TTNG_TensorMemory>]>]> {
  let summary = "the block takes columns of all lanes; others that want them wait";
  let description = "Once a kernel. `slot`, an i32 in shared memory, takes the address on its way.";
  let arguments = (ins Arg<TTG_MemDescType, "", [MemWrite<TTNG_Shared>]>:$slot, I32Attr:$columns);
  let results = (outs I32:$address);
  let assemblyFormat = "$slot `,` $columns attr-dict `:` qualified(type($slot))";
}
def TTNG_TensorMemoryDeallocOp : TTNG_TensorMemoryOp<"tensor_memory_dealloc", [MemoryEffects<[MemWrite<TTNG_TensorMemory>]>]> {
  let summary = "gives the columns back; all threads wait for each other first";
  let arguments = (ins I32:$address, I32Attr:$columns);
  let assemblyFormat = "$address `,` $columns attr-dict";
}
def TTNG_TensorMemoryDotOp : TTNG_TensorMemoryOp<"tensor_memory_dot", [MemoryEffects<[MemWrite<TTNG_TensorMemory>]>]> {
  let summary = "starts accumulators = a * b, plus the accumulators where `adds` holds, at `address`";
  let description = [{
    All threads meet in front of it: what they have written to its buffers and to tensor memory is then seen. `barrier`
    takes an arrival when it and all dots before it are over. Until then its buffers are read.}];
  let arguments = (ins Arg<TTG_MemDescType, "", [MemRead<TTNG_Shared>]>:$a, Arg<TTG_MemDescType, "", [MemRead<TTNG_Shared>]>:$b,
      I32:$address, Arg<TTG_MemDescType, "", [MemRead<TTNG_Signals>]>:$barrier, I1:$adds);
  let assemblyFormat = [{$a `,` $b `,` $address `,` $barrier `,` $adds attr-dict `:` qualified(type($a)) `*` qualified(type($b)) `,`
      qualified(type($barrier))}];
}
def TTNG_TensorMemoryLoadOp : TTNG_TensorMemoryOp<"tensor_memory_load", [MemoryEffects<[MemRead<TTNG_TensorMemory>]>]> {
  let summary = "the accumulators at `address`, of dots that have been waited for";
  let arguments = (ins I32:$address);
  let results = (outs TT_FpIntTensor:$result);
  let assemblyFormat = "$address attr-dict `:` type($result)";
}
def TTNG_TensorMemoryStoreOp : TTNG_TensorMemoryOp<"tensor_memory_store", [MemoryEffects<[MemWrite<TTNG_TensorMemory>]>]> {
  let summary = "writes accumulators to `address`";
  let arguments = (ins TT_FpIntTensor:$value, I32:$address);
  let assemblyFormat = "$value `,` $address attr-dict `:` type($value)";
}

#endif  // COMPILER_TARGETS_NVIDIA_TTNG_OPS_TD_
