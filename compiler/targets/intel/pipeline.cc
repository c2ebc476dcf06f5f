// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/intel/pipeline.h"

#include "compiler/passes/neutral_pipeline.h"
#include "compiler/passes/passes.h"
#include "compiler/targets/intel/passes.h"

namespace tritond::compiler::intel {
namespace {

// Elements of a thread that may wait for a round in registers, of which a lane has 64 to 128.
constexpr int kMaxWaitingElements = 32;

}  // namespace

void AddTtirPasses(mlir::OpPassManager& pm, const KernelOptions& options) {
  // Until tensors have encodings, nothing depends on the device.
  AddNeutralTtirPasses(pm, options.descriptor_flags);
}

void AddTtgirPasses(mlir::OpPassManager& pm, const KernelOptions& options, const TargetInfo& info,
                    const Architecture& arch) {
  // Every tensor gets the default encoding of its shape; from here on the module is ttg.
  ConvertToTtgPassOptions convert;
  convert.target = info.name;
  convert.num_warps = options.num_warps;
  convert.threads_per_warp = info.lanes;
  convert.num_ctas = options.num_ctas;
  pm.addPass(createConvertToTtgPass(convert));
  // Memory operations come first, as their encodings matter most; each pays with conversions around it.
  CoalescePassOptions coalesce;
  coalesce.max_add_bytes = info.max_add_bytes;
  pm.addPass(createCoalescePass(coalesce));
  // Spreads the encodings that coalescing chose, so that most of those conversions vanish.
  pm.addPass(createRemoveLayoutConversionsPass());
  // Once operands are seen without the conversions around them, dots go to the matrix unit.
  IntelAccelerateMatmulPassOptions accelerate;
  accelerate.arch = arch.name;
  pm.addPass(createIntelAccelerateMatmulPass(accelerate));
  // Carries the accumulators' encodings through the loops.
  pm.addPass(createRemoveLayoutConversionsPass());
  // What does not depend on the device: loops with as little in them as can be.
  AddNeutralLoopPasses(pm);
  // Loads that feed the dots are made a round ahead and wait in registers; shared memory they reach at their use.
  PipeliningLimits limits;
  limits.num_stages = options.num_stages;
  limits.max_shared_bytes = info.max_shared_bytes;
  limits.least_copy_bytes = info.async_copies.least_bytes;
  limits.max_waiting_elements = kMaxWaitingElements;
  limits.registers = info.registers;
  AddLoopPipeliningPasses(pm, limits);
  // The remaining operands that come from other threads: through a buffer.
  pm.addPass(createReduceDataDuplicationPass());
  // The dots that the matrix unit does not take, by multiply-adds.
  pm.addPass(createTileDotsPass());
  // What all that has left behind, and the order in which it runs.
  AddNeutralFinalPasses(pm);
}

void AddLlirPasses(mlir::OpPassManager& pm, const KernelOptions& options) {
  // Buffers, offsets and barriers are the same on every device.
  AddNeutralLlirPasses(pm);
  // Once the size is known: what the kernel's parameters depend on.
  pm.addPass(createIntelNoteSharedMemoryPass());
}

}  // namespace tritond::compiler::intel
