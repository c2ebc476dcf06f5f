// SPDX-License-Identifier: Apache-2.0
// Each order places one buffer after another at the lowest offset that is free during its whole life. Which order is
// best depends on the program. Large buffers first avoids holes that nothing large fits. Long lives first keeps what
// stays at the bottom. The order by birth is right for stacks. See Gergov, "Algorithms for Compile-Time Memory
// Optimization" (SODA 1999), for bounds.
#include "compiler/analysis/place_buffers.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace tritond::compiler {
namespace {

int64_t AlignUp(int64_t offset, int64_t alignment) { return (offset + alignment - 1) & -alignment; }

bool Meet(const TimedBuffer& a, const TimedBuffer& b) { return a.first < b.last && b.first < a.last; }

// What the busiest step needs at least.
int64_t LowerBound(absl::Span<const TimedBuffer> buffers) {
  std::vector<std::pair<int, int64_t>> changes;
  for (const TimedBuffer& buffer : buffers) {
    changes.emplace_back(buffer.first, buffer.bytes);
    changes.emplace_back(buffer.last, -buffer.bytes);
  }
  std::sort(changes.begin(), changes.end());  // ends before begins within a step
  int64_t live = 0, most = 0;
  for (const auto& change : changes) most = std::max(most, live += change.second);
  return most;
}

// The lowest offset at which `buffer` meets none of `placed`, which are sorted by offset.
int64_t LowestFree(const TimedBuffer& buffer, absl::Span<const TimedBuffer* const> placed) {
  int64_t offset = 0;
  for (const TimedBuffer* other : placed) {
    if (!Meet(buffer, *other)) continue;
    if (offset + buffer.bytes <= other->offset) break;
    offset = std::max(offset, AlignUp(other->offset + other->bytes, buffer.alignment));
  }
  return offset;
}

int64_t PlaceInOrder(absl::Span<TimedBuffer> buffers, absl::Span<const size_t> order) {
  std::vector<const TimedBuffer*> placed;
  placed.reserve(order.size());
  int64_t total = 0;
  for (size_t i : order) {
    TimedBuffer& buffer = buffers[i];
    buffer.offset = LowestFree(buffer, placed);
    total = std::max(total, buffer.offset + buffer.bytes);
    auto after = [](const TimedBuffer* a, const TimedBuffer* b) { return a->offset < b->offset; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), &buffer, after), &buffer);
  }
  return total;
}

using Rank = std::function<std::tuple<int64_t, int64_t, int64_t>(const TimedBuffer&)>;

}  // namespace

int64_t PlaceBuffers(absl::Span<TimedBuffer> buffers) {
  const Rank ranks[] = {
      [](const TimedBuffer& b) { return std::tuple(-b.bytes, int64_t{b.first} - b.last, int64_t{b.first}); },
      [](const TimedBuffer& b) { return std::tuple(int64_t{b.first} - b.last, -b.bytes, int64_t{b.first}); },
      [](const TimedBuffer& b) { return std::tuple(int64_t{b.first}, int64_t{b.first} - b.last, -b.bytes); }};
  const int64_t bound = LowerBound(buffers);
  int64_t best = -1;
  std::vector<int64_t> offsets(buffers.size());
  std::vector<size_t> order(buffers.size());
  for (const Rank& rank : ranks) {
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return rank(buffers[a]) < rank(buffers[b]); });
    int64_t total = PlaceInOrder(buffers, order);
    if (best < 0 || total < best) {
      best = total;
      for (size_t i = 0; i < buffers.size(); ++i) offsets[i] = buffers[i].offset;
    }
    if (best == bound) break;
  }
  for (size_t i = 0; i < buffers.size(); ++i) buffers[i].offset = offsets[i];
  return best;
}

}  // namespace tritond::compiler
