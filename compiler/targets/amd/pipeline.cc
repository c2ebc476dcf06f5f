// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/amd/pipeline.h"

#include "compiler/passes/passes.h"
#include "compiler/targets/amd/own_options.h"
#include "compiler/targets/amd/passes.h"
#include "compiler/targets/pass_options.h"
#include "mlir/Transforms/Passes.h"

namespace tritond::compiler::amd {
namespace {

// Elements of a thread that may wait for an iteration in registers, of which a thread has 256 and more.
constexpr int kMaxWaitingElements = 128;
// Vector registers that an instruction can name, of 32 bits a lane.
constexpr int kRegisters = 256;

}  // namespace

void AddTtirPasses(mlir::OpPassManager& pm, const KernelOptions& options) {
  // Until tensors have encodings, nothing depends on the device.
  AddNeutralTtirPasses(pm, {.descriptor_flags = options.descriptor_flags});
}

void AddTtgirPasses(mlir::OpPassManager& pm, const KernelOptions& options, const TargetInfo& info,
                    const Architecture& arch) {
  AddNeutralEncodingPasses(pm, EncodingChoicesFor(info, options));
  // Once operands are seen without the conversions around them, dots go to the matrix unit.
  AmdAccelerateMatmulPassOptions accelerate;
  accelerate.arch = arch.name;
  accelerate.tile_rows = options.own.Integer(kTileRows, 0);
  accelerate.operand_pack = options.own.Integer(kOperandPack, 1);
  pm.addPass(createAmdAccelerateMatmulPass(accelerate));
  // The other dots, now that it is known which they are.
  pm.addPass(createSquareDotTilesPass());
  // Copies straight to LDS need loads whose lanes are in the order of what they write.
  AddCopyOrderPasses(pm, PipeliningLimitsFor(info, options));
  // Carries the encodings of accumulators and loads through the loops.
  pm.addPass(createRemoveLayoutConversionsPass());
  // What does not depend on the device: loops with as little in them as can be.
  AddNeutralLoopPasses(pm, CacheBytesOfWarp(info), info.registers);
  // Loads that feed the dots are made an iteration ahead: they go straight to LDS, or wait in registers and reach LDS
  // at their use.
  PipeliningLimits limits = PipeliningLimitsFor(info, options);
  limits.max_waiting_elements = kMaxWaitingElements;
  limits.thread_registers = kRegisters;
  AddLoopPipeliningPasses(pm, limits);
  // The remaining operands that come from other threads: through a buffer.
  pm.addPass(createReduceDataDuplicationPass());
  // Now that operands have buffers: those that would only stand in the way of others are read at their use.
  SinkOperandReadsPassOptions sink;
  sink.registers = kRegisters;
  sink.max_buffer_bytes = info.max_shared_bytes / 4 * 3;
  pm.addPass(createSinkOperandReadsPass(sink));
  // The dots that the matrix unit does not take.
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
}

}  // namespace tritond::compiler::amd
