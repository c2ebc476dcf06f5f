// SPDX-License-Identifier: Apache-2.0
// What everybody but the target itself needs to know of a device: plain facts, the same for the life of the process.
#ifndef COMPILER_TARGETS_TARGET_INFO_H_
#define COMPILER_TARGETS_TARGET_INFO_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/targets/option_rules.h"

namespace tritond::compiler {

// Copies from global to shared memory that a thread starts and waits for later.
struct AsyncCopies {
  int least_bytes = 0;  // of one copy; 0: there are none
  int most_bytes = 0;
  // The lanes of a warp write side by side, in their order.
  bool in_lane_order = false;

  bool any() const { return least_bytes > 0; }
};

// An instruction by which the lanes of a warp, or of a group of warps, add a * b to accumulators of m x n elements.
struct MatrixShape {
  // Both element types, as MLIR spells them; of 8-bit floats "f8" alone. "mx": any two of e4m3, e5m2 and e2m1, whose
  // elements are multiplied by scales, powers of two. "nvfp4": e2m1 with scales of e4m3.
  std::string operands;
  std::string accumulator;     // element type: "f32", "i32", "f64"
  int m = 0, n = 0, k = 0;     // n: the most columns, where it may have several numbers of them
  int warps = 1;               // that execute it together
  bool reads_buffers = false;  // operands come from shared memory
  // The layout of accumulators in the registers of `warps` warps, an encoding as TTGIR writes it. Operands that come
  // from registers have the layouts that dot_op gives for it.
  std::string encoding;
  int scale_group = 0;   // elements along K that have one scale; 0: operands have none
  int64_t products = 0;  // multiply-adds that a multiprocessor makes in a cycle by it; 0: not known
};

// Groups of warps that give each other registers while they run: how many a thread can have.
struct RegisterExchange {
  int step = 1;  // a multiple of so many
  int least = 0;
  int most = 0;  // 0: warps keep theirs

  bool any() const { return most > 0; }
};

// How fast a multiprocessor does what cost models weigh against each other.
struct Rates {
  int issued_warps = 4;            // that issue an instruction in a cycle
  int shared_bytes = 128;          // that shared memory moves in a cycle
  bool pairs_share_reads = false;  // see dots/accumulator_sharing.h
  int fill_bytes = 64;             // that it gets from the caches of all multiprocessors in a cycle
  // Of the largest device of this architecture; 0: not known.
  double clock = 0;           // cycles in a nanosecond
  double memory_bytes = 0;    // that its memory moves in a nanosecond
  double memory_latency = 0;  // nanoseconds until what is loaded is there
  double block_launch = 0;    // nanoseconds from the start of a block to that of the next one, on all multiprocessors
  int64_t cache_bytes = 0;    // of the cache that all multiprocessors share
};

// What blocks share on the unit that runs them, beside its registers. All of it is 0 where it is not known.
struct Multiprocessor {
  int warps = 0;                      // at once
  int blocks = 0;                     // at once
  int64_t register_unit = 1;          // words, in which a warp gets its registers
  int64_t shared_bytes = 0;           // of all blocks together
  int64_t shared_unit = 1;            // bytes, in which a block gets its shared memory
  int64_t reserved_shared_bytes = 0;  // of each block, beside what the kernel asks for
};

struct TargetInfo {
  std::string name;                // as clients write it: "cuda:90"
  std::string backend;             // what upstream Triton calls the family: "cuda", "hip"
  nlohmann::json arch;             // and the generation: 90, "gfx942"
  std::string asm_format;          // "ptx"; also the extension of files that hold it
  std::string binary_format;       // "cubin"
  std::string disassembly_format;  // of the binary's instructions as text: "sass"; "": the target makes none
  int lanes = 32;                  // threads of a warp, a power of two
  int max_threads = 1024;          // of a block
  int max_ctas = 1;                // blocks of a cluster
  int64_t max_shared_bytes = 0;    // of a block
  int64_t registers = 0;           // words that the blocks of a multiprocessor have together; 0: not known
  Multiprocessor multiprocessor;
  int64_t multiprocessors = 0;  // of the largest device of this architecture; 0: not known
  int warps_of_group = 1;       // that matrix instructions or the exchange of registers take together
  RegisterExchange register_exchange;
  int max_add_bytes = 4;           // neighbouring floats in memory that one atomic addition changes
  bool reads_whole_words = false;  // TargetOps::ReadsWholeWords
  AsyncCopies async_copies;
  std::vector<MatrixShape> matrix_instructions;
  Rates rates;
  int default_stages = 3;  // of software pipelines, where neither request nor loop says
  // Whether the code names places to the device, so that LowerToLlvm and Optimize need the location of every operation.
  // That is a place in the source where the request keeps them, else in the text of its IR.
  bool needs_locations = false;
  // Whether a caller's assembly may become part of the code: text at stage asm, module assembly and inline assembly.
  // True only where LLVM assembles none of it in this process, because LLVM's directives read files. Also, the code
  // must run on a device and never as a program of this machine.
  bool takes_foreign_assembly = false;
  bool takes_assembly_text = false;  // a compile may start at stage asm
  // Options that this target has beside those of all (OptionRulesOf).
  std::vector<OptionRule> own_options;
};

// The element types of operands that the matrix unit multiplies, each once.
std::vector<std::string> MatrixOperandsOf(const TargetInfo& info);

// Warps of the largest block.
int MaxWarps(const TargetInfo& info);

// The rules of all options that the target takes: those that every target has, in its limits, then its own.
std::vector<OptionRule> OptionRulesOf(const TargetInfo& info);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_TARGET_INFO_H_
