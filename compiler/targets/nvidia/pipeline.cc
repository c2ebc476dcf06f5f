// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/pipeline.h"

#include "compiler/passes/passes.h"
#include "compiler/targets/nvidia/block_limits.h"
#include "compiler/targets/nvidia/host_maps.h"
#include "compiler/targets/nvidia/own_options.h"
#include "compiler/targets/nvidia/passes.h"
#include "compiler/targets/pass_options.h"
#include "mlir/Transforms/Passes.h"

namespace tritond::compiler::nvidia {
namespace {

// ptxas unrolls loops of few loads to four of 16 bytes. An iteration that has as many is left as it is.
constexpr int64_t kMinStreamWords = 16;

// Where bulk copies fill buffers for wgmma (bulk_copies.cc).
constexpr int kBulkCapability = 90;

constexpr int kLanes = 32;

// Of a thread, for addresses and masks of a loop of dots.
constexpr int64_t kAddressRegisters = 48;
// Of a block, that passes behind the placement of operands may need beside its frame.
constexpr int64_t kSpareSharedBytes = 4096;

bool HasBulkCopies(const KernelOptions& options, const Architecture& arch) {
  return arch.compute_capability == kBulkCapability && options.global_scratch && options.own.Boolean(kBulkCopies, true);
}

bool HasHostMaps(const KernelOptions& options, const Architecture& arch) {
  return HasBulkCopies(options, arch) && options.host_tensor_maps;
}

void AddAllTtgirPasses(mlir::OpPassManager& pm, const KernelOptions& options, const TargetInfo& info,
                       const Architecture& arch) {
  // First, while loops say in scalars how many iterations they have.
  if (options.own.Boolean(kOrderPrograms, true)) {
    OrderProgramsPassOptions programs;
    programs.wave = WaveOf(info, options);
    pm.addPass(createOrderProgramsPass(programs));
  }
  AddNeutralEncodingPasses(pm, EncodingChoicesFor(info, options));
  // Once operands are seen without the conversions around them, dots go to the tensor cores.
  AccelerateMatmulPassOptions accelerate;
  accelerate.compute_capability = arch.compute_capability;
  pm.addPass(createAccelerateMatmulPass(accelerate));
  // The other dots, now that it is known which they are.
  SquareDotTilesPassOptions tiles;
  tiles.shared_bytes = info.rates.shared_bytes;
  tiles.issued_warps = info.rates.issued_warps;
  tiles.pairs_share_reads = info.rates.pairs_share_reads;
  pm.addPass(createSquareDotTilesPass(tiles));
  // Carries the accumulators' encodings through the loops.
  pm.addPass(createRemoveLayoutConversionsPass());
  // Once operations have their final encodings, and so costs; before anything takes loops apart.
  FlattenNestsPassOptions flatten;
  flatten.products = arch.group_products;
  flatten.issued_warps = info.rates.issued_warps;
  pm.addPass(createFlattenNestsPass(flatten));
  // What does not depend on the device: loops with as little in them as can be.
  AddNeutralLoopPasses(pm, CacheBytesOfWarp(info), info.registers);
  // Loads that feed the dots become copies to buffers ahead of time.
  PipeliningLimits limits = PipeliningLimitsFor(info, options);
  limits.min_stream_words = kMinStreamWords;
  limits.issued_warps = info.rates.issued_warps;
  AddLoopPipeliningPasses(pm, limits);
  // The remaining operands that come from other threads: through a buffer that ldmatrix can read. Those of
  // multiply-adds where that leaves room for a few blocks.
  ReduceDataDuplicationPassOptions duplication;
  duplication.max_buffer_bytes = info.max_shared_bytes / 4;
  duplication.registers = kMostRegisters - kAddressRegisters;
  pm.addPass(createReduceDataDuplicationPass(duplication));
  // Once all operands have their buffers: dots of wgmma read them there.
  pm.addPass(createFormWarpGroupDotsPass());
  // Those of mma.sync widen 8-bit floats when they have read them.
  if (arch.compute_capability >= kFirstWithNarrowDots) {
    NarrowOperandBuffersPassOptions narrow;
    narrow.float_words = true;
    pm.addPass(createNarrowOperandBuffersPass(narrow));
  }
  // The reads of other operands are moved to their uses later.
  SinkOperandReadsPassOptions sink;
  sink.registers = duplication.registers;
  sink.reads_late = true;
  sink.max_buffer_bytes = info.max_shared_bytes / 4 * 3;
  sink.max_frame_bytes = info.max_shared_bytes - kSpareSharedBytes;
  pm.addPass(createSinkOperandReadsPass(sink));
  FillBuffersEarlyPassOptions fill;
  fill.registers = sink.registers;
  fill.max_buffer_bytes = info.max_shared_bytes / 2;
  pm.addPass(createFillBuffersEarlyPass(fill));
  // The dots that the tensor cores do not take.
  pm.addPass(createTileDotsPass());
  // Once their operands come from buffers: the accumulators of these dots may be in parts.
  ShareKPassOptions share;
  share.shared_bytes = info.rates.shared_bytes;
  share.issued_warps = info.rates.issued_warps;
  share.pairs_share_reads = info.rates.pairs_share_reads;
  pm.addPass(createShareKPass(share));
  // After all passes that let dots read shared memory; before the last cleaning, for it repeats arithmetic. It costs a
  // second barrier an iteration: large dots of several slices gain by it, small ones lose. Conversions between the
  // buffer and the tensor cores, as of fp8 on sm_90, already take the registers that waiting slices would need.
  if (options.own.Boolean(kReadAhead, true)) {
    PrefetchPassOptions prefetch;
    prefetch.min_slices = 4;
    prefetch.min_accumulators = 64;
    prefetch.converts = false;
    pm.addPass(createPrefetchPass(prefetch));
  }
  // Once no pass looks any more for what a body does in one block: this adds branches.
  SkipFullMasksPassOptions skip;
  skip.registers = info.registers;
  pm.addPass(createSkipFullMasksPass(skip));
  // Once iterations that there are not have their masks, and nobody asks what a mask is made of.
  pm.addPass(createJoinMasksPass());
  // Beside them: what addresses are made of is as little asked for as that.
  pm.addPass(createJoinIndicesPass());
  // Cleans up what these passes leave, and orders the operations.
  AddNeutralFinalPasses(pm, info.registers);
  // Once branches have their final form.
  pm.addPass(createRestartAccumulatorsPass());
  // Until here the accumulators of a dot are there when it has been issued, as everybody believes.
  OverlapWarpGroupDotsPassOptions overlap;
  overlap.max_shared_bytes = info.max_shared_bytes;
  overlap.reserved_shared_bytes = info.multiprocessor.reserved_shared_bytes;
  overlap.registers = info.registers;
  overlap.multiprocessors = info.multiprocessors;
  overlap.products = arch.group_products;
  pm.addPass(createOverlapWarpGroupDotsPass(overlap));
  // Once it is known where dots end. Those of tensor memory wait at mbarriers.
  pm.addPass(createPlaceAccumulatorsPass());
  // While copies to shared memory say by pointers what they read. Only masks that name blocks are concerned.
  // Loads first: where there are some, stores are bulk copies, too.
  BulkLoadsPassOptions loads;
  loads.max_shared_bytes = info.max_shared_bytes;
  pm.addPass(createBulkLoadsPass(loads));
  BulkStoresPassOptions stores;
  stores.max_shared_bytes = info.max_shared_bytes;
  stores.reserved_shared_bytes = info.multiprocessor.reserved_shared_bytes;
  stores.registers = info.registers;
  stores.multiprocessors = info.multiprocessors;
  pm.addPass(createBulkStoresPass(stores));
  SplitBarriersPassOptions barriers;
  barriers.max_shared_bytes = info.max_shared_bytes;
  barriers.reserved_shared_bytes = info.multiprocessor.reserved_shared_bytes;
  barriers.registers = info.registers;
  barriers.loop_maps = options.own.Boolean(kLoopMaps, true);
  pm.addPass(createSplitBarriersPass(barriers));
  // Once it is known where loops wait.
  pm.addPass(createStartLoadsPass());
}

}  // namespace

void AddTtirPasses(mlir::OpPassManager& pm, const KernelOptions& options, const Architecture& arch) {
  // Until tensors have encodings, nothing depends on the device but how it copies blocks.
  AddNeutralTtirPasses(pm, {.descriptor_flags = options.descriptor_flags,
                            .has_bulk_copies = HasBulkCopies(options, arch),
                            .host_tensor_maps = HasHostMaps(options, arch),
                            .threads = int64_t{options.num_warps} * kLanes,
                            .num_ctas = options.num_ctas});
}

void AddTtgirPasses(mlir::OpPassManager& pm, const KernelOptions& options, const TargetInfo& info,
                    const Architecture& arch) {
  if (!HasHostMaps(options, arch)) return AddAllTtgirPasses(pm, options, info, arch);
  // Around all of them: whether it is right shows at the end.
  pm.addPass(CreateTryHostMapsPass(
      [options, &info, &arch](mlir::OpPassManager& inner) { AddAllTtgirPasses(inner, options, info, arch); }));
}

void AddLlirPasses(mlir::OpPassManager& pm, const KernelOptions& options, const TargetInfo& info) {
  WarpGroups groups = WarpGroupsFor(info);
  groups.entry_registers = options.own.Integer(kMaxRegisters, 0);
  // Buffers, offsets and barriers are the same on every device.
  AddNeutralLlirPasses(pm, info.max_shared_bytes, groups, info.registers);
}

}  // namespace tritond::compiler::nvidia
