// SPDX-License-Identifier: Apache-2.0
// The ttng dialect: what only NVIDIA GPUs do, on ttg's tensors and buffers.
#ifndef COMPILER_TARGETS_NVIDIA_TTNG_OPS_TD_
#define COMPILER_TARGETS_NVIDIA_TTNG_OPS_TD_

include "compiler/ir/ttg_types.td"
include "mlir/IR/OpBase.td"
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
    Where it is `in_flight`, the dots of a thread form groups in their order, and it goes on until a warp_group_wait for
    its group: until then its buffers are read, and only the c of a dot of the same type may take d.}];
  let arguments = (ins AnyTypeOf<[TT_FpIntTensor, TTG_MemDescType]>:$a, TTG_MemDescType:$b, TT_FpIntTensor:$c,
      UnitAttr:$in_flight);
  let results = (outs TT_FpIntTensor:$d);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict `:` qualified(type($a)) `*` qualified(type($b)) `->` type($d)";
  let hasVerifier = 1;
}

def TTNG_WarpGroupWaitOp : Op<TTNG_Dialect, "warp_group_wait", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "waits until at most `pending` of the thread's dots are in flight";
  let description = [{
    The results are the `sums` of dots that have ended by then. `buffers`: those that these dots have read, or the rows
    of buffers that hold them; until here they belong to the dots.}];
  let arguments = (ins Variadic<TT_FpIntTensor>:$sums, Variadic<TTG_MemDescType>:$buffers, I32Attr:$pending);
  let results = (outs Variadic<TT_FpIntTensor>:$results);
  let assemblyFormat = [{($sums^ `:` type($sums) `->` type($results))? (`buffers` $buffers^ `:` qualified(type($buffers)))?
      attr-dict}];
  let hasVerifier = 1;
}

def TTNG_Shared : Resource<"::tritond::ttg::SharedMemory">;

// A split barrier lets warps run apart by up to one use of it: each warp says that it has arrived, goes on with what
// needs no other warp, and waits later. `barrier` is a buffer of one i64 that holds nothing else.
class TTNG_SplitBarrierOp<string mnemonic, list<Trait> traits = []> : Op<TTNG_Dialect, mnemonic, traits> {
  let assemblyFormat = "$barrier attr-dict `:` qualified(type($barrier))";
  let hasVerifier = 1;
}

def TTNG_SplitBarrierInitOp : TTNG_SplitBarrierOp<"split_barrier_init"> {
  let summary = "makes `barrier` a split barrier of all warps of the block, which none has arrived at";
  let arguments = (ins Arg<TTG_MemDescType, "", [MemWrite<TTNG_Shared>]>:$barrier);
}
def TTNG_SplitBarrierArriveOp : TTNG_SplitBarrierOp<"split_barrier_arrive"> {
  let summary = "the warp has arrived; what its threads did so far is ordered before what others do after their wait";
  let arguments = (ins Arg<TTG_MemDescType, "", [MemRead<TTNG_Shared>]>:$barrier);
}
def TTNG_SplitBarrierWaitOp : TTNG_SplitBarrierOp<"split_barrier_wait"> {
  let summary = "waits until all warps have arrived once more";
  let description = [{`phase`: 0 for the first wait, 1 for the second, 0 for the third, and so on.}];
  let arguments = (ins Arg<TTG_MemDescType, "", [MemRead<TTNG_Shared>]>:$barrier, I32:$phase);
  let assemblyFormat = "$barrier `,` $phase attr-dict `:` qualified(type($barrier))";
}
def TTNG_SplitBarrierEndOp : TTNG_SplitBarrierOp<"split_barrier_end",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "`barrier` is none any more, and the accesses that it ordered need other barriers from here on";
  let arguments = (ins TTG_MemDescType:$barrier);
}

#endif  // COMPILER_TARGETS_NVIDIA_TTNG_OPS_TD_
