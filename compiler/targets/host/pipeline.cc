// SPDX-License-Identifier: Apache-2.0
// The host takes the passes that a GPU's code takes too, even where it gains nothing from them. What runs here shall be
// what runs there.
#include "compiler/targets/host/pipeline.h"

#include "compiler/passes/passes.h"
#include "compiler/targets/pass_options.h"
#include "mlir/Transforms/Passes.h"

namespace tritond::compiler::host {

void AddTtirPasses(mlir::OpPassManager& pm, const KernelOptions& options) {
  // Until tensors have encodings, nothing depends on the device.
  AddNeutralTtirPasses(pm, {.descriptor_flags = options.descriptor_flags});
}

void AddTtgirPasses(mlir::OpPassManager& pm, const KernelOptions& options, const TargetInfo& info) {
  // Wide accesses are checked and made at once, so they pay here too; each conversion costs barriers, which are slow.
  AddNeutralEncodingPasses(pm, EncodingChoicesFor(info, options));
  // What does not depend on the device: loops with as little in them as can be.
  AddNeutralLoopPasses(pm, CacheBytesOfWarp(info), info.registers);
  // Copies to buffers are made at once here, but with the order of accesses and the barriers of a GPU.
  AddLoopPipeliningPasses(pm, PipeliningLimitsFor(info, options));
  // The host has no matrix instructions: every dot becomes multiply-adds.
  pm.addPass(createTileDotsPass());
  // After both of the passes that let dots read shared memory; before the last cleaning, for it repeats arithmetic.
  pm.addPass(createPrefetchPass());
  // Cleans up what these passes leave, and orders the operations.
  AddNeutralFinalPasses(pm);
}

void AddLlirPasses(mlir::OpPassManager& pm, const KernelOptions& options) {
  // Buffers, offsets and barriers are the same on every device.
  AddNeutralLlirPasses(pm, /*max_shared_bytes=*/0);
}

}  // namespace tritond::compiler::host
