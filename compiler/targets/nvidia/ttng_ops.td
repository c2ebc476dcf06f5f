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
  let arguments = (ins AnyTypeOf<[TT_FpIntTensor, TTG_MemDescType]>:$a, TTG_MemDescType:$b, TT_FpIntTensor:$c);
  let results = (outs TT_FpIntTensor:$d);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict `:` qualified(type($a)) `*` qualified(type($b)) `->` type($d)";
  let hasVerifier = 1;
}

#endif  // COMPILER_TARGETS_NVIDIA_TTNG_OPS_TD_
