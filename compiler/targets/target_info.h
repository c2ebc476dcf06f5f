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

  bool any() const { return least_bytes > 0; }
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
  int64_t multiprocessors = 0;       // of the largest device of this architecture; 0: not known
  int warps_of_group = 1;            // that matrix instructions or the exchange of registers take together
  bool exchanges_registers = false;  // groups of warps can give each other some while they run
  int max_add_bytes = 4;             // neighbouring floats in memory that one atomic addition changes
  AsyncCopies async_copies;
  // Element types of operands that the matrix unit multiplies, as MLIR spells them; of 8-bit floats "f8" alone.
  std::vector<std::string> matrix_operands;
  int default_stages = 3;  // of software pipelines, where neither request nor loop says
  // Whether the code names places to the device, so that LowerToLlvm and Optimize need the location of every operation:
  // a place in the source where the request keeps them, else in the text of its IR.
  bool tells_places = false;
  // Whether a caller's assembly may become part of the code: text at stage asm, module assembly and inline assembly.
  // Only where none of it is assembled by LLVM in this process, whose directives read files, and where the code runs on
  // a device and never as a program of this machine.
  bool takes_foreign_assembly = false;
  bool takes_assembly_text = false;  // a compile may start at stage asm
  // Options that this target has beside those of all (OptionRulesOf).
  std::vector<OptionRule> own_options;
};

// The rules of all options that the target takes: those that every target has, in its limits, then its own.
std::vector<OptionRule> OptionRulesOf(const TargetInfo& info);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_TARGET_INFO_H_
