// SPDX-License-Identifier: Apache-2.0
// Does the emulator of AMD's devices find what it is there for? See planted_faults_test.cc.
#include "tests/conformance/planted_fault.h"

namespace tritond::conformance {
namespace {

constexpr char kBarrier[] = "call void @llvm.amdgcn.s.barrier()";

constexpr Fault kFaults[] = {
    // Waits for loads to LDS.
    {"NoWait", "copies", "call void @llvm.amdgcn.s.waitcnt(", kDrop},
    {"FirstWaitLeftOut", "copies", "call void @llvm.amdgcn.s.waitcnt(i32 3953)", kDrop},
    {"LastWaitLeftOut", "copies", "call void @llvm.amdgcn.s.waitcnt(i32 3952)", kDrop},
    {"FirstWaitOneLoadLate", "copies", "s.waitcnt(i32 3953)", "s.waitcnt(i32 3954)"},
    {"LastWaitOneLoadLate", "copies", "s.waitcnt(i32 3952)", "s.waitcnt(i32 3953)"},
    {"WaitOfOtherCounter", "copies", "s.waitcnt(i32 3953)", "s.waitcnt(i32 49279)"},
    {"NoBarrierBehindWaits", "copies", kBarrier, kDrop},
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
};

class PlantedAmdFault : public testing::TestWithParam<Fault> {};

TEST_P(PlantedAmdFault, IsFound) { ExpectFound(GetParam(), AmdFaultKernels); }

INSTANTIATE_TEST_SUITE_P(Faults, PlantedAmdFault, testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(AmdFaultKernels, AreRightWithoutAFault) { ExpectRight(AmdFaultKernels); }

}  // namespace
}  // namespace tritond::conformance
