// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_MEMORY_MAP_H_
#define WORKERS_DEVICE_MEMORY_MAP_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tritond::workers {

// One live buffer of a device: addresses [begin, end).
struct MemoryRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string name;  // for messages: "the buffer of argument 2"

  bool Holds(uint64_t address, uint64_t bytes) const {
    return address >= begin && address <= end && bytes <= end - address;
  }
};

// The buffers that exist during a launch. Immutable; read from several threads.
class MemoryMap final {
 public:
  explicit MemoryMap(std::vector<MemoryRange> ranges);  // any order; they do not overlap

  // The range that holds all of the access; null when there is none. Valid as long as the map.
  const MemoryRange* Find(uint64_t address, uint64_t bytes) const;
  // Whether the access is one aligned word of four bytes, of which some range holds a byte.
  bool HoldsPartOfWord(uint64_t address, uint64_t bytes) const;
  // Where an address lies that no range holds: "16 bytes past the end of the buffer of argument 0 (4096 bytes)".
  std::string Describe(uint64_t address, uint64_t bytes) const;

 private:
  std::vector<MemoryRange> ranges_;  // by address
};

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_MEMORY_MAP_H_
