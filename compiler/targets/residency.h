// SPDX-License-Identifier: Apache-2.0
// How many blocks of a kernel a multiprocessor runs at once, from what the binary takes of it.
#ifndef COMPILER_TARGETS_RESIDENCY_H_
#define COMPILER_TARGETS_RESIDENCY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/targets/target_info.h"

namespace tritond::compiler {

// What a binary says of itself; nothing where it does not say.
struct BinaryResources {
  std::optional<int64_t> registers;    // of a thread
  std::optional<int64_t> local_bytes;  // of a thread: registers that are spilled, and arrays
};

struct Residency {
  int64_t blocks = 0;      // on one multiprocessor, at once
  int64_t warps = 0;       // of these blocks
  int64_t most_warps = 0;  // that a multiprocessor has room for
  std::string limit;       // what keeps more blocks out: "warps", "blocks", "registers" or "shared memory"
};

// Of blocks of `warps` warps that have `shared_bytes` of shared memory. Nothing where the target or the binary does not
// tell what it takes to know.
std::optional<Residency> ResidencyOf(const BinaryResources& resources, int64_t shared_bytes, int64_t warps,
                                     const TargetInfo& info);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_RESIDENCY_H_
