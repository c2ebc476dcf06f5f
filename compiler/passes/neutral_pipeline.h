// SPDX-License-Identifier: Apache-2.0
// The stretches of a target's pipeline that are equal for all devices. A target that needs another order writes its
// own stretch in its pipeline.cc.
#ifndef COMPILER_PASSES_NEUTRAL_PIPELINE_H_
#define COMPILER_PASSES_NEUTRAL_PIPELINE_H_

#include "mlir/Pass/PassManager.h"

namespace tritond::compiler {

// From parsed to canonical ttir. `descriptor_flags`: see LaunchAbi.
void AddNeutralTtirPasses(mlir::OpPassManager& pm, int descriptor_flags);

// For ttgir whose encodings are chosen: canonical loops, with as little in them as can be. A target that pipelines its
// loops does so afterwards.
void AddNeutralLoopPasses(mlir::OpPassManager& pm);

// Overlaps the iterations of loops, `num_stages` of them where a loop does not say how many, as far as their buffers
// fit into the shared memory of a block. A thread copies `least_copy_bytes` and more asynchronously; 0: it cannot. Up
// to `max_waiting_elements` of a thread that are no such copies wait in registers. Once every tensor has its final
// encoding, and while dots are still dots.
void AddLoopPipeliningPasses(mlir::OpPassManager& pm, int num_stages, int64_t max_shared_bytes, int least_copy_bytes,
                             int max_waiting_elements = 64);

// The end of ttgir, once loops are pipelined and dots tiled: little is left to compute, in the order in which it runs.
void AddNeutralFinalPasses(mlir::OpPassManager& pm);

// From final ttgir to what LowerToLlvm takes.
void AddNeutralLlirPasses(mlir::OpPassManager& pm);

}  // namespace tritond::compiler

#endif  // COMPILER_PASSES_NEUTRAL_PIPELINE_H_
