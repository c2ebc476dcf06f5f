// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_EMULATED_TENSOR_MAP_LOG_H_
#define WORKERS_DEVICE_EMULATED_TENSOR_MAP_LOG_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/types/optional.h"
#include "workers/device/emulated/tensor_memory.h"

namespace tritond::workers::emulated {

// The tensor maps that a program has written to global memory. A thread acquires one once something has told it of the
// write (PTX ISA, "fence.proxy.tensormap"). Copies by that thread may then use it, and by those that it has told. A map
// may be written again once the copies by it are over. Maps of the launch are not known here.
class TensorMapLog final {
 public:
  // Whether a thread knows that the moment is over.
  using Knows = std::function<bool(const Moment&)>;

  // The map at `address` is written. What is wrong with that, if anything.
  absl::optional<std::string> Write(uint64_t address, const Moment& when);
  void Acquire(int thread, uint64_t address, const Moment& when, const Knows& knows);
  // A copy by `thread` starts, or has ended.
  absl::optional<std::string> Begin(int thread, uint64_t address, const Knows& knows);
  void End(uint64_t address);

  void Clear() { maps_.clear(); }

 private:
  struct Map {
    Moment written;
    int copies = 0;                  // that go on
    std::map<int, Moment> acquired;  // by thread, since it was written
  };

  std::map<uint64_t, Map> maps_;
};

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_TENSOR_MAP_LOG_H_
