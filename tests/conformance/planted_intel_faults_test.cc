// SPDX-License-Identifier: Apache-2.0
// Does the emulator of Intel's devices find what it is there for? See planted_faults_test.cc.
#include "tests/conformance/planted_fault.h"

namespace tritond::conformance {
namespace {

constexpr char kBarrier[] = "call spir_func void @_Z22__spirv_ControlBarrierjjj(";
constexpr char kDpas[] = "@_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f";

constexpr char kTransform[] = "@_Z52intel_sub_group_2d_block_read_transform_16b_32r16x1cPU3AS1viiiDv2_iPj";

constexpr Fault kFaults[] = {
    // Operands of DPAS, and how they are packed.
    {"DpasRepeatsRows", "mma", "(<8 x i16> %875, <8 x i32> %817", "(<8 x i16> %785, <8 x i32> %817"},
    {"DpasRepeatsColumns", "mma", "(<8 x i16> %785, <8 x i32> %858", "(<8 x i16> %785, <8 x i32> %817"},
    {"DpasForgetsAccumulators", "mma", "<8 x i32> %817, <8 x float> %825)",
     "<8 x i32> %817, <8 x float> zeroinitializer)"},
    {"DpasOfOtherType", "mma", kDpas, "@_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv8_sDv8_iDv8_f"},
    {"RowsOfASwapped", "mma", "<8 x i16> %784, i16 %553, i64 7", "<8 x i16> %784, i16 %552, i64 7"},
    {"HalvesOfBSwapped", "mma", "<2 x i16> poison, i16 %650, i64 0", "<2 x i16> poison, i16 %652, i64 0"},
    {"WordsOfBSwapped", "mma", "<8 x i32> %811, i32 %794, i64 2", "<8 x i32> %811, i32 %791, i64 2"},
    {"SumsSwapped", "mma", "<8 x float> %818, float %459, i64 1", "<8 x float> %818, float %458, i64 1"},
    {"DpasOfSomeLanes", "mma", "%8 = and i32 %7, 15", "%8 = and i32 %7, 7"},
    // Blocks: where they begin, and the surfaces that they belong to.
    {"BlocksOfOtherRows", "blocks", "<2 x i32> %101, i32 16, i64 1", "<2 x i32> %101, i32 8, i64 1"},
    {"BlocksOfOtherColumns", "blocks", "<2 x i32> poison, i32 %100, i64 0", "<2 x i32> poison, i32 4, i64 0"},
    {"BlocksOfOneSubGroup", "blocks", "(i32 %8, i32 0)", "(i32 0, i32 0)"},
    {"BlocksWithoutTransform", "blocks", kTransform,
     "@_Z43intel_sub_group_2d_block_read_32b_16r16x1cPU3AS1viiiDv2_iPj"},
    {"SurfaceOfAnotherPitch", "blocks", "i32 56, i32 512", "i32 56, i32 528"},
    {"SurfaceOfTooShortAPitch", "blocks", "i32 56, i32 512", "i32 56, i32 64"},
    {"SurfaceOfTooFewRows", "blocks", "i32 56, i32 512", "i32 40, i32 512"},
    {"SurfaceOfAnOddWidth", "blocks", "i32 %96, i32 56", "i32 66, i32 56"},
    {"SurfaceBetweenLines", "blocks", "%gep, i64 %98", "%gep, i64 16"},
    // Prefetches: which blocks, of which iterations, and their surfaces.
    {"PrefetchOfAnIterationTooMany", "prefetches", "ult i64 %indvars.iv, 2", "ult i64 %indvars.iv, 3"},
    {"PrefetchTooFarAhead", "prefetches", "%136 = add nuw nsw i64 %indvars.iv, 2",
     "%136 = add nuw nsw i64 %indvars.iv, 3"},
    {"PrefetchOfColumnsThatAreNotThere", "prefetches", "select i1 %137, i32 64, i32 0",
     "select i1 %137, i32 64, i32 64"},
    {"PrefetchOfAnotherPitch", "prefetches", "i32 %138, i32 512", "i32 %138, i32 520"},
    {"PrefetchOfTooShortAPitch", "prefetches", "i32 %138, i32 512", "i32 %138, i32 48"},
    {"PrefetchOfAnOddWidth", "prefetches", "%148, i32 %145", "%148, i32 66"},
    {"PrefetchBetweenLines", "prefetches", "%gep, i64 %147", "%gep, i64 16"},
    {"PrefetchOfManyLanes", "prefetches", "i32 %141, %143", "i32 %9, %143"},
    // Offsets and swizzles of shared memory.
    {"SwizzleOfWrites", "mma", "%20 = xor i32 %19, %17", "%20 = or i32 %19, %17"},
    {"SwizzleOfReads", "mma", "= xor i32 %22, 8", "= xor i32 %22, 16"},
    {"OffsetOfReads", "mma", "ptr addrspace(3) %127, i64 32", "ptr addrspace(3) %127, i64 64"},
    {"OffsetOfWrites", "mma", "= add nuw nsw i32 %20, 512", "= add nuw nsw i32 %20, 1024"},
    {"TileOfTheOtherOperand", "mma", "%smem, i64 8192", "%smem, i64 4096"},
    {"MisalignedWrites", "mma", "= add nuw nsw i32 %20, 512", "= add nuw nsw i32 %20, 514"},
    // Barriers: whose threads meet, whose accesses they order, and of which memory.
    {"NoBarrierInLoop", "mma", kBarrier, kDrop, 0},
    {"NoBarrierBeforeProducts", "mma", kBarrier, kDrop, 1},
    {"NoBarrierOfASum", "sum", kBarrier, kDrop},
    {"NoBarrierOfAColumn", "column_sum", kBarrier, kDrop, 0},
    {"NoBarrierInAChain", "chain", kBarrier, kDrop, 0},
    {"BarrierOfASubGroup", "mma", "i32 2, i32 2, i32 264", "i32 3, i32 2, i32 264"},
    {"BarrierInTheScopeOfASubGroup", "sum", "i32 2, i32 2, i32 264", "i32 2, i32 3, i32 264"},
    {"BarrierOfGlobalMemory", "sum", "i32 2, i32 2, i32 264", "i32 2, i32 2, i32 520"},
    {"BarrierThatOrdersNothing", "column_sum", "i32 2, i32 2, i32 264", "i32 2, i32 2, i32 256", 0},
    // What lanes exchange.
    {"ReductionOfOtherKind", "sum", "@_Z20sub_group_reduce_addj", "@_Z20sub_group_reduce_maxj"},
    {"ShuffleFromOtherLanes", "scan", "%6, 14", "%6, 13"},
    {"ShuffleByAMask", "scan", "@_Z17sub_group_shufflejj", "@_Z21sub_group_shuffle_xorjj"},
    {"ShuffleBeyondTheSubGroup", "scan", "= and i32 %6, 15", "= and i32 %6, 31"},
    // Masks, and operations on memory.
    {"MaskOneTooFew", "scan", "%7, 161", "%7, 160"},
    {"MaskOneTooMany", "sum", "%11, 160", "%11, 161"},
    {"MaskOfUpdates", "count", "%6, 43", "%6, 44"},
    {"UpdateOfOtherKind", "count", "atomicrmw add", "atomicrmw xchg"},
    {"UpdateOfAWorkGroup", "count", "\"device\"", "\"workgroup\""},
    {"LoadsOfTheNextElements", "transpose", "%0, i64", "%1, i64", 0},
};

class PlantedIntelFault : public testing::TestWithParam<Fault> {};

TEST_P(PlantedIntelFault, IsFound) { ExpectFound(GetParam(), IntelFaultKernels); }

INSTANTIATE_TEST_SUITE_P(Faults, PlantedIntelFault, testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(IntelFaultKernels, AreRightWithoutAFault) { ExpectRight(IntelFaultKernels); }

}  // namespace
}  // namespace tritond::conformance
