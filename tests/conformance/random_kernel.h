// SPDX-License-Identifier: Apache-2.0
// Random kernels on a device against the evaluator.
#ifndef TESTS_CONFORMANCE_RANDOM_KERNEL_H_
#define TESTS_CONFORMANCE_RANDOM_KERNEL_H_

#include <cstdint>
#include <string>

#include "tests/conformance/run_kernel.h"
#include "tests/support/kernel_generator.h"

namespace tritond::conformance {

enum class Verdict {
  kSame,
  kUnsupported,  // a diagnostic says what the compiler or the target lacks
  kWrong,        // the device and the evaluator differ, or one of them failed
};

struct Trial {
  Verdict verdict = Verdict::kSame;
  std::string explanation;  // with the kernel's text; empty for kSame
};

// The kernel of `seed` and `steps` on `machine`. `options` are more of its options, as members of a JSON object.
Trial TryKernel(const Machine& machine, uint64_t seed, int steps, const std::string& options = "",
                tests::Theme theme = tests::Theme::kAny);
// As TryKernel; where it is wrong, the explanation is that of the shortest kernel of the seed that is.
Trial TryAndShorten(const Machine& machine, uint64_t seed, int steps, const std::string& options = "",
                    tests::Theme theme = tests::Theme::kAny);

}  // namespace tritond::conformance

#endif  // TESTS_CONFORMANCE_RANDOM_KERNEL_H_
