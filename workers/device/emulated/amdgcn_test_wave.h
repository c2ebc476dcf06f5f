// SPDX-License-Identifier: Apache-2.0
// Runs an AMD instruction on a wave, for tests.
#ifndef WORKERS_DEVICE_EMULATED_AMDGCN_TEST_WAVE_H_
#define WORKERS_DEVICE_EMULATED_AMDGCN_TEST_WAVE_H_

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "workers/device/emulated/amdgcn_name.h"
#include "workers/device/emulated/fake_machine.h"

namespace tritond::workers::emulated {

using Slots = std::vector<uint64_t>;

struct WaveOptions {
  uint64_t on = ~uint64_t{0};      // the lanes that take part
  Fault* fault = nullptr;          // where it goes; null: none is expected
  FakeMachine* machine = nullptr;  // null: one for this instruction
};

inline uint64_t F32(float value) { return BitsOfFloat(value); }

// Each lane's results of "NAME ARCH RESULTS : OPERANDS" for the operands that `in` gives.
inline std::vector<Slots> RunWave(const std::string& name, int lanes, const std::function<Slots(int)>& in,
                                  const WaveOptions& options = {}) {
  static FakeMachine own;
  std::vector<Slots> inputs, outputs(lanes, Slots(32, 0));
  for (int l = 0; l < lanes; ++l) inputs.push_back(in(l));
  std::vector<Lane> all(lanes);
  for (int l = 0; l < lanes; ++l) {
    all[l].thread = l;
    if (options.on >> l & 1) all[l] = {l, inputs[l].data(), outputs[l].data()};
  }
  auto instruction = FindInstruction("amdgcn:" + name);
  EXPECT_TRUE(instruction.ok()) << instruction.status();
  if (!instruction.ok()) return outputs;
  const Fault found = instruction->run({options.machine ? *options.machine : own, nullptr, all});
  if (options.fault) {
    *options.fault = found;
  } else {
    EXPECT_FALSE(found.has_value()) << name << ": " << *found;
  }
  return outputs;
}

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_AMDGCN_TEST_WAVE_H_
