// SPDX-License-Identifier: Apache-2.0
// The tt dialect (Triton IR as the Python frontend prints it): dialect, enums, types, operand constraints.
#ifndef COMPILER_IR_TT_TYPES_TD_
#define COMPILER_IR_TT_TYPES_TD_

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def TT_Dialect : Dialect {
  let name = "tt";
  let cppNamespace = "::tritond::tt";
  let summary = "Triton IR: block programs over tensors and tensors of pointers";
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::ub::UBDialect"];
}

//===-- Enums: stored as i32, printed as keywords -----------------------------------------------------------------===//

class TT_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tritond::tt";
}
def TT_CacheModifier : TT_Enum<"CacheModifier", "cache operator of a memory access", [
  I32EnumAttrCase<"kNone", 1, "none">, I32EnumAttrCase<"kCa", 2, "ca">, I32EnumAttrCase<"kCg", 3, "cg">,
  I32EnumAttrCase<"kWb", 4, "wb">, I32EnumAttrCase<"kCs", 5, "cs">, I32EnumAttrCase<"kWt", 6, "wt">,
  I32EnumAttrCase<"kCv", 7, "cv">]>;
def TT_EvictionPolicy : TT_Enum<"EvictionPolicy", "cache eviction priority", [
  I32EnumAttrCase<"kNormal", 1, "evict_normal">, I32EnumAttrCase<"kEvictFirst", 2, "evict_first">,
  I32EnumAttrCase<"kEvictLast", 3, "evict_last">]>;
def TT_PaddingOption : TT_Enum<"PaddingOption", "value of out-of-bounds elements", [
  I32EnumAttrCase<"kZero", 1, "zero">, I32EnumAttrCase<"kNan", 2, "nan">]>;
def TT_MemSemantic : TT_Enum<"MemSemantic", "memory ordering of an atomic", [
  I32EnumAttrCase<"kRelaxed", 1, "relaxed">, I32EnumAttrCase<"kAcquire", 2, "acquire">,
  I32EnumAttrCase<"kRelease", 3, "release">, I32EnumAttrCase<"kAcqRel", 4, "acq_rel">]>;
def TT_MemSyncScope : TT_Enum<"MemSyncScope", "threads that an atomic synchronises with", [
  I32EnumAttrCase<"kGpu", 1, "gpu">, I32EnumAttrCase<"kCta", 2, "cta">, I32EnumAttrCase<"kSys", 3, "sys">]>;
def TT_RmwOp : TT_Enum<"RmwOp", "operation of an atomic read-modify-write", [
  I32EnumAttrCase<"kAnd", 1, "and">, I32EnumAttrCase<"kOr", 2, "or">, I32EnumAttrCase<"kXor", 3, "xor">,
  I32EnumAttrCase<"kAdd", 4, "add">, I32EnumAttrCase<"kFadd", 5, "fadd">, I32EnumAttrCase<"kMax", 6, "max">,
  I32EnumAttrCase<"kMin", 7, "min">, I32EnumAttrCase<"kUmax", 8, "umax">, I32EnumAttrCase<"kUmin", 9, "umin">,
  I32EnumAttrCase<"kXchg", 10, "exch">]>;
def TT_DescriptorReduceKind : TT_Enum<"DescriptorReduceKind", "operation of a reducing store", [
  I32EnumAttrCase<"kAdd", 1, "add">, I32EnumAttrCase<"kMin", 2, "min">, I32EnumAttrCase<"kMax", 3, "max">,
  I32EnumAttrCase<"kInc", 4, "inc">, I32EnumAttrCase<"kDec", 5, "dec">, I32EnumAttrCase<"kAnd", 6, "and">,
  I32EnumAttrCase<"kOr", 7, "or">, I32EnumAttrCase<"kXor", 8, "xor">]>;
def TT_ProgramDim : TT_Enum<"ProgramDim", "dimension of the launch grid", [
  I32EnumAttrCase<"kX", 0, "x">, I32EnumAttrCase<"kY", 1, "y">, I32EnumAttrCase<"kZ", 2, "z">]>;
def TT_RoundingMode : TT_Enum<"RoundingMode", "rounding of a float conversion", [
  I32EnumAttrCase<"kRtz", 0, "rtz">, I32EnumAttrCase<"kRtne", 1, "rtne">]>;
def TT_PropagateNan : TT_Enum<"PropagateNan", "whether a NaN operand makes the result NaN", [
  I32EnumAttrCase<"kNone", 0, "none">, I32EnumAttrCase<"kAll", 0xFFFF, "all">]>;
