// SPDX-License-Identifier: Apache-2.0
// The encodings of the ttg dialect, in the order: any tensor, results of matrix units, shared memory. Each is defined by
// its linear layout: encoding_layouts.cc, matrix_layouts.cc, shared_layouts.cc.
#ifndef COMPILER_IR_TTG_ENCODINGS_TD_
#define COMPILER_IR_TTG_ENCODINGS_TD_

include "compiler/ir/ttg_types.td"

class TTG_Encoding<string name, string keyword, list<Trait> traits> : AttrDef<TTG_Dialect, name, traits> {
  let mnemonic = keyword;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

// How the blocks of a cluster share a tensor: block -> (dim0, …), counted in the parts of one block. A zero basis means
// that blocks hold copies. Written `CGALayout = [[0, 1]]`, or CTAsPerCGA, CTASplitNum and CTAOrder up to release 3.6;
// absent for one block.
def TTG_Cga : AttrOrTypeParameter<"::tritond::compiler::LinearLayout", "blocks of a cluster">;

// An encoding of tensors: its rank is the tensor's.
class TTG_TensorEncoding<string name, string keyword> : TTG_Encoding<name, keyword,
    [DeclareAttrInterfaceMethods<TTG_DistributedEncoding>, DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]>;

// The result of a matrix unit's instructions.
class TTG_MatrixUnitEncoding<string name, string keyword> : TTG_Encoding<name, keyword,
    [DeclareAttrInterfaceMethods<TTG_DistributedEncoding>, DeclareAttrInterfaceMethods<VerifiableTensorEncoding>,
     DeclareAttrInterfaceMethods<TTG_MatrixEncoding>]>;

def TTG_BlockedEncoding : TTG_TensorEncoding<"BlockedEncoding", "blocked"> {
  let summary = "tiles of sizePerThread x threadsPerWarp x warpsPerCTA, repeated over the tensor";
  let description = "`order` lists the dimensions from the fastest-varying.";
  let parameters = (ins ArrayRefParameter<"unsigned">:$sizePerThread, ArrayRefParameter<"unsigned">:$threadsPerWarp,
      ArrayRefParameter<"unsigned">:$warpsPerCTA, ArrayRefParameter<"unsigned">:$order, TTG_Cga:$cga);
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<unsigned>":$sizePerThread,
      "::llvm::ArrayRef<unsigned>":$threadsPerWarp, "::llvm::ArrayRef<unsigned>":$warpsPerCTA,
      "::llvm::ArrayRef<unsigned>":$order), [{
    return $_get($_ctxt, sizePerThread, threadsPerWarp, warpsPerCTA, order, SingleBlock(order.size()));
  }]>];
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
def TTG_LinearEncoding : TTG_TensorEncoding<"LinearEncoding", "linear"> {
  let summary = "any linear layout, given by its bases";
  let parameters = (ins "::tritond::compiler::LinearLayout":$layout);
}
def TTG_GenericLinearEncoding : TTG_TensorEncoding<"GenericLinearEncoding", "generic_linear"> {
  let summary = "a linear layout as `linear`, by the name that some passes give it";
  let parameters = (ins "::tritond::compiler::LinearLayout":$layout);
}

//===-- Results of matrix units -----------------------------------------------------------------------------------===//

