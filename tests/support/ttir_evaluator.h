// SPDX-License-Identifier: Apache-2.0
// Runs Triton IR as it reads: whole tensors as arrays, one operation after another, one program after another. It knows
// no layouts and no threads. It shares nothing with the compiler but the parser and the definitions of operations. So a
// kernel which computes the same on a device was compiled right.
//
// Floats are computed in their own type, rounded to nearest even; functions and sums of dots in f64, rounded once.
// What has no value (a masked element of a load, a division by zero, a float that does not fit an integer) is poison.
// Poison spreads, and may not reach memory, an address, a mask or a branch.
#ifndef TESTS_SUPPORT_TTIR_EVALUATOR_H_
#define TESTS_SUPPORT_TTIR_EVALUATOR_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace tritond::tests {

// A kernel parameter: memory that the launch may change, or the bits of a scalar.
struct EvaluatorArgument {
  static EvaluatorArgument Memory(absl::Span<char> bytes) { return {bytes, 0}; }
  static EvaluatorArgument Scalar(uint64_t bits) { return {{}, bits}; }

  absl::Span<char> memory;  // empty for a scalar
  uint64_t bits = 0;
};

// Keeps what all kernels share. Used by one thread at a time.
class TtirEvaluator {
 public:
  TtirEvaluator();
  ~TtirEvaluator();

  // Runs the first public function of `ir`, TTIR text or TTGIR without shared memory. InvalidArgument with the
  // operation and the program when `ir` is wrong, an access lies outside all buffers, poison is used or an assertion
  // fails. So it is when the evaluator does not know an operation, or the program does not end.
  absl::Status Run(const std::string& ir, std::array<uint32_t, 3> grid,
                   const std::vector<EvaluatorArgument>& arguments);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_TTIR_EVALUATOR_H_
