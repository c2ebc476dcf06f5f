// SPDX-License-Identifier: Apache-2.0
#include "tests/support/evaluator_memory.h"

#include <cstring>

namespace tritond::tests {
namespace {

// Buffer i begins at (i + 1) * kDistance; no kernel of a test strays further than that by accident.
constexpr uint64_t kDistance = uint64_t{1} << 40;

}  // namespace

uint64_t EvaluatorMemory::Add(absl::Span<char> bytes) {
  buffers_.push_back(bytes);
  return buffers_.size() * kDistance;
}

char* EvaluatorMemory::Find(uint64_t address, int size) const {
  uint64_t index = address / kDistance, offset = address % kDistance;
  if (index == 0 || index > buffers_.size()) return nullptr;
  absl::Span<char> buffer = buffers_[index - 1];
  return offset + size <= buffer.size() ? buffer.data() + offset : nullptr;
}

absl::optional<uint64_t> EvaluatorMemory::Load(uint64_t address, int size) const {
  const char* from = Find(address, size);
  if (!from) return absl::nullopt;
  uint64_t bits = 0;
  std::memcpy(&bits, from, size);
  return bits;
}

bool EvaluatorMemory::Store(uint64_t address, int size, uint64_t bits) {
  char* to = Find(address, size);
  if (to) std::memcpy(to, &bits, size);
  return to;
}

}  // namespace tritond::tests
