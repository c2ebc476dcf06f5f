// SPDX-License-Identifier: Apache-2.0
// From the "SPIR-V Specification", 3 "Binary Form", the specifications of its extensions, and the "OpenCL Extended
// Instruction Set Specification".
#include "compiler/targets/intel/spirv_grammar.h"

#include <map>
#include <utility>

namespace tritond::compiler::intel {
namespace {

// clang-format off
constexpr Instruction kInstructions[] = {
    {0, "Nop", ""}, {1, "Undef", "tr"}, {3, "Source", "lni?s?"}, {4, "SourceExtension", "s"}, {5, "Name", "is"},
    {6, "MemberName", "ins"}, {7, "String", "rs"}, {8, "Line", "inn"}, {10, "Extension", "s"},
    {11, "ExtInstImport", "rs"}, {12, "ExtInst", "trixi*"}, {14, "MemoryModel", "AM"}, {15, "EntryPoint", "Eisi*"},
    {16, "ExecutionMode", "iX"}, {17, "Capability", "C"}, {19, "TypeVoid", "r"}, {20, "TypeBool", "r"},
    {21, "TypeInt", "rnn"}, {22, "TypeFloat", "rn"}, {23, "TypeVector", "rin"}, {28, "TypeArray", "rii"},
    {30, "TypeStruct", "ri*"}, {31, "TypeOpaque", "rs"}, {32, "TypePointer", "rSi"}, {33, "TypeFunction", "rii*"},
    {34, "TypeEvent", "r"}, {41, "ConstantTrue", "tr"}, {42, "ConstantFalse", "tr"}, {43, "Constant", "trw"},
    {44, "ConstantComposite", "tri*"}, {46, "ConstantNull", "tr"}, {54, "Function", "trFi"},
    {55, "FunctionParameter", "tr"}, {56, "FunctionEnd", ""}, {57, "FunctionCall", "trii*"},
    {59, "Variable", "trSi?"}, {61, "Load", "trim?"}, {62, "Store", "iim?"}, {63, "CopyMemory", "iim?m?"},
    {64, "CopyMemorySized", "iiim?m?"}, {65, "AccessChain", "trii*"}, {66, "InBoundsAccessChain", "trii*"},
    {67, "PtrAccessChain", "triii*"}, {69, "GenericPtrMemSemantics", "tri"}, {70, "InBoundsPtrAccessChain", "triii*"},
    {71, "Decorate", "iD"}, {72, "MemberDecorate", "inD"}, {77, "VectorExtractDynamic", "trii"},
    {78, "VectorInsertDynamic", "triii"}, {79, "VectorShuffle", "triin*"}, {80, "CompositeConstruct", "tri*"},
    {81, "CompositeExtract", "trin*"}, {82, "CompositeInsert", "triin*"}, {83, "CopyObject", "tri"},
    {84, "Transpose", "tri"}, {109, "ConvertFToU", "tri"}, {110, "ConvertFToS", "tri"}, {111, "ConvertSToF", "tri"},
    {112, "ConvertUToF", "tri"}, {113, "UConvert", "tri"}, {114, "SConvert", "tri"}, {115, "FConvert", "tri"},
    {116, "QuantizeToF16", "tri"}, {117, "ConvertPtrToU", "tri"}, {118, "SatConvertSToU", "tri"},
    {119, "SatConvertUToS", "tri"}, {120, "ConvertUToPtr", "tri"}, {121, "PtrCastToGeneric", "tri"},
    {122, "GenericCastToPtr", "tri"}, {123, "GenericCastToPtrExplicit", "triS"}, {124, "Bitcast", "tri"},
    {126, "SNegate", "tri"}, {127, "FNegate", "tri"}, {128, "IAdd", "trii"}, {129, "FAdd", "trii"},
    {130, "ISub", "trii"}, {131, "FSub", "trii"}, {132, "IMul", "trii"}, {133, "FMul", "trii"}, {134, "UDiv", "trii"},
    {135, "SDiv", "trii"}, {136, "FDiv", "trii"}, {137, "UMod", "trii"}, {138, "SRem", "trii"}, {139, "SMod", "trii"},
    {140, "FRem", "trii"}, {141, "FMod", "trii"}, {142, "VectorTimesScalar", "trii"}, {148, "Dot", "trii"},
    {149, "IAddCarry", "trii"}, {150, "ISubBorrow", "trii"}, {151, "UMulExtended", "trii"},
    {152, "SMulExtended", "trii"}, {154, "Any", "tri"}, {155, "All", "tri"}, {156, "IsNan", "tri"},
    {157, "IsInf", "tri"}, {158, "IsFinite", "tri"}, {159, "IsNormal", "tri"}, {160, "SignBitSet", "tri"},
    {161, "LessOrGreater", "trii"}, {162, "Ordered", "trii"}, {163, "Unordered", "trii"},
    {164, "LogicalEqual", "trii"}, {165, "LogicalNotEqual", "trii"}, {166, "LogicalOr", "trii"},
    {167, "LogicalAnd", "trii"}, {168, "LogicalNot", "tri"}, {169, "Select", "triii"}, {170, "IEqual", "trii"},
    {171, "INotEqual", "trii"}, {172, "UGreaterThan", "trii"}, {173, "SGreaterThan", "trii"},
    {174, "UGreaterThanEqual", "trii"}, {175, "SGreaterThanEqual", "trii"}, {176, "ULessThan", "trii"},
    {177, "SLessThan", "trii"}, {178, "ULessThanEqual", "trii"}, {179, "SLessThanEqual", "trii"},
    {180, "FOrdEqual", "trii"}, {181, "FUnordEqual", "trii"}, {182, "FOrdNotEqual", "trii"},
    {183, "FUnordNotEqual", "trii"}, {184, "FOrdLessThan", "trii"}, {185, "FUnordLessThan", "trii"},
    {186, "FOrdGreaterThan", "trii"}, {187, "FUnordGreaterThan", "trii"}, {188, "FOrdLessThanEqual", "trii"},
    {189, "FUnordLessThanEqual", "trii"}, {190, "FOrdGreaterThanEqual", "trii"},
    {191, "FUnordGreaterThanEqual", "trii"}, {194, "ShiftRightLogical", "trii"},
    {195, "ShiftRightArithmetic", "trii"}, {196, "ShiftLeftLogical", "trii"}, {197, "BitwiseOr", "trii"},
    {198, "BitwiseXor", "trii"}, {199, "BitwiseAnd", "trii"}, {200, "Not", "tri"}, {201, "BitFieldInsert", "triiii"},
    {202, "BitFieldSExtract", "triii"}, {203, "BitFieldUExtract", "triii"}, {204, "BitReverse", "tri"},
    {205, "BitCount", "tri"}, {224, "ControlBarrier", "iii"}, {225, "MemoryBarrier", "ii"},
    {227, "AtomicLoad", "triii"}, {228, "AtomicStore", "iiii"}, {229, "AtomicExchange", "triiii"},
    {230, "AtomicCompareExchange", "triiiiii"}, {231, "AtomicCompareExchangeWeak", "triiiiii"},
    {232, "AtomicIIncrement", "triii"}, {233, "AtomicIDecrement", "triii"}, {234, "AtomicIAdd", "triiii"},
    {235, "AtomicISub", "triiii"}, {236, "AtomicSMin", "triiii"}, {237, "AtomicUMin", "triiii"},
    {238, "AtomicSMax", "triiii"}, {239, "AtomicUMax", "triiii"}, {240, "AtomicAnd", "triiii"},
    {241, "AtomicOr", "triiii"}, {242, "AtomicXor", "triiii"}, {245, "Phi", "trii*"}, {246, "LoopMerge", "iio"},
    {247, "SelectionMerge", "ic"}, {248, "Label", "r"}, {249, "Branch", "i"}, {250, "BranchConditional", "iiin*"},
    {253, "Return", ""}, {254, "ReturnValue", "i"}, {255, "Unreachable", ""}, {256, "LifetimeStart", "in"},
    {257, "LifetimeStop", "in"}, {261, "GroupAll", "trii"}, {262, "GroupAny", "trii"},
    {263, "GroupBroadcast", "triii"}, {264, "GroupIAdd", "triGi"}, {265, "GroupFAdd", "triGi"},
    {266, "GroupFMin", "triGi"}, {267, "GroupUMin", "triGi"}, {268, "GroupSMin", "triGi"},
    {269, "GroupFMax", "triGi"}, {270, "GroupUMax", "triGi"}, {271, "GroupSMax", "triGi"}, {317, "NoLine", ""},
    {330, "ModuleProcessed", "s"}, {331, "ExecutionModeId", "iX"}, {332, "DecorateId", "iD"},
    {333, "GroupNonUniformElect", "tri"}, {337, "GroupNonUniformBroadcast", "triii"},
    {345, "GroupNonUniformShuffle", "triii"}, {346, "GroupNonUniformShuffleXor", "triii"},
    {400, "CopyLogical", "tri"}, {401, "PtrEqual", "trii"}, {402, "PtrNotEqual", "trii"}, {403, "PtrDiff", "trii"},
    {5575, "SubgroupBlockReadINTEL", "tri"}, {5576, "SubgroupBlockWriteINTEL", "ii"},
    {6035, "AtomicFAddEXT", "triiii"}, {6116, "ConvertFToBF16INTEL", "tri"}, {6117, "ConvertBF16ToFINTEL", "tri"},
};

constexpr Enumerant kEnumerants[] = {
    {'f', "None", 0, ""}, {'f', "NotNaN", 1, ""}, {'f', "NotInf", 2, ""}, {'f', "NSZ", 4, ""},
    {'f', "AllowRecip", 8, ""}, {'f', "Fast", 16, ""}, {'f', "AllowContractFastINTEL", 65536, ""},
    {'f', "AllowReassocINTEL", 131072, ""}, {'c', "None", 0, ""}, {'c', "Flatten", 1, ""},
    {'c', "DontFlatten", 2, ""}, {'o', "None", 0, ""}, {'o', "Unroll", 1, ""}, {'o', "DontUnroll", 2, ""},
    {'F', "None", 0, ""}, {'F', "Inline", 1, ""}, {'F', "DontInline", 2, ""}, {'F', "Pure", 4, ""},
    {'F', "Const", 8, ""}, {'F', "OptNoneINTEL", 65536, ""}, {'m', "None", 0, ""}, {'m', "Volatile", 1, ""},
    {'m', "Aligned", 2, "n"}, {'m', "Nontemporal", 4, ""}, {'m', "MakePointerAvailable", 8, "i"},
    {'m', "MakePointerVisible", 16, "i"}, {'m', "NonPrivatePointer", 32, ""},
    {'m', "AliasScopeINTELMask", 65536, "i"}, {'m', "NoAliasINTELMask", 131072, "i"}, {'l', "Unknown", 0, ""},
    {'l', "OpenCL_C", 3, ""}, {'l', "OpenCL_CPP", 4, ""}, {'E', "Kernel", 6, ""}, {'A', "Logical", 0, ""},
    {'A', "Physical32", 1, ""}, {'A', "Physical64", 2, ""}, {'A', "PhysicalStorageBuffer64", 5348, ""},
    {'M', "Simple", 0, ""}, {'M', "GLSL450", 1, ""}, {'M', "OpenCL", 2, ""}, {'M', "Vulkan", 3, ""},
    {'X', "LocalSize", 17, "nnn"}, {'X', "LocalSizeHint", 18, "nnn"}, {'X', "VecTypeHint", 30, "n"},
    {'X', "ContractionOff", 31, ""}, {'X', "SubgroupSize", 35, "n"}, {'X', "SubgroupsPerWorkgroup", 36, "n"},
    {'X', "DenormPreserve", 4459, "n"}, {'X', "DenormFlushToZero", 4460, "n"},
    {'X', "SignedZeroInfNanPreserve", 4461, "n"}, {'X', "RoundingModeRTE", 4462, "n"},
    {'X', "RoundingModeRTZ", 4463, "n"}, {'S', "UniformConstant", 0, ""}, {'S', "Input", 1, ""},
    {'S', "Workgroup", 4, ""}, {'S', "CrossWorkgroup", 5, ""}, {'S', "Private", 6, ""}, {'S', "Function", 7, ""},
    {'S', "Generic", 8, ""}, {'R', "RTE", 0, ""}, {'R', "RTZ", 1, ""}, {'R', "RTP", 2, ""}, {'R', "RTN", 3, ""},
    {'L', "Export", 0, ""}, {'L', "Import", 1, ""}, {'L', "LinkOnceODR", 2, ""}, {'P', "Zext", 0, ""},
    {'P', "Sext", 1, ""}, {'P', "ByVal", 2, ""}, {'P', "Sret", 3, ""}, {'P', "NoAlias", 4, ""},
    {'P', "NoCapture", 5, ""}, {'P', "NoWrite", 6, ""}, {'P', "NoReadWrite", 7, ""},
    {'P', "RuntimeAlignedINTEL", 5940, ""}, {'D', "RelaxedPrecision", 0, ""}, {'D', "CPacked", 10, ""},
    {'D', "BuiltIn", 11, "B"}, {'D', "Restrict", 19, ""}, {'D', "Aliased", 20, ""}, {'D', "Volatile", 21, ""},
    {'D', "Constant", 22, ""}, {'D', "Coherent", 23, ""}, {'D', "NonWritable", 24, ""}, {'D', "NonReadable", 25, ""},
    {'D', "SaturatedConversion", 28, ""}, {'D', "FuncParamAttr", 38, "P"}, {'D', "FPRoundingMode", 39, "R"},
    {'D', "FPFastMathMode", 40, "f"}, {'D', "LinkageAttributes", 41, "sL"}, {'D', "NoContraction", 42, ""},
    {'D', "Alignment", 44, "n"}, {'D', "MaxByteOffset", 45, "n"}, {'D', "NoSignedWrap", 4469, ""},
    {'D', "NoUnsignedWrap", 4470, ""}, {'B', "NumWorkgroups", 24, ""}, {'B', "WorkgroupSize", 25, ""},
    {'B', "WorkgroupId", 26, ""}, {'B', "LocalInvocationId", 27, ""}, {'B', "GlobalInvocationId", 28, ""},
    {'B', "LocalInvocationIndex", 29, ""}, {'B', "WorkDim", 30, ""}, {'B', "GlobalSize", 31, ""},
    {'B', "GlobalOffset", 33, ""}, {'B', "SubgroupSize", 36, ""}, {'B', "SubgroupMaxSize", 37, ""},
    {'B', "NumSubgroups", 38, ""}, {'B', "SubgroupId", 40, ""}, {'B', "SubgroupLocalInvocationId", 41, ""},
    {'G', "Reduce", 0, ""}, {'G', "InclusiveScan", 1, ""}, {'G', "ExclusiveScan", 2, ""},
    {'G', "ClusteredReduce", 3, ""}, {'G', "PartitionedReduceNV", 6, ""}, {'G', "PartitionedInclusiveScanNV", 7, ""},
    {'G', "PartitionedExclusiveScanNV", 8, ""}, {'C', "Matrix", 0, ""}, {'C', "Shader", 1, ""},
    {'C', "Addresses", 4, ""}, {'C', "Linkage", 5, ""}, {'C', "Kernel", 6, ""}, {'C', "Vector16", 7, ""},
    {'C', "Float16Buffer", 8, ""}, {'C', "Float16", 9, ""}, {'C', "Float64", 10, ""}, {'C', "Int64", 11, ""},
    {'C', "Int64Atomics", 12, ""}, {'C', "Groups", 18, ""}, {'C', "Int16", 22, ""}, {'C', "GenericPointer", 38, ""},
    {'C', "Int8", 39, ""}, {'C', "SubgroupDispatch", 58, ""}, {'C', "GroupNonUniform", 61, ""},
    {'C', "GroupNonUniformVote", 62, ""}, {'C', "GroupNonUniformArithmetic", 63, ""},
    {'C', "GroupNonUniformBallot", 64, ""}, {'C', "GroupNonUniformShuffle", 65, ""},
    {'C', "GroupNonUniformShuffleRelative", 66, ""}, {'C', "DenormPreserve", 4464, ""},
    {'C', "SignedZeroInfNanPreserve", 4466, ""}, {'C', "RoundingModeRTE", 4467, ""},
    {'C', "SubgroupShuffleINTEL", 5568, ""}, {'C', "SubgroupBufferBlockIOINTEL", 5569, ""},
    {'C', "ExpectAssumeKHR", 5629, ""}, {'C', "AtomicFloat32AddEXT", 6033, ""},
    {'C', "AtomicFloat64AddEXT", 6034, ""}, {'C', "OptNoneINTEL", 6094, ""},
    {'C', "BFloat16ConversionINTEL", 6115, ""},
};

constexpr struct {
  uint32_t number;
  const char* name;
} kOpenCl[] = {
    {0, "acos"}, {1, "acosh"}, {2, "acospi"}, {3, "asin"}, {4, "asinh"}, {5, "asinpi"}, {6, "atan"}, {7, "atan2"},
    {8, "atanh"}, {9, "atanpi"}, {10, "atan2pi"}, {11, "cbrt"}, {12, "ceil"}, {13, "copysign"}, {14, "cos"},
    {15, "cosh"}, {16, "cospi"}, {17, "erfc"}, {18, "erf"}, {19, "exp"}, {20, "exp2"}, {21, "exp10"}, {22, "expm1"},
    {23, "fabs"}, {24, "fdim"}, {25, "floor"}, {26, "fma"}, {27, "fmax"}, {28, "fmin"}, {29, "fmod"}, {30, "fract"},
    {31, "frexp"}, {32, "hypot"}, {33, "ilogb"}, {34, "ldexp"}, {35, "lgamma"}, {36, "lgamma_r"}, {37, "log"},
    {38, "log2"}, {39, "log10"}, {40, "log1p"}, {41, "logb"}, {42, "mad"}, {43, "maxmag"}, {44, "minmag"},
    {45, "modf"}, {46, "nan"}, {47, "nextafter"}, {48, "pow"}, {49, "pown"}, {50, "powr"}, {51, "remainder"},
    {52, "remquo"}, {53, "rint"}, {54, "rootn"}, {55, "round"}, {56, "rsqrt"}, {57, "sin"}, {58, "sincos"},
    {59, "sinh"}, {60, "sinpi"}, {61, "sqrt"}, {62, "tan"}, {63, "tanh"}, {64, "tanpi"}, {65, "tgamma"},
    {66, "trunc"}, {67, "half_cos"}, {68, "half_divide"}, {69, "half_exp"}, {70, "half_exp2"}, {71, "half_exp10"},
    {72, "half_log"}, {73, "half_log2"}, {74, "half_log10"}, {75, "half_powr"}, {76, "half_recip"},
    {77, "half_rsqrt"}, {78, "half_sin"}, {79, "half_sqrt"}, {80, "half_tan"}, {81, "native_cos"},
    {82, "native_divide"}, {83, "native_exp"}, {84, "native_exp2"}, {85, "native_exp10"}, {86, "native_log"},
    {87, "native_log2"}, {88, "native_log10"}, {89, "native_powr"}, {90, "native_recip"}, {91, "native_rsqrt"},
    {92, "native_sin"}, {93, "native_sqrt"}, {94, "native_tan"}, {95, "fclamp"}, {96, "degrees"}, {97, "fmax_common"},
    {98, "fmin_common"}, {99, "mix"}, {100, "radians"}, {101, "step"}, {102, "smoothstep"}, {103, "sign"},
    {104, "cross"}, {105, "distance"}, {106, "length"}, {107, "normalize"}, {108, "fast_distance"},
    {109, "fast_length"}, {110, "fast_normalize"}, {141, "s_abs"}, {142, "s_abs_diff"}, {143, "s_add_sat"},
    {144, "u_add_sat"}, {145, "s_hadd"}, {146, "u_hadd"}, {147, "s_rhadd"}, {148, "u_rhadd"}, {149, "s_clamp"},
    {150, "u_clamp"}, {151, "clz"}, {152, "ctz"}, {153, "s_mad_hi"}, {154, "u_mad_sat"}, {155, "s_mad_sat"},
    {156, "s_max"}, {157, "u_max"}, {158, "s_min"}, {159, "u_min"}, {160, "s_mul_hi"}, {161, "rotate"},
    {162, "s_sub_sat"}, {163, "u_sub_sat"}, {164, "u_upsample"}, {165, "s_upsample"}, {166, "popcount"},
    {167, "s_mad24"}, {168, "u_mad24"}, {169, "s_mul24"}, {170, "u_mul24"}, {171, "vloadn"}, {172, "vstoren"},
    {173, "vload_half"}, {174, "vload_halfn"}, {175, "vstore_half"}, {176, "vstore_half_r"}, {177, "vstore_halfn"},
    {178, "vstore_halfn_r"}, {179, "vloada_halfn"}, {180, "vstorea_halfn"}, {181, "vstorea_halfn_r"},
    {182, "shuffle"}, {183, "shuffle2"}, {184, "printf"}, {185, "prefetch"}, {186, "bitselect"}, {187, "select"},
    {201, "u_abs"}, {202, "u_abs_diff"}, {203, "u_mul_hi"}, {204, "u_mad_hi"},
};
// clang-format on

template <typename Key, typename Table, typename KeyOf>
std::map<Key, const std::remove_extent_t<Table>*> Index(const Table& table, KeyOf key_of) {
  std::map<Key, const std::remove_extent_t<Table>*> index;
  for (const auto& row : table) index.emplace(key_of(row), &row);
  return index;
}

template <typename Map, typename Key>
auto Find(const Map& map, const Key& key) -> typename Map::mapped_type {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second;
}

}  // namespace

const Instruction* FindInstruction(uint32_t opcode) {
  static const auto* index =
      new auto(Index<uint32_t>(kInstructions, [](const Instruction& row) { return row.opcode; }));
  return Find(*index, opcode);
}

const Instruction* FindInstruction(absl::string_view name) {
  static const auto* index =
      new auto(Index<absl::string_view>(kInstructions, [](const Instruction& row) { return row.name; }));
  return Find(*index, name);
}

const Enumerant* FindEnumerant(char kind, uint32_t value) {
  using Key = std::pair<char, uint32_t>;
  static const auto* index =
      new auto(Index<Key>(kEnumerants, [](const Enumerant& row) { return Key(row.kind, row.value); }));
  return Find(*index, Key(kind, value));
}

const Enumerant* FindEnumerant(char kind, absl::string_view name) {
  using Key = std::pair<char, absl::string_view>;
  static const auto* index =
      new auto(Index<Key>(kEnumerants, [](const Enumerant& row) { return Key(row.kind, row.name); }));
  return Find(*index, Key(kind, name));
}

bool IsMask(char kind) { return absl::string_view("mFocf").find(kind) != absl::string_view::npos; }

const char* OpenClInstruction(uint32_t number) {
  for (const auto& row : kOpenCl)
    if (row.number == number) return row.name;
  return nullptr;
}

int64_t OpenClInstruction(absl::string_view name) {
  for (const auto& row : kOpenCl)
    if (row.name == name) return row.number;
  return -1;
}

}  // namespace tritond::compiler::intel
