// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ANALYSIS_AXIS_RUNS_H_
#define COMPILER_ANALYSIS_AXIS_RUNS_H_

#include <string>

#include "compiler/layout/linear_layout.h"
#include "llvm/ADT/SmallVector.h"

namespace tritond::compiler {

// Neighbouring bits of an axis index, from the least significant, that are bits of `in`: register, lane or warp.
struct AxisRun {
  std::string in;
  llvm::SmallVector<int> bits;

  int Size() const { return 1 << bits.size(); }
  int Mask() const { return IndexOf(Size() - 1); }
  // The index in `in` of the run's position `at`.
  int IndexOf(int at) const;
};

// The runs that make up the index along `axis`, from the least significant; each as long as it gets. Every basis of the
// layout moves along the axis by a power of two or not at all (IsScannable).
llvm::SmallVector<AxisRun> RunsAlong(const LinearLayout& layout, absl::string_view axis);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_AXIS_RUNS_H_
