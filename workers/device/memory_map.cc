// SPDX-License-Identifier: Apache-2.0
#include "workers/device/memory_map.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tritond::workers {

MemoryMap::MemoryMap(std::vector<MemoryRange> ranges) : ranges_(std::move(ranges)) {
  std::sort(ranges_.begin(), ranges_.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
}

const MemoryRange* MemoryMap::Find(uint64_t address, uint64_t bytes) const {
  auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                [](uint64_t at, const MemoryRange& range) { return at < range.begin; });
  if (after == ranges_.begin()) return nullptr;
  const MemoryRange& range = *--after;
  return range.Holds(address, bytes) ? &range : nullptr;
}

bool MemoryMap::HoldsPartOfWord(uint64_t address, uint64_t bytes) const {
  constexpr uint64_t kWordBytes = 4;
  if (bytes != kWordBytes || address % kWordBytes != 0) return false;
  for (uint64_t i = 0; i < kWordBytes; ++i)
    if (Find(address + i, 1) != nullptr) return true;
  return false;
}

std::string MemoryMap::Describe(uint64_t address, uint64_t bytes) const {
  if (address < 4096) return absl::StrCat("at address ", address, ", a null pointer plus an offset");
  const MemoryRange* nearest = nullptr;
  uint64_t least = UINT64_MAX;
  for (const MemoryRange& range : ranges_) {
    const uint64_t distance = address < range.begin ? range.begin - address
                              : address > range.end ? address - range.end
                                                    : 0;
    if (nearest == nullptr || distance < least) nearest = &range, least = distance;
  }
  if (nearest == nullptr) return absl::StrCat("at 0x", absl::Hex(address), "; the device has no buffers");
  const std::string what = absl::StrCat(nearest->name, " (", nearest->end - nearest->begin, " bytes)");
  if (address < nearest->begin) return absl::StrCat(least, " bytes before the start of ", what);
  if (address >= nearest->end) return absl::StrCat(address - nearest->end, " bytes past the end of ", what);
  return absl::StrCat("from byte ", address - nearest->begin, " of ", what, ", across its end");
}

}  // namespace tritond::workers
