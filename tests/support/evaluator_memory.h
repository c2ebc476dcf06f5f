// SPDX-License-Identifier: Apache-2.0
// Global memory as a kernel sees it: a few buffers, far apart, and nothing between them.
#ifndef TESTS_SUPPORT_EVALUATOR_MEMORY_H_
#define TESTS_SUPPORT_EVALUATOR_MEMORY_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "absl/types/span.h"

namespace tritond::tests {

// Does not own the buffers, which must outlive it.
class EvaluatorMemory {
 public:
  // The buffer's address, aligned to 4096.
  uint64_t Add(absl::Span<char> bytes);
  // Little-endian, `size` from 1 to 8 bytes; nothing or false when they do not lie in one buffer.
  absl::optional<uint64_t> Load(uint64_t address, int size) const;
  bool Store(uint64_t address, int size, uint64_t bits);

 private:
  char* Find(uint64_t address, int size) const;

  std::vector<absl::Span<char>> buffers_;
};

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_EVALUATOR_MEMORY_H_
