// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/neutral_pipeline.h"

#include "compiler/passes/canonicalize.h"
#include "compiler/passes/passes.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Transforms/Passes.h"

namespace tritond::compiler {

void AddNeutralTtirPasses(mlir::OpPassManager& pm, const TtirChoices& choices) {
  // Helper functions would take descriptors that nobody knows there.
  if (choices.host_tensor_maps) pm.addPass(CreateInlinePass());
  if (choices.num_ctas > 1) {
    // While blocks of memory have names; those of helper functions come into sight.
    pm.addPass(CreateInlinePass());
    pm.addPass(CreateCanonicalizePass());
    DivideProgramsPassOptions divide;
    divide.blocks = choices.num_ctas;
    pm.addPass(createDivideProgramsPass(divide));
  }
  // First, so that what they become is simplified like all else.
  RewriteTensorDescriptorPassOptions descriptors;
  descriptors.flags = choices.descriptor_flags;
  descriptors.names_blocks = choices.has_bulk_copies;
  descriptors.marks_arguments = choices.host_tensor_maps;
  descriptors.threads = choices.threads;
  pm.addPass(createRewriteTensorDescriptorPass(descriptors));
  // The frontend prints calls of helper functions; every later pass sees further without them.
  pm.addPass(CreateInlinePass());
  // Folds the constants that inlining has brought together, offsets of block pointers above all.
  pm.addPass(CreateCanonicalizePass());
  // Before anything looks at addresses: from here on there are only tensors of pointers.
  pm.addPass(createRewriteTensorPointerPass());
  // Also of what block pointers became.
  pm.addPass(createDropUnusedCarriesPass());
  // The rewrite leaves chains of casts and broadcasts of constants.
  pm.addPass(CreateCanonicalizePass());
  // Before anything looks for dots, their operands and what is made of their results.
  pm.addPass(createDropUnitDimsPass());
  // Its patterns match what the canonicaliser prints: addptr of addptr, dot plus accumulator, select of load.
  pm.addPass(createCombinePass());
  // Before first elements stand for tensors.
  pm.addPass(createNarrowQuotientsPass());
  // What it makes are splats, which the next pass moves.
  pm.addPass(createFoldEqualElementsPass());
  // After combine, whose patterns look through broadcasts; arithmetic then works on the smaller tensors.
  pm.addPass(createReorderBroadcastPass());
  // Reordering makes equal splats and ranges meet, and equal pointers that loops carry.
  pm.addPass(createLoopAwareCsePass());
  // Once equal conditions of masks and addresses are one.
  pm.addPass(createSimplifyMaskedAddressesPass());
  // Once masks and addresses have their indices in common.
  NarrowIndicesPassOptions indices;
  indices.threads = choices.threads;
  pm.addPass(createNarrowIndicesPass(indices));
  // Once equal indices are one, which differed in their encodings alone later.
  pm.addPass(createCarryScalarsPass());
  pm.addPass(CreateCanonicalizePass());
  // Once only one of equal operations is left, what does not change in a loop is told from what does, and leaves it.
  pm.addPass(createSeparateScalarsPass());
  pm.addPass(createHoistInvariantsPass());
  // Once steps are constants, and before loops are copied.
  pm.addPass(createNarrowCountsPass());
  // Once scales that do not change are computed in front of the loops.
  pm.addPass(createScaleMaximaPass());
  // Once scales of maxima are where they stay.
  pm.addPass(createFlushExponentialsPass());
  // Once constants stand where they are used, and products by them.
  pm.addPass(createComplementFunctionsPass());
  // Once operations on elements are as few as they get, and before equal ones become one.
  ComputeTablesPassOptions tables;
  tables.threads = choices.threads;
  pm.addPass(createComputeTablesPass(tables));
  // Helper functions that were inlined everywhere.
  pm.addPass(mlir::createSymbolDCEPass());
  // These copy loop bodies, which should be small by now.
  pm.addPass(createFoldFullMasksPass());
  pm.addPass(createUnrollLoopPass());
  // Index arithmetic of the copies.
  pm.addPass(CreateCanonicalizePass());
  pm.addPass(mlir::createCSEPass());
  // Once addresses of neighbours differ in constants alone.
  JoinNeighboursPassOptions structures;
  structures.threads = choices.threads;
  pm.addPass(createJoinNeighboursPass(structures));
  // While branches and loops have conditions, and before anything asks which accesses are wide.
  pm.addPass(createMarkRemaindersPass());
  // Last: it copies the whole kernel, as simple as it gets.
  pm.addPass(createVersionDivisiblePass());
}

void AddNeutralEncodingPasses(mlir::OpPassManager& pm, const EncodingChoices& choices) {
  // First: whether a matrix unit takes scales is the first thing that differs between devices.
  DecomposeScaledDotPassOptions decompose;
  decompose.kept_tiles.assign(choices.scaled_tiles.begin(), choices.scaled_tiles.end());
  decompose.max_operand_bytes = choices.max_shared_bytes;
  pm.addPass(createDecomposeScaledDotPass(decompose));
  // While tensors have no encodings: the parts get theirs like everything else.
  SplitDotOperandsPassOptions split;
  split.matrix_operands.assign(choices.matrix_operands.begin(), choices.matrix_operands.end());
  pm.addPass(createSplitDotOperandsPass(split));
  // Every tensor gets the default encoding of its shape; from here on the module is ttg.
  ConvertToTtgPassOptions convert;
  convert.target = choices.target;
  convert.num_warps = choices.num_warps;
  convert.threads_per_warp = choices.threads_per_warp;
  convert.num_ctas = choices.num_ctas;
  pm.addPass(createConvertToTtgPass(convert));
  // Memory operations come first, as their encodings matter most; each pays with conversions around it.
  CoalescePassOptions coalesce;
  coalesce.max_add_bytes = choices.max_add_bytes;
  coalesce.reads_whole_words = choices.reads_whole_words;
  coalesce.cache_ratio = choices.cache_ratio;
  pm.addPass(createCoalescePass(coalesce));
  // Spreads the encodings that coalescing chose, so that most of those conversions vanish.
  pm.addPass(createRemoveLayoutConversionsPass());
}

void AddNeutralLoopPasses(mlir::OpPassManager& pm, int64_t cache_bytes_of_warp, int64_t registers) {
  // Once all tensors have the encodings that memory and dots want: those of scans pay for others by conversions.
  pm.addPass(createTurnScansPass());
  // The same for reductions of what is made of smaller tensors.
  pm.addPass(createTurnReductionsPass());
  // Conversions at the ends of branches meet those after them.
  pm.addPass(createSinkLayoutConversionsPass());
  // Folds what changing encodings left: conversions of splats, constants, conversions there and back.
  pm.addPass(CreateCanonicalizePass());
  // Operations and carried values that differed in their encodings alone are equal now.
  pm.addPass(createLoopAwareCsePass());
  // Under their final encodings: which bits of an index are a thread's own decides how far it reduces by itself.
  pm.addPass(createOptimizeThreadLocalityPass());
  // Once threads have their own sums: these may have maxima of their own, too.
  pm.addPass(createCarryMaximaPass());
  // Once threads carry what they sum up, and before loops that read the same are cut or turned round.
  KeepRowsPassOptions rows;
  rows.registers = registers;
  pm.addPass(createKeepRowsPass(rows));
  // Once threads carry what they sum up: both parts of a loop add to it.
  pm.addPass(createSplitFullTilesPass());
  // Loops over loops that ask for it become one, which pipelines better.
  pm.addPass(createFuseNestedLoopsPass());
  // Folds the counting of iterations; drops what the one loop need not carry.
  pm.addPass(CreateCanonicalizePass());
  // Once loops have the parts that stay, and before any pass starts loads of a later iteration.
  ReverseLoopsPassOptions reverse;
  reverse.cache_bytes_of_warp = cache_bytes_of_warp;
  pm.addPass(createReverseLoopsPass(reverse));
  // Before anything is computed in front of loops that programs may not enter.
  pm.addPass(createSkipEmptyLoopsPass());
  // Conversions of loop-invariant tensors leave the loops.
  pm.addPass(createHoistInvariantsPass());
  // Once conditions that do not change are made in front of loops, and no pass compares loops that follow each other.
  pm.addPass(createUnswitchLoopsPass());
  // These ask for it where no branch is left.
  pm.addPass(createUnrollLoopPass());
  // Once loops have parts without masks: these count alike for all elements.
  pm.addPass(createCarryCountsPass());
  // Before selects become branches: loads of small branches do not wait for their turn.
  pm.addPass(createPredicateBranchesPass());
  // Once conditions are as few as they get.
  pm.addPass(createCombineTensorSelectAndIfPass());
}

void AddCopyOrderPasses(mlir::OpPassManager& pm, const PipeliningLimits& limits) {
  if (limits.least_copy_bytes == 0 || !limits.copies_in_lane_order) return;
  OrderCopiesPassOptions order;
  order.num_stages = limits.num_stages;
  order.least_copy_bytes = limits.least_copy_bytes;
  order.most_copy_bytes = limits.most_copy_bytes;
  pm.addPass(createOrderCopiesPass(order));
}

void AddLoopPipeliningPasses(mlir::OpPassManager& pm, const PipeliningLimits& limits) {
  // The buffers have to fit, so the number of stages is settled first.
  AssignLatenciesPassOptions latencies;
  latencies.num_stages = limits.num_stages;
  latencies.max_shared_bytes = limits.max_shared_bytes;
  latencies.reserved_shared_bytes = limits.reserved_shared_bytes;
  latencies.least_copy_bytes = limits.least_copy_bytes;
  latencies.most_copy_bytes = limits.most_copy_bytes;
  latencies.copies_in_lane_order = limits.copies_in_lane_order;
  latencies.max_waiting_elements = limits.max_waiting_elements;
  latencies.thread_registers = limits.thread_registers;
  latencies.registers = limits.registers;
  latencies.multiprocessors = limits.multiprocessors;
  latencies.issued_warps = limits.issued_warps;
  latencies.min_stream_words = limits.min_stream_words;
  latencies.word_instructions = limits.word_instructions;
  latencies.bytes_on_the_way = limits.bytes_on_the_way;
  pm.addPass(createAssignLatenciesPass(latencies));
  // Once it is known which loads become copies.
  if (!limits.copies_in_lane_order) pm.addPass(createSpreadCopiesPass());
  pm.addPass(createScheduleLoopsPass());
  pm.addPass(createPipelinePass());
}

void AddNeutralFinalPasses(mlir::OpPassManager& pm, int64_t registers) {
  // Once it is known which loads begin in an earlier iteration: those of a branch cannot.
  pm.addPass(createSkipEmptyLoadsPass());
  // Once no pass asks any more how far apart addresses are. Equal reciprocals are joined next.
  pm.addPass(createDivideByInvariantsPass());
  // Index arithmetic of the first iterations and of the places in buffers; equal in many of them.
  pm.addPass(CreateCanonicalizePass());
  pm.addPass(createLoopAwareCsePass());
  // What the slices of a dot, or the places of a loop inside another one, have in common.
  pm.addPass(createHoistInvariantsPass());
  // Once gathers are joined that are equal, and have left the loops in which they do not change.
  pm.addPass(createShareGathersPass());
  if (registers > 0) {
    // Once loads are joined that are equal.
    ReloadAfterLoopsPassOptions reload;
    reload.registers = registers;
    pm.addPass(createReloadAfterLoopsPass(reload));
  }
  pm.addPass(mlir::createSymbolDCEPass());
  // The canonicaliser takes apart what this joins: a branch that only chooses.
  pm.addPass(createCombineTensorSelectAndIfPass());
  // Last: the canonicaliser would move constants up again.
  pm.addPass(createReorderInstructionsPass());
}

void AddNeutralLlirPasses(mlir::OpPassManager& pm, int64_t max_shared_bytes, const WarpGroups& groups,
                          int64_t registers) {
  // Everything after it asks how many warps run an operation, and which.
  AllocateWarpGroupsPassOptions warps;
  warps.group_warps = groups.warps;
  warps.registers = groups.registers;
  warps.register_step = groups.register_step;
  warps.least_registers = groups.least_registers;
  warps.most_registers = groups.most_registers;
  warps.entry_registers = groups.entry_registers;
  pm.addPass(createAllocateWarpGroupsPass(warps));
  // Copies are where they stay; loops still say what they carry.
  pm.addPass(createCountAsyncGroupsPass());
  // Lowering takes blocks and branches only; the analyses of shared memory work on them too.
  pm.addPass(mlir::createSCFToControlFlowPass());
  // Between blocks there is room for those of default regions.
  pm.addPass(createSplitWarpSpecializePass());
  // Its conversions may need shared memory.
  pm.addPass(createUntangleAxisPass());
  // Offsets first: whether two accesses can meet depends on where their buffers lie.
  AllocateSharedMemoryPassOptions allocate;
  allocate.max_bytes = max_shared_bytes;
  allocate.registers = registers;
  pm.addPass(createAllocateSharedMemoryPass(allocate));
  // Calls have their final form.
  pm.addPass(createAllocateGlobalScratchPass());
  // Once it is known that nothing needs shared memory: one thread alone waits for nobody.
  pm.addPass(createRunByOneThreadPass());
  // Before barriers: warps that have ended need none.
  pm.addPass(createEndIdleWarpsPass());
  // Late: a later pass that moves memory operations would break what the barriers promise.
  pm.addPass(createInsertBarriersPass());
}

}  // namespace tritond::compiler
