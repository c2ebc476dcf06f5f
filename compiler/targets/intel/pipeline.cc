// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/intel/pipeline.h"

#include "compiler/passes/passes.h"
#include "compiler/targets/intel/own_options.h"
#include "compiler/targets/intel/passes.h"
#include "compiler/targets/pass_options.h"

namespace tritond::compiler::intel {
namespace {

// Elements of a thread that may wait for an iteration in registers, of which a lane has 64 to 128.
constexpr int kMaxWaitingElements = 32;

}  // namespace

void AddTtirPasses(mlir::OpPassManager& pm, const KernelOptions& options) {
  // Until tensors have encodings, nothing depends on the device.
  AddNeutralTtirPasses(pm, {.descriptor_flags = options.descriptor_flags});
}

void AddTtgirPasses(mlir::OpPassManager& pm, const KernelOptions& options, const TargetInfo& info,
                    const Architecture& arch) {
  AddNeutralEncodingPasses(pm, EncodingChoicesFor(info, options));
  // Once operands are seen without the conversions around them, dots go to the matrix unit.
  IntelAccelerateMatmulPassOptions accelerate;
  accelerate.arch = arch.name;
  pm.addPass(createIntelAccelerateMatmulPass(accelerate));
  // The other dots, now that it is known which they are.
  pm.addPass(createSquareDotTilesPass());
  // Carries the accumulators' encodings through the loops.
  pm.addPass(createRemoveLayoutConversionsPass());
  // What does not depend on the device: loops with as little in them as can be.
  AddNeutralLoopPasses(pm, CacheBytesOfWarp(info), info.registers);
  // Operands that lie in memory as matrices: before pipelining, which has nothing to do for them.
  if (arch.has_block_reads && options.own.Boolean(kBlockReads, true)) pm.addPass(createIntelReadBlocksPass());
  // Loads that feed the dots are made an iteration ahead and wait in registers; shared memory they reach at their use.
  PipeliningLimits limits = PipeliningLimitsFor(info, options);
  limits.max_waiting_elements = kMaxWaitingElements;
  AddLoopPipeliningPasses(pm, limits);
  // The remaining operands that come from other threads: through a buffer.
  pm.addPass(createReduceDataDuplicationPass());
  // The dots that the matrix unit does not take, by multiply-adds.
  pm.addPass(createTileDotsPass());
  // Once all buffers are there: whether they fit.
  NarrowOperandBuffersPassOptions narrow;
  narrow.max_shared_bytes = info.max_shared_bytes;
  pm.addPass(createNarrowOperandBuffersPass(narrow));
  // Cleans up what these passes leave, and orders the operations.
  AddNeutralFinalPasses(pm);
}

void AddLlirPasses(mlir::OpPassManager& pm, const TargetInfo& info) {
  // Buffers, offsets and barriers are the same on every device.
  AddNeutralLlirPasses(pm, info.max_shared_bytes);
  // Once the size is known: what the kernel's parameters depend on.
  pm.addPass(createIntelNoteSharedMemoryPass());
}

}  // namespace tritond::compiler::intel
