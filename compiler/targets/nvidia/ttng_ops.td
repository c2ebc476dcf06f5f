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

#endif  // COMPILER_TARGETS_NVIDIA_TTNG_OPS_TD_
