// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/tensor_map_log.h"

namespace tritond::workers::emulated {

absl::optional<std::string> TensorMapLog::Write(uint64_t address, const Moment& when) {
  Map& map = maps_[address];
  map.written = when;
  map.acquired.clear();
  if (map.copies > 0) return std::string("writes a tensor map while copies by it go on");
  return absl::nullopt;
}

void TensorMapLog::Acquire(int thread, uint64_t address, const Moment& when, const Knows& knows) {
  auto found = maps_.find(address);
  if (found != maps_.end() && knows(found->second.written)) found->second.acquired[thread] = when;
}

absl::optional<std::string> TensorMapLog::Begin(int thread, uint64_t address, const Knows& knows) {
  auto found = maps_.find(address);
  if (found == maps_.end()) return absl::nullopt;
  ++found->second.copies;
  for (const auto& [other, when] : found->second.acquired)
    if (other == thread || knows(when)) return absl::nullopt;
  return std::string("a copy by a tensor map that has not been acquired since it was written");
}

void TensorMapLog::End(uint64_t address) {
  auto found = maps_.find(address);
  if (found != maps_.end()) --found->second.copies;
}

}  // namespace tritond::workers::emulated
