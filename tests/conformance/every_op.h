// SPDX-License-Identifier: Apache-2.0
// A table of every operation that kernels may use, with a small kernel for each.
#ifndef TESTS_CONFORMANCE_EVERY_OP_H_
#define TESTS_CONFORMANCE_EVERY_OP_H_

#include <functional>

#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {

// What the kernels load: 128 elements each, of moderate size.
struct OpInputs {
  Array x;  // i32
  Array f;  // f32

  int64_t X(int i) const { return x.Int(i); }
  double F(int i) const { return f.Float(i); }
};

struct OpRow {
  std::string op;  // "tt.splat"
  // Defines %y, a tensor of 128 elements of `type`. There are %x, %f, %i (0 … 127), %from (the addresses of %x), %at
  // (the addresses of 128 i32 that are zero), their parameters %in, %fin, %mem, and scalars %zero and %one. $I, $F, $B
  // are the types of tensors of i32, f32, i1.
  std::string body;
  std::string type = "i32";
  // Element i of %y; null when the host has no such kernel.
  std::function<double(const OpInputs&, int)> expected;
  std::string host_says = "", nvidia_says = "";  // of the diagnostic, where it is not supported
  std::string functions = "";                    // besides the kernel
};

void PrintTo(const OpRow& row, std::ostream* os);

// Of dialect tt: what touches memory, and the rest.
std::vector<OpRow> TtMemoryRows();
std::vector<OpRow> TtRows();
std::vector<OpRow> ArithRows();
std::vector<OpRow> MathRows();
// Dialects scf, cf, ub.
std::vector<OpRow> ControlFlowRows();

}  // namespace tritond::conformance

#endif  // TESTS_CONFORMANCE_EVERY_OP_H_
