// SPDX-License-Identifier: Apache-2.0
// One target for libFuzzer, which finds its way by coverage: see tests/README.md. It needs no folder of inputs to begin
// with: now and then a mutation is one of the target's sound inputs instead.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "tests/fuzz/service_targets.h"

namespace {

constexpr unsigned kMutationsPerSeed = 64;

const tritond::tests::ServiceTarget& Target() {
  static const tritond::tests::ServiceTarget* const target = [] {
    for (auto& each : tritond::tests::ServiceTargets()) {
      if (each.name == TRITOND_FUZZ_TARGET) return new tritond::tests::ServiceTarget(each);
    }
    return static_cast<tritond::tests::ServiceTarget*>(nullptr);
  }();
  return *target;
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  const auto& seeds = Target().seeds;
  if (!seeds.empty() && (size < 2 || seed % kMutationsPerSeed == 0)) {
    const std::string& sound = seeds[seed / kMutationsPerSeed % seeds.size()];
    if (sound.size() <= max_size) {
      memcpy(data, sound.data(), sound.size());
      return sound.size();
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Target().run({reinterpret_cast<const char*>(data), size});
  return 0;
}
