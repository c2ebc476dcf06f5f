// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/pipeline.h"

#include "compiler/passes/passes.h"
#include "compiler/targets/nvidia/passes.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Transforms/Passes.h"

namespace tritond::compiler::nvidia {

void AddTtirPasses(mlir::OpPassManager& pm, const KernelOptions& options) {
  // The frontend prints calls of helper functions; every later pass sees further without them.
  pm.addPass(mlir::createInlinerPass());
  // Folds the constants that inlining has brought together, offsets of block pointers above all.
  pm.addPass(mlir::createCanonicalizerPass());
  // Before anything looks at addresses: from here on there are only tensors of pointers.
  pm.addPass(createRewriteTensorPointerPass());
  // The rewrite leaves chains of casts and broadcasts of constants.
  pm.addPass(mlir::createCanonicalizerPass());
  // Before combine, which then merges these dots with their sums like any other.
  pm.addPass(createDecomposeScaledDotPass());
  // Its patterns match what the canonicaliser prints: addptr of addptr, dot plus accumulator, select of load.
  pm.addPass(createCombinePass());
  // After combine, whose patterns look through broadcasts; arithmetic then works on the smaller tensors.
  pm.addPass(createReorderBroadcastPass());
  // Reordering makes equal splats and ranges meet.
  pm.addPass(mlir::createCSEPass());
  // Once only one of equal operations is left, loops give up what does not change in them.
  pm.addPass(createHoistInvariantsPass());
  // Helper functions that were inlined everywhere.
  pm.addPass(mlir::createSymbolDCEPass());
  // Last: it copies loop bodies, which should be small by now.
  pm.addPass(createUnrollLoopPass());
  // Index arithmetic of the copies.
  pm.addPass(mlir::createCanonicalizerPass());
  pm.addPass(mlir::createCSEPass());
}

void AddTtgirPasses(mlir::OpPassManager& pm, const KernelOptions& options, const std::string& target,
                    int compute_capability) {
  // Every tensor gets the default encoding of its shape; from here on the module is ttg.
  ConvertToTtgPassOptions convert;
  convert.target = target;
  convert.num_warps = options.num_warps;
  convert.threads_per_warp = 32;
  convert.num_ctas = options.num_ctas;
  pm.addPass(createConvertToTtgPass(convert));
  // Memory operations come first, as their encodings matter most; each pays with conversions around it.
  pm.addPass(createCoalescePass());
  // Spreads the encodings that coalescing chose, so that most of those conversions vanish.
  pm.addPass(createRemoveLayoutConversionsPass());
  // Once operands are seen without the conversions around them, dots go to the tensor cores.
  AccelerateMatmulPassOptions accelerate;
  accelerate.compute_capability = compute_capability;
  pm.addPass(createAccelerateMatmulPass(accelerate));
  // Carries the accumulators' encodings through the loops.
  pm.addPass(createRemoveLayoutConversionsPass());
  // The dots that the tensor cores do not take.
  pm.addPass(createTileDotsPass());
  // Folds what changing encodings left: conversions of splats, constants, conversions there and back.
  pm.addPass(mlir::createCanonicalizerPass());
  // Operations that differed in their encodings alone are equal now.
  pm.addPass(mlir::createCSEPass());
  // Conversions of loop-invariant tensors leave the loops.
  pm.addPass(createHoistInvariantsPass());
  pm.addPass(mlir::createSymbolDCEPass());
}

void AddLlirPasses(mlir::OpPassManager& pm, const KernelOptions& options) {
  // Lowering takes blocks and branches only; the analyses of shared memory work on them too.
  pm.addPass(mlir::createConvertSCFToCFPass());
  // Offsets first: whether two accesses can meet depends on where their buffers lie.
  pm.addPass(createAllocateSharedMemoryPass());
  // Last: a later pass that moves memory operations would break what the barriers promise.
  pm.addPass(createInsertBarriersPass());
}

}  // namespace tritond::compiler::nvidia
