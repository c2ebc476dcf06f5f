// SPDX-License-Identifier: Apache-2.0
// A machine for tests of instructions: shared memory without checks, and addresses of this process as global ones.
#ifndef WORKERS_DEVICE_EMULATED_FAKE_MACHINE_H_
#define WORKERS_DEVICE_EMULATED_FAKE_MACHINE_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

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
  const char* PeekSharedAsync(int, const TritondHostSite*, uint64_t address, uint64_t, Fault*) override {
    return &memory[address];
  }
  char* AccessGlobal(const TritondHostSite*, uint64_t address, uint64_t, uint32_t, Fault*) override {
    return reinterpret_cast<char*>(address);
  }
  char* ReceiveShared(const TritondHostSite*, uint64_t address, uint64_t, Fault*) override { return &memory[address]; }
  char* StartReceiving(int, const TritondHostSite*, uint64_t address, uint64_t, Fault*) override {
    return &memory[address];
  }
  BulkCopies& Copies() override { return copies; }
  TensorMapLog& Maps() override { return maps; }
  void Release(int, ReleaseClocks::Times*) override {}
  void Acquire(int, const ReleaseClocks::Times&) override {}
  Moment Now(int thread) override { return {epoch, thread / 32, 0, 0}; }
  bool Knows(int, const Moment& moment) override { return moment.epoch != epoch; }
  TensorMemory& Tensors() override { return tensors; }
  void FenceAsyncProxy(int) override { ++fences; }
  AsynchronousProducts& ProductsOf(int thread) override { return products[thread / 32]; }
  void StartCopy(int thread, const TritondHostSite*, uint64_t to, uint64_t from, uint32_t bytes, uint32_t read,
                 Fault*) override {
    pending.push_back({thread, to, from, bytes, read});
  }
  void CommitCopies(int thread) override { ++groups[thread]; }
  void WaitForCopies(int, uint32_t count, Fault*) override { waits.push_back(count); }
  bool& HasSignalled(int thread) override { return signals[thread]; }
  uint64_t StartedCopies(int) override { return pending.size(); }
  Fault FinishCopies(int, uint64_t started) override {
    finished = started;
    return absl::nullopt;
  }
  void StartWithRegisters(uint32_t) override {}
  Fault SetRegisters(int thread, uint32_t registers, bool) override {
    registers_of_warp[thread / 32] = registers;
    return absl::nullopt;
  }
  void Print(absl::string_view text) override { printed += std::string(text); }

  // At an address in shared memory.
  template <typename Word>
  void Set(uint64_t address, Word word) {
    std::memcpy(&memory[address], &word, sizeof(word));
  }

  std::array<char, 1 << 18> memory = {};
  BulkCopies copies;
  TensorMapLog maps;
  TensorMemory tensors;
  uint64_t epoch = 0;                            // counts barriers
  std::array<AsynchronousProducts, 4> products;  // of each warp
  struct Pending {
    int thread;
    uint64_t to, from;
    uint32_t bytes, read;
  };
  std::vector<Pending> pending;
  uint64_t finished = 0;                      // of them
  std::map<int, uint32_t> registers_of_warp;  // that it asked for
  std::map<int, int> groups;                  // by thread
  std::vector<uint32_t> waits;
  std::map<int, bool> signals;
  std::string printed;
  int fences = 0;
};

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_FAKE_MACHINE_H_
