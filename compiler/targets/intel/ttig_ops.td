// SPDX-License-Identifier: Apache-2.0
// The ttig dialect: what only Intel GPUs do, on ttg's tensors.
#ifndef COMPILER_TARGETS_INTEL_TTIG_OPS_TD_
#define COMPILER_TARGETS_INTEL_TTIG_OPS_TD_

include "compiler/ir/prefetchable.td"
include "compiler/ir/ttg_types.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TTIG_Dialect : Dialect {
  let name = "ttig";
  let cppNamespace = "::tritond::ttig";
  let summary = "Triton GPU IR of Intel GPUs: operations that sub-groups do together";
  let dependentDialects = ["::tritond::ttg::TTGDialect"];
}

def TTIG_BlockReadOp : Op<TTIG_Dialect, "block_read", [MemoryEffects<[MemRead]>,
    DeclareOpInterfaceMethods<TTG_PrefetchableOpInterface>]> {
  let summary = "reads an operand of a dot from a matrix in memory, whole rows of blocks at once";
  let description = [{
    Along dimension `contiguous` elements are neighbours in memory, from `base` on. Along the other one they are `pitch`
    elements apart. Elements whose index is not below the `limits`, one for each dimension, are zero, and nothing is
    read for them.

    `base` is a multiple of 4 bytes. A row has multiples of 4 bytes below the limit. The pitch is a multiple of 16 bytes
    below 2^24 and at least kLeastPitchBytes (plan_block_reads.h).}];
  let arguments = (ins TT_Ptr:$base, I64:$pitch, Variadic<I64>:$limits, I32Attr:$contiguous);
  let results = (outs TT_FpIntTensor:$result);
  let assemblyFormat = "$base `,` $pitch (`below` $limits^)? attr-dict `:` type($base) `->` type($result)";
  let hasVerifier = 1;
}

def TTIG_Cache : Resource<"::tritond::ttig::Cache">;

def TTIG_BlockPrefetchOp : Op<TTIG_Dialect, "block_prefetch", [MemoryEffects<[MemRead, MemWrite<TTIG_Cache>]>,
    AttrSizedOperandSegments]> {
  let summary = "brings a tile of a matrix in memory into the cache; the warps share its blocks";
  let description = [{
    For a `block_read` with the same operands whose result has `shape`. Nothing is brought where `exists` is false;
    `base` may then be any pointer that is a multiple of 4 bytes. Nothing needs to wait for the token.}];
  let arguments = (ins TT_Ptr:$base, I64:$pitch, Variadic<I64>:$limits, Optional<I1>:$exists, I32Attr:$contiguous,
      DenseI64ArrayAttr:$shape);
  let results = (outs TTG_AsyncTokenType:$token);
  let assemblyFormat = [{
    $base `,` $pitch (`below` $limits^)? (`if` $exists^)? `shape` $shape attr-dict `:` type($base)}];
  let hasVerifier = 1;
}

#endif  // COMPILER_TARGETS_INTEL_TTIG_OPS_TD_
