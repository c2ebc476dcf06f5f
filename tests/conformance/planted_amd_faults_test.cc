// SPDX-License-Identifier: Apache-2.0
// Does the emulator of AMD's devices find what it is there for? See planted_faults_test.cc.
#include "tests/conformance/planted_fault.h"

namespace tritond::conformance {
namespace {

constexpr char kBarrier[] = "call void @llvm.amdgcn.s.barrier()";
constexpr char kRelease[] = "fence syncscope(\"workgroup\") release";
constexpr char kAcquire[] = "fence syncscope(\"workgroup\") acquire";

constexpr Fault kFaults[] = {
    // Waits for loads to LDS.
    {"NoWait", "copies", "call void @llvm.amdgcn.s.waitcnt(", kDrop},
    {"FirstWaitLeftOut", "copies", "call void @llvm.amdgcn.s.waitcnt(i32 3953)", kDrop},
    {"LastWaitLeftOut", "copies", "call void @llvm.amdgcn.s.waitcnt(i32 3952)", kDrop},
    {"FirstWaitOneLoadLate", "copies", "s.waitcnt(i32 3953)", "s.waitcnt(i32 3954)"},
    {"LastWaitOneLoadLate", "copies", "s.waitcnt(i32 3952)", "s.waitcnt(i32 3953)"},
    {"WaitOfOtherCounter", "copies", "s.waitcnt(i32 3953)", "s.waitcnt(i32 49279)"},
    {"NoBarrierAfterWaits", "copies", kBarrier, kDrop},
    {"FirstBarrierLeftOut", "copies", kBarrier, kDrop, 0},
    // Where loads to LDS put their data.
    {"LoadsOfFewerBytes", "copies", "i32 16, i32 0, i32 0)", "i32 4, i32 0, i32 0)"},
    {"LoadsToOneWavesPlace", "copies", "shl i32 %wave, 10", "shl i32 %wave, 9"},
    {"LoadsPastTheEnd", "copies", "i32 4096\n  %bytes", "i32 8192\n  %bytes"},
    {"LoadsMisaligned", "copies", "@global_smem, i32 %start", "@global_smem, i32 %tid"},
    {"OffsetOfBoth", "copies", "i32 16, i32 0, i32 0)", "i32 16, i32 16, i32 0)", 0},
    // Buffers.
    {"BufferTooLarge", "buffers", "i64 1000,", "i64 1004,"},
    {"BufferTooSmall", "buffers", "i64 1000,", "i64 996,"},
    {"StoresBeyondTheBuffer", "buffers", "i64 1008,", "i64 1012,"},
    {"StoresTooFew", "buffers", "i64 1008,", "i64 1004,"},
    {"ScalarOffset", "buffers", "%source, i32 %offset, i32 0,", "%source, i32 %offset, i32 4,"},
    {"BufferOfOtherBase", "buffers", "(ptr addrspace(1) %in, i16 0", "(ptr addrspace(1) %out, i16 0"},
    // What lanes exchange.
    {"DppFromTheOtherSide", "buffers", "i32 273,", "i32 257,"},
    {"DppOfOtherDistance", "buffers", "i32 273,", "i32 274,"},
    {"DppRowMask", "buffers", "i32 273, i32 15, i32 15", "i32 273, i32 7, i32 15"},
    {"DppBankMask", "buffers", "i32 273, i32 15, i32 15", "i32 273, i32 15, i32 14"},
    {"DppRotates", "buffers", "i32 273,", "i32 289,"},
    {"DppOfLaterDevices", "buffers", "i32 273,", "i32 353,"},
    {"CountsLowerLanesTwice", "buffers", "mbcnt.hi(i32 -1, i32 %lane)", "mbcnt.lo(i32 -1, i32 %lane)"},
    {"CountsOneHalfOfTheWave", "buffers", "mbcnt.hi(i32 -1, i32 %lane)", "mbcnt.hi(i32 -1, i32 0)"},
    {"ReductionOfTooFewLanes", "split", "i32 360,", "i32 353,"},
    {"ReductionRowMask", "split", "i32 353, i32 15, i32 15", "i32 353, i32 1, i32 15"},
    {"PermLaneOfAnEarlierSum", "split", "i32 0, i32 %s8, i32", "i32 0, i32 %s4, i32"},
    {"ControlOfEarlierDevices", "split", "i32 353,", "i32 322,"},
    // Split barriers.
    {"NoSplitBarrier", "split", "call void @llvm.amdgcn.s.barrier.", kDrop},
    {"SignalLeftOut", "split", "call void @llvm.amdgcn.s.barrier.signal(", kDrop},
    {"NoReleaseBeforeASignal", "split", kRelease, kDrop},
    {"NoAcquireAfterAWait", "split", kAcquire, kDrop},
    // Compiled kernels. Copies of tiles to LDS, and their waits.
    {"StagedWithoutWaits", "staged gfx1250", "call void @llvm.amdgcn.s.wait.asynccnt(", kDrop},
    {"StagedFirstWaitLeftOut", "staged gfx1250", "call void @llvm.amdgcn.s.wait.asynccnt(i16 8)", kDrop, 0},
    {"StagedFirstWaitOneCopyLate", "staged gfx1250", "s.wait.asynccnt(i16 8)", "s.wait.asynccnt(i16 9)", 0},
    {"StagedNextWaitOneGroupLate", "staged gfx1250", "s.wait.asynccnt(i16 8)", "s.wait.asynccnt(i16 16)", 1},
    {"StagedWithoutBarriers", "staged gfx1250", kBarrier, kDrop},
    {"StagedFirstBarrierLeftOut", "staged gfx1250", kBarrier, kDrop, 0},
    {"StagedMaskedReadAnything", "staged gfx1250", ", ptr addrspace(1) @tritond_zeros, !dbg",
     ", ptr addrspace(1) null, !dbg"},
    {"StagedMaskedAreNotZero", "staged gfx1250", "[16 x i8] zeroinitializer", "[16 x i8] c\"<<<<<<<<<<<<<<<<\""},
    {"StagedToAnotherPlace", "staged gfx1250", ", i32 0, i32 0)", ", i32 4096, i32 0)", 0},
    {"StagedPastThePlace", "staged gfx1250", ", i32 0, i32 0)", ", i32 16, i32 0)", 1},
    {"DirectWithoutWaits", "staged gfx950", "call void @llvm.amdgcn.s.waitcnt(i32 3956)", kDrop},
    {"DirectFirstWaitLeftOut", "staged gfx950", "call void @llvm.amdgcn.s.waitcnt(i32 3956)", kDrop, 0},
    {"DirectNextWaitOneGroupLate", "staged gfx950", "s.waitcnt(i32 3956)", "s.waitcnt(i32 3960)", 1},
    {"DirectWaitOneCopyLate", "staged gfx950", "s.waitcnt(i32 3956)", "s.waitcnt(i32 3957)", 0},
    {"DirectFirstBarrierLeftOut", "staged gfx950", kBarrier, kDrop, 0},
    {"DirectBarrierOrdersNothing", "staged gfx950", "call void @llvm.amdgcn.s.waitcnt(i32 49279)", kDrop, 0},
    {"DirectOfOtherLaneStride", "staged gfx950", ", i32 16, i32 0, i32 0)", ", i32 4, i32 0, i32 0)", 0},
    {"DirectPastThePlace", "staged gfx950", ", i32 16, i32 0, i32 0)", ", i32 16, i32 16, i32 0)", 1},
    {"DirectMaskedReadAnything", "staged gfx950", ", ptr addrspace(1) @tritond_zeros, !dbg",
     ", ptr addrspace(1) null, !dbg"},
    {"DirectMaskedAreNotZero", "staged gfx950", "[16 x i8] zeroinitializer", "[16 x i8] c\"<<<<<<<<<<<<<<<<\""},
    // Operands of MFMA and WMMA.
    {"MfmaSwapsOperands", "mma gfx942", "<4 x half> %407, <4 x half> %408", "<4 x half> %408, <4 x half> %407"},
    {"MfmaRepeatsAStep", "mma gfx942", "<4 x half> %413, <4 x half> %414", "<4 x half> %407, <4 x half> %414"},
    {"MfmaForgetsAccumulators", "mma gfx942", "<16 x float> %415, i32 0", "<16 x float> zeroinitializer, i32 0"},
    {"MfmaSwapsElementsOfA", "mma gfx942", "half> %326, <4 x i32> <i32 0, i32 1",
     "half> %326, <4 x i32> <i32 1, i32 0"},
    {"MfmaSwapsAccumulators", "mma gfx942", "<16 x float> %388, float %165, i64 1",
     "<16 x float> %388, float %164, i64 1"},
    {"MfmaBroadcastsA", "mma gfx942", "%403, i32 0, i32 0, i32 0)", "%403, i32 1, i32 0, i32 0)"},
    {"MfmaSwapsRowsOfAProduct", "chain gfx942", "fptrunc float %249 to half", "fptrunc float %250 to half"},
    {"WmmaSwapsOperands", "mma gfx1100", "<16 x half> %972, <16 x half> %988", "<16 x half> %988, <16 x half> %972"},
    {"WmmaRepeatsAColumn", "mma gfx1100", "<16 x half> %972, <16 x half> %1013", "<16 x half> %972, <16 x half> %988"},
    {"WmmaForgetsAccumulators", "mma gfx1100", "<16 x half> %988, <8 x float> %965",
     "<16 x half> %988, <8 x float> zeroinitializer"},
    {"WmmaSwapsElementsOfA", "mma gfx1100", "<16 x half> %975, half %836, i64 3", "<16 x half> %975, half %839, i64 3"},
    {"WmmaSwapsAccumulators", "mma gfx1100", "<8 x float> %958, float %337, i64 1",
     "<8 x float> %958, float %336, i64 1"},
    // Scales of MFMA: which byte of which word, of which lane, and of which operand.
    {"ScaledByteOfTheOtherStep", "scaled", "i32 1, i32 %622, i32 1", "i32 0, i32 %622, i32 1"},
    {"ScaledByteOfBAlone", "scaled", "i32 %622, i32 1, i32 %619", "i32 %622, i32 0, i32 %619"},
    {"ScaledByteThatIsNone", "scaled", "i32 1, i32 %622, i32 1", "i32 2, i32 %622, i32 1"},
    {"ScalesOfTheOtherOperand", "scaled", "i32 %622, i32 0, i32 %619", "i32 %619, i32 0, i32 %622"},
    {"NoScaleOfA", "scaled", "i32 0, i32 %619)", "i32 0, i32 127)"},
    {"NoScales", "scaled", "i32 0, i32 %622, i32 0, i32 %619)", "i32 0, i32 0, i32 0, i32 0)"},
    {"ScaleOfAnotherLane", "scaled", "%597 = shl nuw nsw i32 %49, 2", "%597 = xor i32 %18, 128"},
    {"ScaleOfANeighbour", "scaled", "%410 = add i32 %17, 1", "%410 = add i32 %17, 2"},
    {"ScaledStepForgotten", "scaled", "<4 x float> %671, i32 4", "<4 x float> zeroinitializer, i32 4"},
    {"ScaledFormatOfA", "scaled", "i32 4, i32 0, i32 0", "i32 4, i32 1, i32 0"},
    // The other 16 lanes hold the same operands as the first.
    {"WmmaOfDifferentHalves", "mma gfx1100", "%12 = and i32 %9, 15", "%12 = and i32 %9, 31"},
    // Offsets and swizzles of LDS.
    {"SwizzleOfWrites", "mma gfx942", "%24 = xor i32 %23, %12", "%24 = or i32 %23, %12"},
    {"SwizzleOfReads", "mma gfx942", "= xor i32 %33, 32", "= xor i32 %33, 16"},
    {"SwizzleLeftOut", "mma gfx942", "= xor i32 %35, 8", "= add i32 %35, 0"},
    {"OffsetOfReads", "mma gfx942", "ptr addrspace(3) %102, i32 128", "ptr addrspace(3) %102, i32 256"},
    {"MisalignedReads", "mma gfx942", "= xor i32 %33, 32", "= xor i32 %33, 36"},
    {"TileOfTheOtherOperand", "mma gfx942", "i8, ptr addrspace(3) %88, i32 8192", "i8, ptr addrspace(3) %88, i32 4096"},
    {"SwizzleOfWritesInWave32", "mma gfx1100", "= xor i32 %24, %13", "= or i32 %24, %13"},
    {"SwizzleOfReadsInWave32", "mma gfx1100", "= xor i32 %29, 40", "= xor i32 %29, 24"},
    // Barriers, and the fences that make them order LDS.
    {"NoBarrierMfma", "mma gfx942", kBarrier, kDrop},
    {"NoBarrierInLoop", "mma gfx942", kBarrier, kDrop, 0},
    {"NoBarrierAfterLoop", "mma gfx942", kBarrier, kDrop, 2},
    {"NoBarrierWmma", "mma gfx1100", kBarrier, kDrop, 1},
    {"NoBarrierOfASum", "sum gfx942", kBarrier, kDrop},
    {"NoBarrierOfAColumn", "column_sum gfx1100", kBarrier, kDrop},
    {"NoReleaseBeforeABarrier", "mma gfx942", kRelease, kDrop, 1},
    {"NoReleaseBeforeASum", "sum gfx1100", kRelease, kDrop},
    {"NoAcquireAfterABarrier", "mma gfx1100", kAcquire, kDrop, 1},
    {"ReleaseOfAWave", "sum gfx942", kRelease, "fence syncscope(\"wavefront\") release"},
    {"FencesOfGlobalMemory", "sum gfx942", "\"local\"", "\"global\""},
    // What lanes exchange.
    {"SwizzleOfOtherLanes", "column_sum gfx942", "i32 16415)", "i32 8223)", 0},
    {"PermuteByLanesNotBytes", "column_sum gfx942", "%158 = xor i32 %9, 128", "%158 = xor i32 %7, 32"},
    {"ShiftOfOtherDistance", "sum gfx942", "i32 276,", "i32 275,", 0},
    {"ShiftFromTheOtherSide", "sum gfx942", "i32 280,", "i32 264,", 1},
    {"ShiftOfTheOtherRows", "sum gfx942", "i32 280, i32 15, i32 15", "i32 280, i32 7, i32 15"},
    {"RowTakesTheHalves", "sum gfx942", "i32 322,", "i32 323,", 0},
    {"HalfTakesTheRows", "sum gfx942", "i32 323,", "i32 322,", 2},
    {"LastLaneOfAHalf", "sum gfx942", ", i32 63)", ", i32 31)", 0},
    {"PermLaneOfTheSameRow", "sum gfx1100", "llvm.amdgcn.permlanex16.i32", "llvm.amdgcn.permlane16.i32"},
    {"PermLaneReversed", "column_sum gfx1100", "i32 1985229328, i32 -19088744", "i32 -19088744, i32 1985229328", 0},
    {"XorOfOtherLanes", "sum gfx1100", "i32 356,", "i32 354,", 0},
    {"ScanOfOtherDistance", "scan gfx942", "i32 280,", "i32 279,", 0},
    {"ScanFromTheOtherSide", "scan gfx942", "i32 276,", "i32 260,", 1},
    {"ScanOfSomeRows", "scan gfx942", "i32 274, i32 15, i32 15", "i32 274, i32 7, i32 15", 0},
    {"ScanFromTheOtherSideInWave32", "scan gfx1100", "i32 273,", "i32 257,", 1},
    {"ScanStepTwice", "scan gfx1100", "i32 274,", "i32 273,", 2},
    // Masks, and operations on memory.
    {"MaskOneTooFew", "transpose gfx942", ", 4003", ", 4002"},
    {"MaskOneTooMany", "scan gfx1100", ", 4003", ", 4004"},
    {"MaskOfUpdates", "count gfx942", ", 1003", ", 1004"},
    {"UpdateOfOtherKind", "count gfx1100", "atomicrmw add", "atomicrmw xchg"},
    {"UpdateOfAWorkGroup", "count gfx942", "\"agent\"", "\"workgroup\""},
    {"UpdateOfAWorkGroupOnce", "count gfx1100", "\"agent\"", "\"workgroup\"", 0},
    {"UpdateNotAtomic", "count gfx942",
     "atomicrmw add ptr addrspace(1) %24, i32 %27 syncscope(\"agent\") acq_rel, align 4",
     "load i32, ptr addrspace(1) %24, align 4"},
    {"StoreToOtherRows", "transpose gfx942", "%101, 4096", "%101, 8192"},
    // Buffers that kernels are compiled to.
    {"LeftOutLanesReadTheFirst", "transpose gfx942", "i32 -2147483648", "i32 0"},
    {"LeftOutLanesReadInTheBuffer", "transpose gfx942", "i32 -2147483648", "i32 2147483640"},
    {"LeftOutLanesReadTheFirstInWave32", "scan gfx1100", "i32 -2147483648", "i32 0"},
    {"BufferEndsEarly", "transpose gfx942", "i64 2147483647", "i64 8192"},
    {"BufferOfTheOtherArgument", "transpose gfx942", "(ptr addrspace(1) %0, i16 0", "(ptr addrspace(1) %1, i16 0"},
    {"BufferWithRows", "transpose gfx942", "i16 0, i64 2147483647", "i16 16, i64 2147483647"},
    {"BufferOfNoFormat", "count gfx942", "i32 159744", "i32 0"},
    {"BufferWithoutARange", "scan gfx1100", "i32 822243328", "i32 553807872"},
    {"BufferOffsetOfElements", "count gfx942", "shl i32 %6, 2", "shl i32 %6, 1"},
    {"BufferScalarOffset", "transpose gfx942", "i32 %101, i32 0, i32 0)", "i32 %101, i32 4, i32 0)"},
    {"BufferUpdateSubtracts", "relaxed count gfx942", "buffer.atomic.add", "buffer.atomic.sub"},
    {"BufferUpdateReplaces", "relaxed count gfx1100", "buffer.atomic.add", "buffer.atomic.swap"},
    {"BufferUpdatesOfLeftOutLanes", "relaxed count gfx942", "i32 -2147483648", "i32 0"},
    {"BufferUpdatesOfLeftOutLanesInWave32", "relaxed count gfx1100", "i32 -2147483648", "i32 0"},
    {"BufferUpdatesEndEarly", "relaxed count gfx942", "i64 2147483647", "i64 128"},
    {"BufferUpdatesHaveNoFormat", "relaxed count gfx942", "i32 159744", "i32 0"},
    {"BufferUpdatesWithoutARange", "relaxed count gfx1100", "i32 822243328", "i32 553807872"},
    {"BufferStoresBeyondTheTensor", "transpose gfx942", "%101, 12288", "%101, 12304"},
};

class PlantedAmdFault : public testing::TestWithParam<Fault> {};

TEST_P(PlantedAmdFault, IsFound) { ExpectFound(GetParam(), AmdFaultKernels); }

INSTANTIATE_TEST_SUITE_P(Faults, PlantedAmdFault, testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(AmdFaultKernels, AreRightWithoutAFault) { ExpectRight(AmdFaultKernels); }

}  // namespace
}  // namespace tritond::conformance
