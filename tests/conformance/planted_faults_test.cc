// SPDX-License-Identifier: Apache-2.0
// Does the emulator find what it is there for? Each row plants a fault into the LLVM IR that the compiler made of a
// kernel. A mistake in a pass or in lowering would do the same. The run must then fail, or give other results than the
// host.
#include "tests/conformance/planted_fault.h"

namespace tritond::conformance {
namespace {

// Of the kernels "mbarriers" and "some_lanes": the writers' wait comes first.
constexpr char kWait[] = "mbarrier.try_wait", kSomeLanes[] = "i32 65535";
constexpr char kTensorWait[] = "mbarrier.try_wait.parity.shared::cta.b64 p, [$1], $2;";
constexpr char kBarrier[] = "call void @llvm.nvvm.barrier.cta.sync.aligned.all";
constexpr char kStoreWait[] = "call void @llvm.nvvm.cp.async.bulk.wait.group";
constexpr char kAcquire[] = "fence.proxy.tensormap::generic.acquire";
constexpr char kFence[] = "call void @llvm.nvvm.fence.proxy.async.shared_cta";

constexpr Fault kFaults[] = {
    // Operand layouts.
    {"MmaSwapsRowsOfA", "mma", "{$4, $5, $6, $7}", "{$5, $4, $7, $6}"},
    {"MmaSwapsColumnsOfA", "mma", "{$4, $5, $6, $7}", "{$6, $7, $4, $5}"},
    {"MmaSwapsHalvesOfB", "mma", "{$8, $9}", "{$9, $8}"},
    {"MmaPermutesOneA", "mma", "{$4, $5, $6, $7}", "{$4, $6, $5, $7}", 20},
    {"MmaPermutesAccumulators", "mma", "{$0, $1, $2, $3};", "{$1, $0, $2, $3};", 7},
    {"MmaForgetsAccumulators", "mma", "{$8, $9}, {$0, $1, $2, $3}", "{$8, $9}, {$0, $1, $2, $2}", 30},
    {"MmaOfOtherType", "mma", "f32.f16.f16.f32", "f32.bf16.bf16.f32"},
    {"MatricesNotTransposed", "mma", "x4.trans.b16", "x4.b16"},
    {"MatricesTransposed", "mma", "m8n8.x4.b16", "m8n8.x4.trans.b16", 3},
    {"TurnedTilesNotTransposed", "turn", "x4.trans.b16", "x4.b16"},
    {"OneTurnedTileOfOtherRows", "turn", "x4.trans.b16", "x4.b16", 2},
    {"WgmmaRegistersSwapped", "chain", "{$33, $34, $35, $36}", "{$34, $33, $36, $35}"},
    {"WgmmaColumnsSwapped", "chain", "{$33, $34, $35, $36}", "{$35, $36, $33, $34}", 0},
    {"WgmmaSumsSwapped", "wgmma", "{$0, $1, $2,", "{$1, $0, $2,", 0},
    {"WgmmaBNotTransposed", "wgmma", "add, 1, 1, 0, 1;", "add, 1, 1, 0, 0;"},
    {"WgmmaATransposed", "wgmma", "add, 1, 1, 0, 1;", "add, 1, 1, 1, 1;"},
    {"WgmmaNegatesA", "wgmma", "add, 1, 1, 0, 1;", "add, -1, 1, 0, 1;", 2},
    {"WgmmaForgetsAccumulators", "wgmma", "add, 1, 1, 0, 1;", "set, 1, 1, 0, 1;", 1},
    {"WgmmaKeepsAccumulators", "chain", "b, set, 1, 1", "b, add, 1, 1", 0},
    {"WgmmaStepsTooShort", "wgmma", "add.s64 a, $65, 2;", "add.s64 a, $65, 1;"},
    {"WgmmaStepsTooFar", "wgmma", "add.s64 b, $64, 256;", "add.s64 b, $64, 260;"},
    {"WgmmaRepeatsAStep", "wgmma", "add.s64 a, $65, 6;", "add.s64 a, $65, 4;"},
    {"WgmmaOfOtherType", "wgmma", "k16.f32.f16.f16", "k16.f32.bf16.bf16"},
    // Swizzles and descriptors.
    {"DescriptorOfNarrowSwizzle", "wgmma", "4611686293338849280", "-9223371967504744448"},
    {"DescriptorWithoutSwizzle", "wgmma", "4611686293338849280", "274911461376"},
    {"DescriptorCutsAddress", "wgmma", ", 16383", ", 1023"},
    {"SwizzleOfA", "mma", "xor i32 %30, 16", "xor i32 %30, 32"},
    {"SwizzleOfB", "mma", "xor i32 %34, 32", "xor i32 %34, 16"},
    {"SwizzleLeftOut", "mma", "xor i32 %30, 32", "add i32 %30, 0"},
    {"SwizzleOfWrites", "wgmma", "= xor i32 %", "= or i32 %", 0},
    // Waits, and the order of tokens.
    {"NoWaitForCopies", "mma", "cp.async.wait.group(i32 1)", "cp.async.wait.group(i32 5)"},
    {"WaitOneGroupLate", "mma", "cp.async.wait.group(i32 1)", "cp.async.wait.group(i32 2)"},
    {"WaitLeftOut", "mma", "cp.async.wait.group(i32 1)", kDrop},
    {"LastWaitLeftOut", "wgmma", "call void @llvm.nvvm.cp.async.wait.group(", kDrop, 0},
    {"NoWaitForCopiesOfWgmma", "wgmma", "cp.async.wait.group(i32 1)", "cp.async.wait.group(i32 3)"},
    {"CommitLeftOut", "mma", "call void @llvm.nvvm.cp.async.commit.group(", kDrop},
    {"FirstCommitLeftOut", "mma", "call void @llvm.nvvm.cp.async.commit.group(", kDrop, 0},
    {"WgmmaNotWaitedFor", "wgmma", "wgmma.wait_group.sync.aligned 0", "wgmma.wait_group.sync.aligned 1"},
    {"WgmmaNotCommitted", "wgmma", "wgmma.commit_group.sync.aligned;", ""},
    {"WgmmaWaitBeforeCommit", "chain", "wgmma.commit_group.sync.aligned;\\0Awgmma.wait_group.sync.aligned 0;",
     "wgmma.wait_group.sync.aligned 0;\\0Awgmma.commit_group.sync.aligned;"},
    {"ChainNotWaitedFor", "chain", "wgmma.wait_group.sync.aligned 0", "wgmma.wait_group.sync.aligned 2", 0},
    // Fences.
    {"NoProxyFenceInChain", "chain", kFence, kDrop},
    {"NoProxyFenceAfterCopies", "wgmma", kFence, kDrop},
    {"NoWgmmaFence", "wgmma", "wgmma.fence.sync.aligned;\\0A", ""},
    {"OneWgmmaFenceLeftOut", "chain", "wgmma.fence.sync.aligned;\\0A", "", 1},
    // Barriers.
    {"NoBarrierMma", "mma", kBarrier, kDrop},
    {"NoBarrierWgmma", "wgmma", kBarrier, kDrop},
    {"NoBarrierInLoop", "mma", kBarrier, kDrop, 2},
    {"NoBarrierChain", "chain", kBarrier, kDrop, 0},
    {"NoBarrierSum", "sum", kBarrier, kDrop},
    {"NoBarrierBeforeTiles", "turn", kBarrier, kDrop},
    {"NoBarrierColumnSum", "column_sum", kBarrier, kDrop},
    // Masks and what lanes exchange.
    {"MaskOffByOne", "transpose", "ult i32 %", "ule i32 %"},
    {"MaskOneTooFew", "scan", ", 4003", ", 4002"},
    {"MaskOfUpdates", "count", ", 1003", ", 1004"},
    {"ShuffleWithOtherLane", "scan", "%5, 14", "%5, 12"},
    {"ShuffleAcrossTooFew", "scan", ", i32 31)", ", i32 7199)"},
    {"ShuffleOfSomeLanes", "scan", "idx.i32(i32 -1", "idx.i32(i32 65535"},
    {"ReductionOfOtherKind", "sum", "redux.sync.add", "redux.sync.max"},
    {"ReductionOfHalfTheWarp", "sum", ", i32 -1)", ", i32 65535)"},
    {"UpdateOfOtherKind", "count", "relaxed.add.u32", "relaxed.max.u32"},
    {"StoreOfHalfTheElements", "column_sum", "%5, 16", "%5, 20"},
    // Masks of some lanes.
    {"SomeLanesWaitForAnother", "some_lanes", kSomeLanes, "i32 131071", 0},
    {"SomeLanesWithoutOneOfThem", "some_lanes", kSomeLanes, "i32 32767", 1},
    {"SomeLanesReadAnother", "some_lanes", "i32 1, i32 31)", "i32 16, i32 31)"},
    {"SomeLanesAllVote", "some_lanes", kSomeLanes, "i32 -1", 2},
    // mbarriers, and barriers of some threads.
    {"NoWaitForTheWriters", "mbarriers", kWait, kDrop, 1},
    {"NoWaitForTheReaders", "mbarriers", kWait, kDrop, 0},
    {"WaitForTheOtherPhase", "mbarriers", "%r_parity = and i32 %r, 1", "%r_parity = xor i32 %r, 1"},
    {"MbarrierOfTooFewThreads", "mbarriers", "b64 [$0], 64;", "b64 [$0], 32;"},
    {"MbarrierOfTooManyThreads", "mbarriers", "b64 [$0], 64;", "b64 [$0], 65;"},
    {"NoArrivalOfTheWriters", "mbarriers", "mbarrier.arrive", kDrop, 0},
    {"NoPartBarrierForTheWriters", "part_barriers", "bar.sync 1, 128;", kDrop},
    {"NoPartBarrierForTheReaders", "part_barriers", "bar.sync 2, 128;", kDrop},
    {"OtherPartBarrier", "part_barriers", "bar.sync 1, 128;", "bar.sync 3, 128;"},
    {"PartBarrierOfFewerThreads", "part_barriers", "bar.sync 1, 128;", "bar.sync 1, 64;"},
    {"PartBarrierOfHalfAWarp", "part_barriers", ", 128;", ", 80;"},
    // The split barrier of warp groups.
    {"SplitBarrierOfTooFewWarps", "groups", "b64 [$0], 8;", "b64 [$0], 7;"},
    {"SplitBarrierOfTooManyWarps", "groups", "b64 [$0], 8;", "b64 [$0], 9;"},
    {"SplitBarrierOfTheOtherPhase", "groups", "p, [$1], $2;", "p, [$1], 0;"},
    {"NoWaitAtTheSplitBarrier", "groups", "selp.b32 $0, 1, 0, p;", "mov.b32 $0, 1;"},
    {"NoArrivalInTheLoop", "groups", "mbarrier.arrive", kDrop, 1},
    {"ArrivalBeforeCopiesHaveLanded", "groups", "cp.async.wait.group(i32 1)", "cp.async.wait.group(i32 2)"},
    {"NoFenceBeforeTheArrival", "groups", kFence, kDrop},
    {"LanesArriveBeforeOthersOfTheirWarp", "groups", "bar.warp.sync 0xffffffff;\\0A", ""},
    {"NoBarrierAfterTheSplitBarrierIsMade", "groups", kBarrier, kDrop, 0},
    // Bulk stores.
    {"NoWaitForBulkStores", "parts", kStoreWait, kDrop},
    {"NoWaitForTheLastBulkStores", "parts", "wait.group.read(i32 0)", kDrop},
    {"SlotWrittenWhileItIsRead", "parts", "wait.group.read(i32 1)", kDrop, 0},
    {"WaitForAnEarlierBulkStore", "parts", "wait.group.read(i32 1)", "wait.group.read(i32 2)"},
    {"BulkStoresOfTilesInAnyOrder", "parts", "bulk.wait.group(i32 0)", "bulk.wait.group.read(i32 0)"},
    {"BulkStoresOfHalvesInAnyOrder", "halves", "bulk.wait.group(i32 0)", "bulk.wait.group.read(i32 0)", 1},
    {"BulkStoresNotCommitted", "parts", "call void @llvm.nvvm.cp.async.bulk.commit.group", kDrop},
    {"NoProxyFenceBeforeBulkStores", "parts", kFence, kDrop},
    {"NoProxyFenceBeforeOneBulkStore", "parts", kFence, kDrop, 2},
    {"NoBarrierOfBulkStores", "parts", kBarrier, kDrop},
    {"BulkStoresOfOtherColumns", "parts", "global.shared::cta.bulk_group [$0, {$1, $2}]",
     "global.shared::cta.bulk_group [$0, {$2, $1}]", 1},
    {"BulkStoresWithoutSwizzle", "parts", "swizzle_mode.shared::cta.b1024.b32 [$2], 3;",
     "swizzle_mode.shared::cta.b1024.b32 [$2], 0;", 0},
    // Tensor maps that are made in loops.
    {"MapsNotAcquired", "group_maps", kAcquire, kDrop},
    {"OneMapNotAcquired", "group_maps", kAcquire, kDrop, 1},
    {"MapAcquiredBeforeItIsWritten", "group_maps", kBarrier, kDrop, 1},
    {"InnerMapAcquiredBeforeItIsWritten", "group_maps", kBarrier, kDrop, 3},
    // Tensor memory.
    {"TensorProductOfOtherType", "tensor", "kind::f16 [d], a, b, 68222992", "kind::f16 [d], a, b, 68224144"},
    {"TensorProductOfFewerColumns", "tensor", "a, b, 68222992", "a, b, 67698704"},
    {"TensorProductRepeatsAStep", "tensor", "add.s64 a, $1, 6;", "add.s64 a, $1, 4;"},
    {"TensorProductForgetsAccumulators", "tensor", "68222992, add;", "68222992, $4;", 1},
    {"TensorProductAddsToGarbage", "tensor", "68222992, $4;", "68222992, add;", 0},
    {"TensorDescriptorOfWgmma", "tensor", "4611756662083026944", "4611686293338849280"},
    {"TensorProductsNotCommitted", "tensor",
     "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$3];", "mov.u32 d, 0;"},
    {"NoWaitForTensorProducts", "tensor", kTensorWait, "setp.eq.u32 p, 0, 0;"},
    {"LastWaitForTensorProducts", "tensor", kTensorWait, "setp.eq.u32 p, 0, 0;", 1},
    {"NoProxyFenceBeforeTensorProducts", "tensor", kFence, kDrop},
    {"NoFenceAfterTheWait", "tensor", "at;\\0Atcgen05.fence::after_thread_sync;\\0A", "at;\\0A"},
    {"NoBarrierOfTensorProducts", "tensor", kBarrier, kDrop},
    {"TensorMemoryNotGivenBack", "tensor", "tcgen05.dealloc", kDrop},
    {"TooFewColumns", "tensor", "b32 [$0], 64;", "b32 [$0], 32;"},
    {"SumsOfOtherColumns", "tensor", "add.u32 at, $32, 0;", "add.u32 at, $32, 8;"},
    // Products with block scales.
    {"ScaledByteOfAnotherGroup", "scaled", "$10, {1, 0}, $11", "$10, {2, 0}, $11", 0},
    {"ScaledByteOfBAlone", "scaled", "$11, {3, 0};", "$11, {0, 0};"},
    {"ScaledByteThatIsNone", "scaled", "$10, {3, 0}", "$10, {4, 0}"},
    {"ScalesOfAThreadThatIsNone", "scaled", "$10, {0, 0}", "$10, {0, 2}"},
    {"ScalesOfTheOtherOperand", "scaled", "$10, {0, 0}, $11, {0, 0}", "$11, {0, 0}, $10, {0, 0}"},
    {"ScaledProductOfOtherType", "scaled", "f32.e4m3.e2m1", "f32.e5m2.e2m1"},
    {"ScaledProductOfFewerBits", "scaled", "f32.e4m3.e2m1", "f32.e4m3.e4m3"},
    {"ScaledRowsSwapped", "scaled", "{$4, $5, $6, $7}", "{$5, $4, $7, $6}"},
    {"ScaledSumsForgotten", "scaled", "{$8, $9}, {$0, $1, $2, $3}", "{$8, $9}, {$0, $1, $2, $2}"},
    {"BitsBesideSpreadElements", "scaled", ", 3932220", ", 16711935"},
    {"SpreadElementsLost", "scaled", ", 1006648320", ", 1006632960"},
    {"MisalignedMatrices", "mma", "xor i32 %30, 16", "xor i32 %30, 24"},
    {"CopyOfFewerBytes", "mma", "[$0], [$1], 16, $2", "[$0], [$1], 8, $2"},
};

class PlantedFault : public testing::TestWithParam<Fault> {};

TEST_P(PlantedFault, IsFound) { ExpectFound(GetParam(), FaultKernels); }

INSTANTIATE_TEST_SUITE_P(Faults, PlantedFault, testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FaultKernels, AreRightWithoutAFault) { ExpectRight(FaultKernels); }

}  // namespace
}  // namespace tritond::conformance