def TT_InputPrecision : TT_Enum<"InputPrecision", "how f32 dot operands are rounded", [
  I32EnumAttrCase<"kTf32", 0, "tf32">, I32EnumAttrCase<"kTf32x3", 1, "tf32x3">, I32EnumAttrCase<"kIeee", 2, "ieee">,
  I32EnumAttrCase<"kBf16x3", 3, "bf16x3">, I32EnumAttrCase<"kBf16x6", 4, "bf16x6">]>;
def TT_ScaleDotElemType : TT_Enum<"ScaleDotElemType", "element format of a microscaled dot operand", [
  I32EnumAttrCase<"kE4M3", 0, "e4m3">, I32EnumAttrCase<"kE5M2", 1, "e5m2">, I32EnumAttrCase<"kE2M3", 2, "e2m3">,
  I32EnumAttrCase<"kE3M2", 3, "e3m2">, I32EnumAttrCase<"kE2M1", 4, "e2m1">, I32EnumAttrCase<"kBf16", 5, "bf16">,
  I32EnumAttrCase<"kFp16", 6, "fp16">]>;

//===-- Types -----------------------------------------------------------------------------------------------------===//

class TT_TypeDef<string name, string keyword> : TypeDef<TT_Dialect, name> { let mnemonic = keyword; }

def TT_PtrType : TT_TypeDef<"Ptr", "ptr"> {
  let summary = "a pointer to a scalar, or to a block of a tensor in memory (block pointer)";
  let parameters = (ins "::mlir::Type":$pointeeType, DefaultValuedParameter<"int", "1">:$addressSpace);
  let assemblyFormat = "`<` $pointeeType (`,` $addressSpace^)? `>`";
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointee), [{
    return $_get(pointee.getContext(), pointee, 1);
  }]>];
  let genVerifyDecl = 1;
}

def TT_TensorDescType : TT_TypeDef<"TensorDesc", "tensordesc"> {
  let summary = "a descriptor of a tensor in global memory, accessed block by block";
  let description = "Written `<64x64xf16>` or, as releases 3.3 to 3.7 print it, `<tensor<64x64xf16>>`; printed as the latter.";
  let parameters = (ins "::mlir::RankedTensorType":$blockType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===-- Operand constraints: T or a tensor of T -------------------------------------------------------------------===//

def TT_Ptr : DialectType<TT_Dialect, CPred<"::llvm::isa<::tritond::tt::PtrType>($_self)">, "pointer",
                         "::tritond::tt::PtrType">;
class TT_TensorOf<Type element> : ContainerType<element, CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">,
    "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()", "ranked tensor", "::mlir::RankedTensorType">;

def TT_Float : TypeConstraint<AnyFloat.predicate, "floating point">;
def TT_Int : TypeConstraint<AnySignlessInteger.predicate, "integer">;
def TT_FloatTensor : TT_TensorOf<AnyFloat>;
def TT_IntTensor : TT_TensorOf<AnySignlessInteger>;
def TT_BoolTensor : TT_TensorOf<I1>;
def TT_PtrTensor : TT_TensorOf<TT_Ptr>;
def TT_Element : AnyTypeOf<[AnyFloat, AnySignlessInteger, TT_Ptr]>;
def TT_Tensor : TT_TensorOf<TT_Element>;
def TT_FpIntTensor : TT_TensorOf<AnyTypeOf<[AnyFloat, AnySignlessInteger]>>;
def TT_TensorDesc : DialectType<TT_Dialect, CPred<"::llvm::isa<::tritond::tt::TensorDescType>($_self)">,
                                "tensor descriptor", "::tritond::tt::TensorDescType">;

def TT_FloatLike : AnyTypeOf<[AnyFloat, TT_FloatTensor]>;
def TT_IntLike : AnyTypeOf<[AnySignlessInteger, TT_IntTensor]>;
def TT_BoolLike : AnyTypeOf<[I1, TT_BoolTensor]>;
def TT_I64Like : AnyTypeOf<[I64, TT_TensorOf<I64>]>;
def TT_PtrLike : AnyTypeOf<[TT_Ptr, TT_PtrTensor]>;
def TT_Type : AnyTypeOf<[AnyFloat, AnySignlessInteger, TT_Ptr, TT_Tensor]>;

#endif  // COMPILER_IR_TT_TYPES_TD_
