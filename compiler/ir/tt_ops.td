// SPDX-License-Identifier: Apache-2.0
// The operations of the tt dialect, in the textual syntax of upstream Triton 3.2 to 3.8. Older and newer spellings
// are brought to it by normalize_text.h before parsing.
include "compiler/ir/tt_types.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

// All tensors among operands and results have one shape / one encoding.
def SameShape : NativeOpTrait<"SameTensorShape"> { let cppNamespace = "::tritond::tt"; }
def SameEncoding : NativeOpTrait<"SameTensorEncoding"> { let cppNamespace = "::tritond::tt"; }

class TT_Op<string mnemonic, list<Trait> traits = []> : Op<TT_Dialect, mnemonic, traits>;
// Acts on each element alone.
class TT_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : TT_Op<mnemonic, traits # [Elementwise, SameShape, SameEncoding]>;
class TT_CastOp<string mnemonic> : TT_ElementwiseOp<mnemonic, [Pure]> {
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
}

//===-- Casts and elementwise arithmetic --------------------------------------------------------------------------===//

def TT_IntToPtrOp : TT_CastOp<"int_to_ptr"> {
  let summary = "i64 to pointer";
  let arguments = (ins TT_I64Like:$src);
  let results = (outs TT_PtrLike:$result);
}
def TT_PtrToIntOp : TT_CastOp<"ptr_to_int"> {
  let summary = "pointer to i64";
  let arguments = (ins TT_PtrLike:$src);
  let results = (outs TT_I64Like:$result);
}
def TT_BitcastOp : TT_CastOp<"bitcast"> {
  let summary = "reinterprets the bits of each element as another type of the same width";
  let arguments = (ins TT_Type:$src);
  let results = (outs TT_Type:$result);
  let hasVerifier = 1;
}
def TT_FpToFpOp : TT_ElementwiseOp<"fp_to_fp", [Pure]> {
  let summary = "float conversion, fp8 formats included; `rounding` is required when narrowing to fp8";
  let arguments = (ins TT_FloatLike:$src, OptionalAttr<TT_RoundingMode>:$rounding);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$src attr-dict (`,` `rounding` `=` $rounding^)? `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def TT_ClampFOp : TT_ElementwiseOp<"clampf", [Pure, AllTypesMatch<["x", "min", "max", "result"]>]> {
  let summary = "min(max(x, min), max)";
  let arguments = (ins TT_FloatLike:$x, TT_FloatLike:$min, TT_FloatLike:$max, TT_PropagateNan:$propagateNan);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x `,` $min `,` $max `,` `propagateNan` `=` $propagateNan attr-dict `:` type($result)";
}
def TT_PreciseSqrtOp : TT_ElementwiseOp<"precise_sqrt", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "square root, correctly rounded";
  let arguments = (ins TT_FloatLike:$x);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
def TT_PreciseDivFOp : TT_ElementwiseOp<"precise_divf", [Pure, AllTypesMatch<["x", "y", "result"]>]> {
  let summary = "division, correctly rounded";
  let arguments = (ins TT_FloatLike:$x, TT_FloatLike:$y);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}
def TT_MulhiUIOp : TT_ElementwiseOp<"mulhiui", [Pure, Commutative, AllTypesMatch<["x", "y", "result"]>]> {
  let summary = "high half of the unsigned product";
  let arguments = (ins TT_IntLike:$x, TT_IntLike:$y);
  let results = (outs TT_IntLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}
def TT_AddPtrOp : TT_ElementwiseOp<"addptr", [Pure, AllTypesMatch<["result", "ptr"]>]> {
  let summary = "pointer plus offset, the offset counted in elements";
  let arguments = (ins TT_PtrLike:$ptr, TT_IntLike:$offset);
  let results = (outs TT_PtrLike:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)";
  let hasFolder = 1;
}
def TT_ExternElementwiseOp : TT_ElementwiseOp<"extern_elementwise",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, ConditionallySpeculatable]> {
  let summary = "calls a function of a device library on each element";
  let arguments = (ins Variadic<TT_Type>:$srcs, StrAttr:$libname, StrAttr:$libpath, StrAttr:$symbol, BoolAttr:$pure);
  let results = (outs TT_Type:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $result)";
  let extraClassDeclaration = "::mlir::Speculation::Speculatability getSpeculatability();";
}
def TT_ElementwiseInlineAsmOp : TT_ElementwiseOp<"elementwise_inline_asm",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, ConditionallySpeculatable]> {
  let summary = "inline assembly of the target, applied to `packed_element` elements at a time";
  let arguments = (ins StrAttr:$asm_string, StrAttr:$constraints, BoolAttr:$pure, I32Attr:$packed_element,
                       Variadic<TT_Type>:$args);
  let results = (outs Variadic<TT_Type>:$result);
  let assemblyFormat = "$asm_string attr-dict ($args^ `:` type($args))? `->` type($result)";
  let extraClassDeclaration = "::mlir::Speculation::Speculatability getSpeculatability();";
  let hasVerifier = 1;
}
def TT_MapElementwiseReturnOp : TT_Op<"map_elementwise.return",
    [ParentOneOf<["MapElementwiseOp"]>, Pure, Terminator, ReturnLike]> {
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "attr-dict ($result^ `:` type($result))?";
}
def TT_MapElementwiseOp : TT_ElementwiseOp<"map_elementwise",
    [RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "applies a scalar region to `pack` elements of each operand at a time";
  let arguments = (ins Variadic<TT_Tensor>:$srcs, I32Attr:$pack);
  let results = (outs Variadic<TT_Tensor>:$result);
  let regions = (region AnyRegion:$scalarOp);
  let hasRegionVerifier = 1;
}

//===-- Memory ----------------------------------------------------------------------------------------------------===//

// The type of an optional operand follows from the pointer's.
class FromPtr<string operand, string fn, int position> : TypesMatchWith<
    operand # " type matches ptr type", "ptr", operand, fn # "($_self)",
    "($_op.getNumOperands() <= " # position # ") || std::equal_to<>()">;

def TT_LoadOp : TT_Op<"load", [SameShape, SameEncoding, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TypesMatchWith<"result type matches ptr type", "ptr", "result", "::tritond::tt::PointeeTypeOf($_self)">,
    FromPtr<"mask", "::tritond::tt::MaskTypeOf", 1>, FromPtr<"other", "::tritond::tt::PointeeTypeOf", 2>]> {
  let summary = "load through a pointer, a tensor of pointers or a block pointer";
  let description = "Where `mask` is false nothing is read and the element is `other`, or undefined without one.";
  let arguments = (ins TT_PtrLike:$ptr, Optional<TT_BoolLike>:$mask, Optional<TT_Type>:$other,
      OptionalAttr<DenseI32ArrayAttr>:$boundaryCheck, OptionalAttr<TT_PaddingOption>:$padding,
      DefaultValuedAttr<TT_CacheModifier, "CacheModifier::kNone">:$cache,
      DefaultValuedAttr<TT_EvictionPolicy, "EvictionPolicy::kNormal">:$evict,
      DefaultValuedAttr<BoolAttr, "false">:$isVolatile);
  let results = (outs TT_Type:$result);
  let assemblyFormat = [{$ptr (`,` $mask^)? (`,` $other^)?
      oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict) attr-dict `:` type($ptr)}];
  let builders = [OpBuilder<(ins "::mlir::Value":$ptr, "::mlir::Value":$mask, "::mlir::Value":$other,
      CArg<"CacheModifier", "CacheModifier::kNone">:$cache, CArg<"EvictionPolicy", "EvictionPolicy::kNormal">:$evict,
      CArg<"bool", "false">:$isVolatile)>];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}
def TT_StoreOp : TT_Op<"store", [SameShape, SameEncoding, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TypesMatchWith<"value type matches ptr type", "ptr", "value", "::tritond::tt::PointeeTypeOf($_self)">,
    FromPtr<"mask", "::tritond::tt::MaskTypeOf", 2>]> {
  let summary = "store through a pointer, a tensor of pointers or a block pointer";
  let arguments = (ins TT_PtrLike:$ptr, TT_Type:$value, Optional<TT_BoolLike>:$mask,
      OptionalAttr<DenseI32ArrayAttr>:$boundaryCheck,
      DefaultValuedAttr<TT_CacheModifier, "CacheModifier::kNone">:$cache,
      DefaultValuedAttr<TT_EvictionPolicy, "EvictionPolicy::kNormal">:$evict, UnitAttr:$ignore_cta);
  let assemblyFormat = [{$ptr `,` $value (`,` $mask^)?
      oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict) attr-dict `:` type($ptr)}];
  let builders = [OpBuilder<(ins "::mlir::Value":$ptr, "::mlir::Value":$value, "::mlir::Value":$mask,
      CArg<"CacheModifier", "CacheModifier::kNone">:$cache, CArg<"EvictionPolicy", "EvictionPolicy::kNormal">:$evict)>];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}
def TT_AtomicRMWOp : TT_Op<"atomic_rmw", [SameShape, SameEncoding,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "atomic read-modify-write; the result is the value before";
  let arguments = (ins TT_RmwOp:$atomic_rmw_op, TT_PtrLike:$ptr, TT_Type:$val, Optional<TT_BoolLike>:$mask,
                       TT_MemSemantic:$sem, TT_MemSyncScope:$scope);
  let results = (outs TT_Type:$result);
  let assemblyFormat = [{$atomic_rmw_op `,` $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict `:`
      functional-type(operands, $result)}];
  let hasVerifier = 1;
}
def TT_AtomicCASOp : TT_Op<"atomic_cas", [SameShape, SameEncoding,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "atomic compare-and-swap; the result is the value before";
  let arguments = (ins TT_PtrLike:$ptr, TT_Type:$cmp, TT_Type:$val, TT_MemSemantic:$sem, TT_MemSyncScope:$scope);
  let results = (outs TT_Type:$result);
  let assemblyFormat = "$sem `,` $scope `,` $ptr `,` $cmp `,` $val attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}
def TT_AtomicPollOp : TT_Op<"atomic_poll", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "waits until the word at `ptr` equals `expected`; true if it did before `timeout` (nanoseconds)";
  let arguments = (ins TT_Ptr:$ptr, AnySignlessInteger:$expected, Optional<I64>:$timeout, TT_MemSemantic:$sem,
                       TT_MemSyncScope:$scope);
  let results = (outs I1:$result);
  let assemblyFormat = [{$sem `,` $scope `,` $ptr `,` $expected (`timeout` $timeout^)? attr-dict `:`
      qualified(type($ptr)) `,` type($expected) `->` type($result)}];
  let hasVerifier = 1;
}
def TT_MakeTensorPtrOp : TT_Op<"make_tensor_ptr", [Pure, SameVariadicOperandSize, TypesMatchWith<"base points to the element type of the block", "result", "base", "::tritond::tt::ElementPtrOf($_self)">]> {
  let summary = "block pointer: base, shape and strides of the tensor, offsets of the block (releases up to 3.7)";
  let arguments = (ins TT_Ptr:$base, Variadic<I64>:$shape, Variadic<I64>:$strides, Variadic<I32>:$offsets,
                       DenseI32ArrayAttr:$order);
  let results = (outs TT_Ptr:$result);
  let assemblyFormat = [{$base `,` `[` $shape `]` `,` `[` $strides `]` `,` `[` $offsets `]` attr-dict `:`
      type($result)}];
  let hasVerifier = 1;
}
def TT_AdvanceOp : TT_Op<"advance", [Pure, AllTypesMatch<["result", "ptr"]>]> {
  let summary = "moves a block pointer by `offsets` elements (releases up to 3.7)";
  let arguments = (ins TT_Ptr:$ptr, Variadic<I32>:$offsets);
  let results = (outs TT_Ptr:$result);
  let assemblyFormat = "$ptr `,` `[` $offsets `]` attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===-- Shape -----------------------------------------------------------------------------------------------------===//

def TT_SplatOp : TT_Op<"splat", [Pure]> {
  let summary = "a tensor whose elements are all `src`";
  let arguments = (ins TT_Type:$src);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
def TT_UnsplatOp : TT_Op<"unsplat", [Pure,
    TypesMatchWith<"result is the element type", "src", "result",
                   "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()">]> {
  let summary = "the one element of a tensor of size one";
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_Type:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
  let hasVerifier = 1;
}
def TT_ExpandDimsOp : TT_Op<"expand_dims", [Pure]> {
  let summary = "inserts a dimension of size one at `axis`";
  let arguments = (ins TT_Tensor:$src, I32Attr:$axis);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}
def TT_BroadcastOp : TT_Op<"broadcast", [Pure, SameEncoding]> {
  let summary = "repeats the elements along dimensions of size one";
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}
def TT_ReshapeOp : TT_Op<"reshape", [Pure]> {
  let summary = "the same elements in row-major order under another shape; any order with `allow_reorder`";
  let arguments = (ins TT_Tensor:$src, UnitAttr:$allow_reorder, UnitAttr:$efficient_layout);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = [{$src (`allow_reorder` $allow_reorder^)? (`efficient_layout` $efficient_layout^)? attr-dict
      `:` type($src) `->` type($result)}];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}
def TT_TransOp : TT_Op<"trans", [Pure]> {
  let summary = "permutes dimensions: result dimension i is source dimension order[i]";
  let arguments = (ins TT_Tensor:$src, DenseI32ArrayAttr:$order);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
def TT_JoinOp : TT_Op<"join", [Pure, AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "stacks two tensors along a new last dimension of size two";
  let arguments = (ins TT_Tensor:$lhs, TT_Tensor:$rhs);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}
def TT_SplitOp : TT_Op<"split", [Pure, AllTypesMatch<["outLHS", "outRHS"]>]> {
  let summary = "the two halves of a tensor whose last dimension has size two";
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_Tensor:$outLHS, TT_Tensor:$outRHS);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($outLHS)";
  let hasVerifier = 1;
}
def TT_CatOp : TT_Op<"cat", [Pure, AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "concatenates two tensors, in any order of elements (releases up to 3.8)";
  let arguments = (ins TT_Tensor:$lhs, TT_Tensor:$rhs);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}
def TT_MakeRangeOp : TT_Op<"make_range", [Pure]> {
  let summary = "start, start + 1, … end - 1";
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs TT_IntTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
def TT_GatherOp : TT_Op<"gather", [Pure]> {
  let summary = "result[i, …] = src[indices[i, …], …] along `axis`";
  let arguments = (ins TT_Tensor:$src, TT_IntTensor:$indices, I32Attr:$axis, UnitAttr:$efficient_layout);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src `[` $indices `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def TT_HistogramOp : TT_Op<"histogram", [Pure,
    TypesMatchWith<"mask type matches src type", "src", "mask", "::tritond::tt::BoolTypeLike($_self)",
                   "($_op.getNumOperands() <= 1) || std::equal_to<>()">]> {
  let summary = "counts of the values 0 … bins - 1 in `src`, where `mask` is true";
  let arguments = (ins TT_IntTensor:$src, Optional<TT_BoolLike>:$mask);
  let results = (outs TT_IntTensor:$result);
  let assemblyFormat = "$src (`,` $mask^)? attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

//===-- Program, dot, reductions ----------------------------------------------------------------------------------===//

def TT_GetProgramIdOp : TT_Op<"get_program_id", [Pure]> {
  let summary = "this program's index in the launch grid";
  let arguments = (ins TT_ProgramDim:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}
def TT_GetNumProgramsOp : TT_Op<"get_num_programs", [Pure]> {
  let summary = "size of the launch grid";
  let arguments = (ins TT_ProgramDim:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}
def TT_BlockInClusterOp : TT_Op<"block_in_cluster", [Pure]> {
  let summary = "which block of its program's cluster executes this";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def TT_ClusterBarrierOp : TT_Op<"cluster_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for all blocks of the cluster; they see each other's earlier accesses to memory";
  let assemblyFormat = "attr-dict";
}
def TT_DotOp : TT_Op<"dot", [Pure, TypesMatchWith<"result has the type of c", "d", "c", "$_self">]> {
  let summary = "d = a * b + c over matrices, or batches of matrices";
  let arguments = (ins TT_FpIntTensor:$a, TT_FpIntTensor:$b, TT_FpIntTensor:$c,
      DefaultValuedAttr<TT_InputPrecision, "InputPrecision::kIeee">:$inputPrecision,
      DefaultValuedAttr<I32Attr, "0">:$maxNumImpreciseAcc);
  let results = (outs TT_FpIntTensor:$d);
  let assemblyFormat = [{$a `,` $b `,` $c (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict `:` type($a) `*`
      type($b) `->` type($d)}];
  let hasVerifier = 1;
}
def TT_DotScaledOp : TT_Op<"dot_scaled", [Pure, AttrSizedOperandSegments,
    TypesMatchWith<"result has the type of c", "d", "c", "$_self">]> {
  let summary = "dot of microscaled operands: one 8-bit exponent for each group of elements along K";
  let arguments = (ins TT_FpIntTensor:$a, TT_FpIntTensor:$b, TT_FloatTensor:$c, Optional<TT_FpIntTensor>:$a_scale,
      Optional<TT_FpIntTensor>:$b_scale, TT_ScaleDotElemType:$a_elem_type, TT_ScaleDotElemType:$b_elem_type,
      DefaultValuedAttr<BoolAttr, "false">:$fastMath, DefaultValuedAttr<BoolAttr, "true">:$lhs_k_pack,
      DefaultValuedAttr<BoolAttr, "true">:$rhs_k_pack);
  let results = (outs TT_FloatTensor:$d);
  let assemblyFormat = [{$a (`scale` $a_scale^)? `,` $b (`scale` $b_scale^)? `,` $c `lhs` `=` $a_elem_type `rhs` `=`
      $b_elem_type attr-dict `:` type($a) (`,` type($a_scale)^)? `*` type($b) (`,` type($b_scale)^)? `->` type($d)}];
  let hasVerifier = 1;
}
class TT_ReturnLike<string mnemonic, string parent> : TT_Op<mnemonic, [ParentOneOf<[parent]>, Pure, Terminator,
    ReturnLike]> {
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "$result attr-dict `:` type($result)";
}
def TT_ReduceReturnOp : TT_ReturnLike<"reduce.return", "ReduceOp">;
def TT_ReduceOp : TT_Op<"reduce", [Pure]> {
  let summary = "combines the elements along `axis` with an associative, commutative region";
  let arguments = (ins Variadic<TT_Tensor>:$srcs, I32Attr:$axis);
  let results = (outs Variadic<TT_Type>:$result);
  let regions = (region SizedRegion<1>:$combineOp);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType InputType() { return ::llvm::cast<::mlir::RankedTensorType>(getSrcs()[0].getType()); }
    // The one operation between the region's arguments and its return, null if there are more.
    ::mlir::Operation* SingleCombiner();
  }];
}
def TT_ScanReturnOp : TT_ReturnLike<"scan.return", "ScanOp">;
def TT_ScanOp : TT_Op<"scan", [Pure, SameShape, SameEncoding]> {
  let summary = "running combination of the elements along `axis`, from the end with `reverse`";
  let arguments = (ins Variadic<TT_Tensor>:$srcs, I32Attr:$axis, BoolAttr:$reverse);
  let results = (outs Variadic<TT_Tensor>:$result);
  let regions = (region SizedRegion<1>:$combineOp);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

//===-- Debugging, scheduling hints -------------------------------------------------------------------------------===//

def TT_PrintOp : TT_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "prints its operands from the device";
  let arguments = (ins StrAttr:$prefix, BoolAttr:$hex, Variadic<TT_Type>:$args,
                       DefaultValuedAttr<DenseI32ArrayAttr, "{}">:$isSigned);
  let assemblyFormat = "$prefix attr-dict (`:` $args^ `:` type($args))?";
  let hasVerifier = 1;
}
def TT_AssertOp : TT_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "traps with `message` where `condition` is false";
  let arguments = (ins TT_BoolLike:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}
def TT_GridDependencyWaitOp : TT_Op<"grid_dependency_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for the grids that this one depends on and for their writes";
  let assemblyFormat = "attr-dict";
}
def TT_GridDependencyLaunchDependentsOp : TT_Op<"grid_dependency_launch_dependents", [MemoryEffects<[MemWrite]>]> {
  let summary = "lets dependent grids start";
  let assemblyFormat = "attr-dict";
}

//===-- Tensor descriptors ----------------------------------------------------------------------------------------===//

def TT_MakeTensorDescOp : TT_Op<"make_tensor_descriptor", [Pure, SameVariadicOperandSize]> {
  let summary = "descriptor of a tensor in global memory and of the block to access";
  let arguments = (ins TT_Ptr:$base, Variadic<I32>:$shape, Variadic<I64>:$strides,
                       DefaultValuedAttr<TT_PaddingOption, "PaddingOption::kZero">:$padding);
  let results = (outs TT_TensorDesc:$result);
  let assemblyFormat = "$base `,` `[` $shape `]` `,` `[` $strides `]` attr-dict `:` type($base) `,` type($result)";
  let hasVerifier = 1;
}
class TT_DescriptorOp<string mnemonic> : TT_Op<mnemonic, [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let hasVerifier = 1;
}
def TT_DescriptorLoadOp : TT_DescriptorOp<"descriptor_load"> {
  let summary = "loads the block at `indices`; elements outside the tensor are the descriptor's padding";
  let arguments = (ins TT_TensorDesc:$desc, Variadic<I32>:$indices,
      DefaultValuedAttr<TT_CacheModifier, "CacheModifier::kNone">:$cache,
      DefaultValuedAttr<TT_EvictionPolicy, "EvictionPolicy::kNormal">:$evict);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = [{$desc `[` $indices `]` oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
      attr-dict `:` qualified(type($desc)) `->` type($result)}];
}
def TT_BlockMaskOp : TT_Op<"block_mask", [Pure, SameVariadicOperandSize, SameEncoding, AllTypesMatch<["mask", "result"]>]> {
  let summary = "`mask`: which elements of a block lie within the tensor that the block is of";
  let description = [{
    Says what the access under this mask is: the block of sizes `block` at `indices` of the tensor of `shape` at `base`.
    A copy of the block as a whole may take its place. `strides` count elements; the last one is 1. Dimensions in which
    the block has one element may be missing in the mask. Neighbours but the last dimension may be one in the mask.}];
  let arguments = (ins TT_BoolTensor:$mask, TT_Ptr:$base, Variadic<I32>:$indices, Variadic<I64>:$shape,
      Variadic<I64>:$strides, DenseI64ArrayAttr:$block);
  let results = (outs TT_BoolTensor:$result);
  let assemblyFormat = [{$mask `,` $base `[` $indices `]` `,` `[` $shape `]` `,` `[` $strides `]` attr-dict `:`
      type($mask) `,` type($base)}];
  let hasVerifier = 1;
}
def TT_DescriptorStoreOp : TT_DescriptorOp<"descriptor_store"> {
  let summary = "stores a block at `indices`; elements outside the tensor are dropped";
  let arguments = (ins TT_TensorDesc:$desc, TT_Tensor:$src, Variadic<I32>:$indices);
  let assemblyFormat = "$desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)";
}
def TT_DescriptorReduceOp : TT_DescriptorOp<"descriptor_reduce"> {
  let summary = "combines a block into memory atomically, element by element";
  let arguments = (ins TT_DescriptorReduceKind:$kind, TT_TensorDesc:$desc, TT_Tensor:$src, Variadic<I32>:$indices);
  let assemblyFormat = [{$kind `,` $desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,`
      type($src)}];
}
def TT_DescriptorGatherOp : TT_DescriptorOp<"descriptor_gather"> {
  let summary = "loads the rows `x_offsets` from column `y_offset` on";
  let arguments = (ins TT_TensorDesc:$desc, TT_IntTensor:$x_offsets, I32:$y_offset);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$desc `[` $x_offsets `,` $y_offset `]` attr-dict `:` functional-type(operands, results)";
}
def TT_DescriptorScatterOp : TT_DescriptorOp<"descriptor_scatter"> {
  let summary = "stores rows to the rows `x_offsets` from column `y_offset` on";
  let arguments = (ins TT_TensorDesc:$desc, TT_IntTensor:$x_offsets, I32:$y_offset, TT_Tensor:$src);
  let assemblyFormat = "$desc `[` $x_offsets `,` $y_offset `]` `,` $src attr-dict `:` type(operands)";
}

//===-- Functions -------------------------------------------------------------------------------------------------===//

def TT_FuncOp : TT_Op<"func", [AffineScope, AutomaticAllocationScope, FunctionOpInterface, IsolatedFromAbove]> {
  let summary = "a kernel (public) or a device function (private)";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
      OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs,
      OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Region* getCallableRegion() { return isExternal() ? nullptr : &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
  }];
}
def TT_CallOp : TT_Op<"call", [CallOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls a device function of the module";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands, OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<AnyType>);
  let assemblyFormat = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, results)";
  let extraClassDeclaration = [{
    ::mlir::CallInterfaceCallable getCallableForCallee() { return (*this)->getAttrOfType<::mlir::SymbolRefAttr>("callee"); }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      (*this)->setAttr("callee", ::llvm::cast<::mlir::SymbolRefAttr>(callee));
    }
    operand_range getArgOperands() { return getOperands(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() { return getOperandsMutable(); }
  }];
}
def TT_ReturnOp : TT_Op<"return", [Pure, HasParent<"FuncOp">, Terminator, ReturnLike]> {
  let summary = "returns from a function";
  let arguments = (ins Variadic<AnyType>:$srcs);
  let assemblyFormat = "attr-dict ($srcs^ `:` type($srcs))?";
  let hasVerifier = 1;
}
