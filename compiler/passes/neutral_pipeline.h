// SPDX-License-Identifier: Apache-2.0
// The stretches of a target's pipeline that are equal for all devices. A target that needs another order writes its
// own stretch in its pipeline.cc.
#ifndef COMPILER_PASSES_NEUTRAL_PIPELINE_H_
#define COMPILER_PASSES_NEUTRAL_PIPELINE_H_

#include <string>
#include <vector>

#include "mlir/Pass/PassManager.h"

namespace tritond::compiler {

// What ttir depends on of a device and a request.
struct TtirChoices {
  int descriptor_flags = 0;       // LaunchAbi
  bool has_bulk_copies = false;   // of blocks that descriptors name
  bool host_tensor_maps = false;  // LaunchAbi; only with bulk copies
  int64_t threads = 0;            // of a block; 0: not known
  int num_ctas = 1;               // blocks of a cluster
};

// From parsed to canonical ttir.
void AddNeutralTtirPasses(mlir::OpPassManager& pm, const TtirChoices& choices);

// What the first encodings depend on.
struct EncodingChoices {
  std::string target;                        // as clients write it: "cuda:90"
  int num_warps = 4, threads_per_warp = 32;  // of a block, of a warp
  int num_ctas = 1;                          // blocks of a cluster
  int max_add_bytes = 4;                     // that one atomic addition of floats changes
  bool reads_whole_words = false;            // TargetOps::ReadsWholeWords
  double cache_ratio = 0;                    // bytes that the first cache moves while memory moves one; 0: not known
  std::vector<std::string> matrix_operands;  // element types that the matrix unit multiplies; TargetInfo has the list
  std::vector<std::string> scaled_tiles;     // matrix instructions that take scales: "mx:16x16x128:32"
  int64_t max_shared_bytes = 0;              // of a block
};

// From canonical ttir to ttgir in which memory operations have the encodings that suit them.
void AddNeutralEncodingPasses(mlir::OpPassManager& pm, const EncodingChoices& choices);

// For ttgir whose encodings are chosen: canonical loops, with as little in them as can be. A target that pipelines its
// loops does so afterwards. `cache_bytes_of_warp`: of the cache of all multiprocessors, for each warp that the device
// runs at once; 0: not known. `registers`: words that the blocks of a multiprocessor have together; 0: not known.
void AddNeutralLoopPasses(mlir::OpPassManager& pm, int64_t cache_bytes_of_warp, int64_t registers);

struct PipeliningLimits {
  int num_stages = 3;                 // iterations in flight, where a loop does not say how many
  int64_t max_shared_bytes = 0;       // of a block, for the buffers
  int64_t reserved_shared_bytes = 0;  // of each block, beside them
  int least_copy_bytes = 0;           // that a thread copies asynchronously; 0: it cannot
  int most_copy_bytes = 0;
  bool copies_in_lane_order = false;  // lanes of a warp write side by side, least_copy_bytes or most_copy_bytes each
  int max_waiting_elements = 64;      // of a thread, that are no such copies and wait in registers
  int thread_registers = 0;           // words that a thread has; 0: as many as it takes
  int64_t registers = 0;              // words that the blocks of a multiprocessor have together; 0: not known
  int64_t multiprocessors = 0;        // of the device; 0: not known
  int64_t issued_warps = 0;           // of a multiprocessor, in a cycle; 0: not known
  int64_t min_stream_words =
      0;  // of a thread and iteration, from which on loads without dots start an iteration early; 0: none
  int64_t word_instructions = 0;  // that a thread issues while memory gives it a word; 0: not known
  int64_t bytes_on_the_way = 0;   // to a multiprocessor, while memory delivers as much as it can; 0: not known
};

// Once dots have their encodings, and before conversions are removed: loads for dots get encodings that suit the
// copies.
void AddCopyOrderPasses(mlir::OpPassManager& pm, const PipeliningLimits& limits);

// Overlaps the iterations of loops. Once every tensor has its final encoding, and while dots are still dots.
void AddLoopPipeliningPasses(mlir::OpPassManager& pm, const PipeliningLimits& limits);

// The end of ttgir, once loops are pipelined and dots tiled: little is left to compute, in the order in which it runs.
// `registers`: words that the blocks of a multiprocessor have together; 0: not known.
void AddNeutralFinalPasses(mlir::OpPassManager& pm, int64_t registers = 0);

// What the partitions of warp-specialised kernels are made of.
struct WarpGroups {
  int warps = 1;          // that the device takes together
  int64_t registers = 0;  // words of a multiprocessor, where warps can give each other some; 0: they cannot
  int register_step = 1, least_registers = 0, most_registers = 0;  // that a thread can have then
  int entry_registers = 0;  // that a thread has when a kernel starts; 0: as many as fit
};

// From final ttgir to what LowerToLlvm takes. `max_shared_bytes`: that a block can have; 0: not known. `registers`:
// words of a multiprocessor, where one memory is its cache and shared memory; 0: it is not so.
void AddNeutralLlirPasses(mlir::OpPassManager& pm, int64_t max_shared_bytes, const WarpGroups& groups = {},
                          int64_t registers = 0);

}  // namespace tritond::compiler

#endif  // COMPILER_PASSES_NEUTRAL_PIPELINE_H_
