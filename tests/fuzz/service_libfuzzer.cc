// SPDX-License-Identifier: Apache-2.0
// One target for libFuzzer, which finds its way by coverage: see tests/README.md.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/service_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const tritond::tests::ServiceTarget* const target = [] {
    for (auto& each : tritond::tests::ServiceTargets()) {
      if (each.name == TRITOND_FUZZ_TARGET) return new tritond::tests::ServiceTarget(each);
    }
    return static_cast<tritond::tests::ServiceTarget*>(nullptr);
  }();
  target->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
