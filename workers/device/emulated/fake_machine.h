// SPDX-License-Identifier: Apache-2.0
// A machine for tests of instructions: shared memory without checks, and addresses of this process as global ones.
#ifndef WORKERS_DEVICE_EMULATED_FAKE_MACHINE_H_
#define WORKERS_DEVICE_EMULATED_FAKE_MACHINE_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "workers/device/emulated/instruction.h"

namespace tritond::workers::emulated {

class FakeMachine final : public Machine {
 public:
  char* AccessShared(int, const TritondHostSite*, uint64_t address, uint64_t, uint32_t, Fault*) override {
    return &memory[address];
  }
  const char* ReadSharedAsync(int, const TritondHostSite*, uint64_t address, uint64_t, Fault*) override {
    return &memory[address];
  }
  char* AccessGlobal(const TritondHostSite*, uint64_t address, uint64_t, uint32_t, Fault*) override {
    return reinterpret_cast<char*>(address);
  }
  char* ReceiveShared(const TritondHostSite*, uint64_t address, uint64_t, Fault*) override { return &memory[address]; }
  BulkCopies& Copies() override { return copies; }
  void FenceAsyncProxy(int) override { ++fences; }
  AsynchronousProducts& ProductsOf(int thread) override { return products[thread / 32]; }
  void Print(absl::string_view text) override { printed += std::string(text); }

  // At an address in shared memory.
  template <typename Word>
  void Set(uint64_t address, Word word) {
    std::memcpy(&memory[address], &word, sizeof(word));
  }

  std::array<char, 1 << 18> memory = {};
  BulkCopies copies;
  std::array<AsynchronousProducts, 4> products;  // of each warp
  std::string printed;
  int fences = 0;
};

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_FAKE_MACHINE_H_
