// SPDX-License-Identifier: Apache-2.0
// The host takes the passes that a GPU's code takes too, even where it gains nothing from them: what runs here shall be
// what runs there.
#include "compiler/targets/host/pipeline.h"

#include "compiler/passes/neutral_pipeline.h"
#include "compiler/passes/passes.h"
#include "mlir/Transforms/Passes.h"

namespace tritond::compiler::host {

void AddTtirPasses(mlir::OpPassManager& pm, const KernelOptions& options) {
  // Until tensors have encodings, nothing depends on the device.
  AddNeutralTtirPasses(pm, options.descriptor_flags);
}

void AddTtgirPasses(mlir::OpPassManager& pm, const KernelOptions& options, const TargetInfo& info) {
  // Every tensor gets the default encoding of its shape; from here on the module is ttg.
  ConvertToTtgPassOptions convert;
  convert.target = info.name;
  convert.num_warps = options.num_warps;
  convert.threads_per_warp = info.lanes;
  convert.num_ctas = options.num_ctas;
  pm.addPass(createConvertToTtgPass(convert));
  // Wide accesses are checked and made at once, so they pay here too.
  pm.addPass(createCoalescePass());
  // Most of the conversions that coalescing has brought vanish; each costs barriers, which are slow here.
  pm.addPass(createRemoveLayoutConversionsPass());
  // What does not depend on the device: loops with as little in them as can be.
  AddNeutralLoopPasses(pm);
  // Copies to buffers are made at once here, but with the order of accesses and the barriers of a GPU.
  PipeliningLimits limits;
  limits.num_stages = options.num_stages;
  limits.max_shared_bytes = info.max_shared_bytes;
  limits.least_copy_bytes = info.async_copies.least_bytes;
  limits.registers = info.registers;
  AddLoopPipeliningPasses(pm, limits);
  // The host has no matrix instructions: every dot becomes multiply-adds.
  pm.addPass(createTileDotsPass());
  // After both of the passes that let dots read shared memory; before the last cleaning, for it repeats arithmetic.
  pm.addPass(createPrefetchPass());
  // What all that has left behind, and the order in which it runs.
  AddNeutralFinalPasses(pm);
}

void AddLlirPasses(mlir::OpPassManager& pm, const KernelOptions& options) {
  // Buffers, offsets and barriers are the same on every device.
  AddNeutralLlirPasses(pm);
}

}  // namespace tritond::compiler::host