def TTG_NvidiaMmaEncoding : TTG_MatrixUnitEncoding<"NvidiaMmaEncoding", "nvidia_mma"> {
  let summary = "the result of matrix instructions of NVIDIA GPUs: mma.sync (version 2), wgmma (version 3)";
  let description = [{
    Tiles as the PTX ISA says, held by a warp each: `instrShape` is [16, 8] (of the tensor's rank) in version 2, and
    [16, n, k] in version 3, where four warps stand below each other for one instruction. Warps are numbered from the
    last dimension in version 2, from the first in version 3. Rank 3 is a batch of matrices.}];
  let parameters = (ins "unsigned":$versionMajor, "unsigned":$versionMinor, ArrayRefParameter<"unsigned">:$warpsPerCTA,
      ArrayRefParameter<"unsigned">:$instrShape, TTG_Cga:$cga);
  let builders = [AttrBuilder<(ins "unsigned":$versionMajor, "unsigned":$versionMinor,
      "::llvm::ArrayRef<unsigned>":$warpsPerCTA, "::llvm::ArrayRef<unsigned>":$instrShape), [{
    return $_get($_ctxt, versionMajor, versionMinor, warpsPerCTA, instrShape, SingleBlock(warpsPerCTA.size()));
  }]>];
}
def TTG_AmdMfmaEncoding : TTG_MatrixUnitEncoding<"AmdMfmaEncoding", "amd_mfma"> {
  let summary = "the result of MFMA instructions of AMD CDNA GPUs, waves of 64";
  let description = [{
    Tiles of `instrShape` = [m, n(, k)], as the AMD matrix instruction calculator shows them; `isTransposed` swaps rows
    and columns. A warp holds `tilesPerWarp` tiles side by side, then come the next warps, numbered from the last
    dimension. `elementBitWidth` is 64 for double precision, which places rows differently.}];
  let parameters = (ins "unsigned":$version, ArrayRefParameter<"unsigned">:$warpsPerCTA,
      ArrayRefParameter<"unsigned">:$instrShape, "bool":$isTransposed, ArrayRefParameter<"unsigned">:$tilesPerWarp,
      "unsigned":$elementBitWidth, TTG_Cga:$cga);
}
def TTG_AmdWmmaEncoding : TTG_MatrixUnitEncoding<"AmdWmmaEncoding", "amd_wmma"> {
  let summary = "the result of WMMA instructions of AMD RDNA GPUs, waves of 32, tiles of 16x16";
  let description = [{
    Version 1 (gfx11): rows alternate between the halves of a wave; versions 2 and 3 (gfx12): a half holds eight
    neighbouring rows. `ctaLayout` maps (register, warp) to the tiles of a block.}];
  let parameters = (ins "unsigned":$version, "bool":$isTransposed,
      "::tritond::compiler::LinearLayout":$ctaLayout, ArrayRefParameter<"unsigned">:$instrShape, TTG_Cga:$cga);
}
def TTG_DpasEncoding : TTG_MatrixUnitEncoding<"DpasEncoding", "dpas"> {
  let summary = "the result of DPAS instructions of Intel GPUs: repeatCount x executionSize";
  let description = [{
    The depth of an instruction is systolicDepth * opsPerChan. A warp holds repCluster = [m, n] tiles side by side, then
    come the next warps, numbered from the last dimension.}];
  let parameters = (ins "unsigned":$repeatCount, "unsigned":$systolicDepth, "unsigned":$executionSize,
      "unsigned":$opsPerChan, "unsigned":$threadsPerWarp, ArrayRefParameter<"unsigned">:$warpsPerCTA,
      ArrayRefParameter<"unsigned">:$repCluster, TTG_Cga:$cga);
}

//===-- Shared memory ---------------------------------------------------------------------------------------------===//

class TTG_BufferEncoding<string name, string keyword>
    : TTG_Encoding<name, keyword, [DeclareAttrInterfaceMethods<TTG_SharedEncoding>]>;

def TTG_SwizzledSharedEncoding : TTG_BufferEncoding<"SwizzledSharedEncoding", "swizzled_shared"> {
  let summary = "row-major in `order`, groups of `vec` elements swizzled by the row";
  let description = "Group g of row r stands at group g xor ((r / perPhase) mod maxPhase).";
  let parameters = (ins "unsigned":$vec, "unsigned":$perPhase, "unsigned":$maxPhase, ArrayRefParameter<"unsigned">:$order,
      TTG_Cga:$cga);
  let builders = [AttrBuilder<(ins "unsigned":$vec, "unsigned":$perPhase, "unsigned":$maxPhase,
      "::llvm::ArrayRef<unsigned>":$order), [{
    return $_get($_ctxt, vec, perPhase, maxPhase, order, SingleBlock(order.size()));
  }]>];
}
def TTG_AmdRotatingSharedEncoding : TTG_BufferEncoding<"AmdRotatingSharedEncoding", "amd_rotating_shared"> {
  let summary = "swizzled_shared whose phase also changes from one run of perPhase * maxPhase rows to the next";
  let description = [{
    Group g of row r stands at group g xor p(r) xor p(r / maxPhase), p(r) = (r / perPhase) mod maxPhase.}];
  let parameters = (ins "unsigned":$vec, "unsigned":$perPhase, "unsigned":$maxPhase, ArrayRefParameter<"unsigned">:$order,
      TTG_Cga:$cga);
}
def TTG_NvmmaSharedEncoding : TTG_BufferEncoding<"NvmmaSharedEncoding", "nvmma_shared"> {
  let summary = "what wgmma and TMA read: columns as wide as the swizzle, rows below each other";
  let description = [{
    In a column of `swizzlingByteWidth` bytes, the 16-byte groups of row r are permuted by r mod 8 (128 bytes),
    (r / 2) mod 4 (64) or (r / 4) mod 2 (32); 0 means columns of 16 bytes, no swizzle. `transposed`: the first dimension
    is the one of rows. `fp4Padded`: 8 elements, then 8 elements of nothing.}];
  let parameters = (ins "unsigned":$swizzlingByteWidth, "bool":$transposed, "unsigned":$elementBitWidth,
      "bool":$fp4Padded, TTG_Cga:$cga);
}
def TTG_PaddedSharedEncoding : TTG_BufferEncoding<"PaddedSharedEncoding", "padded_shared"> {
  let summary = "a linear layout with gaps: after every `interval` elements, some that hold nothing";
  let parameters = (ins ArrayRefParameter<"::tritond::ttg::Padding">:$padding,
      "::tritond::compiler::LinearLayout":$layout);
}
def TTG_SharedLinearEncoding : TTG_BufferEncoding<"SharedLinearEncoding", "shared_linear"> {
  let summary = "any linear layout (offset, block) -> (dim0, …), given by its bases";
  let parameters = (ins "::tritond::compiler::LinearLayout":$layout, "unsigned":$alignment);
}

#endif  // COMPILER_IR_TTG_ENCODINGS_TD_
