// SPDX-License-Identifier: Apache-2.0
// Faults in warp-specialised kernels, as planted_faults_test.cc has them.
#include "tests/conformance/planted_fault.h"

namespace tritond::conformance {
namespace {

// Of all, in "iterations" and "multibuffer"; the default region's; those of the partitions. Calls come in the order of
// the text: at the start, at the join, before the return, where workers wait, and where they are done.
constexpr char kOfAll[] = "aligned.count(i32 1, i32 256)", kOfFunction[] = "aligned.count(i32 0, i32 128)";
constexpr char kOfReduction[] = "aligned.count(i32 3, i32 64)";
constexpr char kWait[] = "mbarrier.try_wait.parity.shared::cta.b64 p, [$1], $2;", kOver[] = "setp.eq.u32 p, 0, 0;";
constexpr char kArrive[] = "mbarrier.arrive";

constexpr Fault kFaults[] = {
    // Starting and joining.
    {"StartedWithoutWaiting", "iterations", kOfAll, kDrop, 0},
    {"NotWaitedForAtTheJoin", "iterations", kOfAll, kDrop, 1},
    {"NotDismissed", "iterations", "store i32 0, ptr addrspace(3)", kDrop},
    {"OtherPartitionsStarted", "iterations", "store i32 1, ptr addrspace(3)", "store i32 2, ptr addrspace(3)"},
    {"SecondStartedAsFirst", "transposes", "store i32 2, ptr addrspace(3)", "store i32 1, ptr addrspace(3)"},
    {"FewerThreadsAtTheStart", "iterations", kOfAll, "aligned.count(i32 1, i32 224)", 0},
    {"WaitForOtherBarrierAtTheJoin", "iterations", kOfAll, "aligned.count(i32 2, i32 256)", 1},
    {"WorkersDoNotWait", "multibuffer", kOfAll, kDrop, 3},
    // Captures.
    {"LostCapture", "iterations", "store i32 %16, ptr addrspace(3)", kDrop},
    {"OtherCapture", "iterations",
     "load i32, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 544)",
     "load i32, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 576)"},
    {"CaptureOverlapsABuffer", "iterations", "@global_smem, i32 576)", "@global_smem, i32 256)"},
    // Which warps do what.
    {"WorkersBeginOneWarpLater", "iterations", "icmp ult i32 %7, 4", "icmp ult i32 %7, 5"},
    {"PartitionOnNoWarp", "iterations", "icmp eq i32 %28, 6", "icmp eq i32 %28, 9"},
    {"PartitionOnTooFewWarps", "iterations", "icmp ult i32 %29, 2", "icmp ult i32 %29, 1"},
    {"ThreadsFromAnotherBase", "iterations", "%74 = add nsw i32 %73, -4", "%74 = add nsw i32 %73, -5"},
    {"LaneOfAnotherThread", "iterations", "(i32 -1, i32 %5, i32 %33, i32 31)", "(i32 -1, i32 %5, i32 0, i32 31)", 0},
    // Barriers of partitions.
    {"NoBarrierInAPartition", "iterations", kOfReduction, kDrop},
    {"BarrierOfAnotherPartition", "transposes", "aligned.count(i32 3, i32 64)", "aligned.count(i32 2, i32 64)", 0},
    {"BarrierOfTooManyThreads", "iterations", kOfReduction, "aligned.count(i32 3, i32 96)"},
    {"BarrierOfTooFewThreads", "iterations", kOfReduction, "aligned.count(i32 3, i32 32)"},
    {"BarrierOfAllThreads", "multibuffer", kOfFunction, "aligned.count(i32 0, i32 256)"},
    {"NoBarrierOfTheFunction", "transposes", kOfFunction, kDrop, 0},
    // Shared memory.
    {"ScratchOverlapsABuffer", "iterations", "@global_smem, i32 592)", "@global_smem, i32 0)"},
    // Registers.
    {"MoreIsLess", "products", "setmaxnreg.dec.sync.aligned.u32(i32 40)", "setmaxnreg.inc.sync.aligned.u32(i32 40)", 0},
    {"LessIsMore", "products", "setmaxnreg.inc.sync.aligned.u32(i32 232)", "setmaxnreg.dec.sync.aligned.u32(i32 232)",
     1},
    // mbarriers: the default region waits for the producer, and the producer for it.
    {"NoWaitForTheProducer", "multibuffer", kWait, kOver, 0},
    {"NoWaitForTheConsumer", "multibuffer", kWait, kOver, 1},
    {"NoArrivalOfTheConsumer", "multibuffer", kArrive, kDrop, 0},
    {"NoArrivalOfTheProducer", "multibuffer", kArrive, kDrop, 1},
    {"ArrivalBeforeAllHaveRead", "multibuffer", kOfFunction, kDrop},
    {"ArrivalByNobody", "multibuffer", "%12 = icmp eq i32 %11, 0", "%12 = icmp eq i32 %11, -1"},
    {"WaitForAnotherSlot", "multibuffer",
     "getelementptr i64, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 1104), i32 %21",
     "getelementptr i64, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 1104), i32 0"},
    {"CopiesNotWaitedFor", "copies", "cp.async.mbarrier.arrive", kDrop},
    {"ArrivalBeforeTheCopies", "copies", "cp.async.mbarrier.arrive.noinc", "mbarrier.arrive"},
    {"CopiesCountTwice", "copies", "arrive.noinc.shared", "arrive.shared"},
    {"UsedBeforeItIsMade", "multibuffer", "mbarrier.init.shared::cta.b64", kDrop, 0},
    // Bulk copies of tiles.
    {"NoWaitForTheTile", "tiles", kWait, kOver, 0},
    {"FewerBytesThanTheTile", "tiles", "16384;", "8192;"},
    {"MoreBytesThanTheTile", "tiles", "16384;", "32768;"},
    {"NoFenceBeforeTheStore", "tiles", "call void @llvm.nvvm.fence.proxy.async.shared_cta", kDrop},
    {"NoWaitForTheStore", "tiles", "call void @llvm.nvvm.cp.async.bulk.wait.group", kDrop},
    {"StoreBeforeAllHaveWritten", "tiles", kOfFunction, kDrop, 2},
    {"BoxOfMoreRows", "tiles", "box_dim.global.b1024.b32 [$0], 1, $4;", "box_dim.global.b1024.b32 [$0], 1, $5;"},
    {"TileWithoutSwizzle", "tiles", "swizzle_mode.global.b1024.b32 [$0], 3;", "swizzle_mode.global.b1024.b32 [$0], 0;",
     0},
    // The path of wgmma to shared memory.
    {"NoFenceOfTheProducer", "products", "call void @llvm.nvvm.fence.proxy.async.shared_cta", kDrop, 4},
    {"NoWaitBeforeProducts", "products", kWait, kOver, 1},
};

class PlantedPartitionFault : public testing::TestWithParam<Fault> {};

TEST_P(PlantedPartitionFault, IsFound) { ExpectFound(GetParam(), PartitionKernels); }

INSTANTIATE_TEST_SUITE_P(Faults, PlantedPartitionFault, testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(PartitionKernels, AreRightWithoutAFault) { ExpectRight(PartitionKernels); }

}  // namespace
}  // namespace tritond::conformance
