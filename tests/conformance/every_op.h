// SPDX-License-Identifier: Apache-2.0
// A table of every operation that kernels may use, with a small kernel for each; and of what targets have beside them.
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

// What a target says of a kernel that it does not compile.
struct Refusal {
  std::string targets;  // how their names begin: "host", "cuda:80", "emulated:"; empty: all
  std::string says;     // part of the diagnostic
};

struct OpRow {
  std::string op;  // "tt.splat"
  // Defines %y, a tensor of 128 elements of `type`. There are %x, %f, %i (0 … 127), %from (the addresses of %x), and
  // %at (the addresses of 128 i32 that are zero). There are also their parameters %in, %fin, %mem, and scalars %zero
  // and %one. $I, $F, $B are the types of tensors of i32, f32, i1.
  std::string body;
  std::string type = "i32";
  // Element i of %y; null when no target has such a kernel.
  std::function<double(const OpInputs&, int)> expected;
  std::vector<Refusal> refusals = {};  // the first that fits counts
  std::string functions = "";          // besides the kernel
  std::string options = "";            // JSON members, beside num_warps
  int num_warps = 0;                   // 0: any
};

// What `target` says of the row, by its own name or by that of the device which it emulates; null: it compiles it.
const Refusal* RefusalBy(const std::string& target, const OpRow& row);

void PrintTo(const OpRow& row, std::ostream* os);

// Of dialect tt: what touches memory, and the rest.
std::vector<OpRow> TtMemoryRows();
std::vector<OpRow> TtRows();
std::vector<OpRow> ArithRows();
std::vector<OpRow> MathRows();
// Dialects scf, cf, ub.
std::vector<OpRow> ControlFlowRows();
// Not of one operation: what differs between generations of devices. `op` is the name of the matter.
std::vector<OpRow> FeatureRows();

}  // namespace tritond::conformance

#endif  // TESTS_CONFORMANCE_EVERY_OP_H_
