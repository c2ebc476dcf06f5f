// SPDX-License-Identifier: Apache-2.0
// How far apart the elements of a tensor of addresses are, as a rule.
#ifndef COMPILER_ANALYSIS_TYPICAL_STEPS_H_
#define COMPILER_ANALYSIS_TYPICAL_STEPS_H_

#include "compiler/analysis/axis_info.h"
#include "llvm/ADT/SmallVector.h"

namespace tritond::compiler {

// From an element to its next neighbour along a dimension: most are `size` further, elements for pointers. A share of
// `jumps` of them is anywhere.
struct Step {
  double size = 0;
  double jumps = 1;

  bool IsEqual() const { return size == 0 && jumps == 0; }
  // How many sectors of `sector_bytes` lie between neighbours of `bytes` each, those that jump counted as one. The
  // share of neighbours that begin another sector, if it is less than one.
  double Sectors(double bytes, double sector_bytes) const;
};

// By dimension. Where AxisInfoAnalysis proves what holds of all neighbours, this says what holds of most, for choices
// between orders that are all right:
//
//   %p + (%i % %w) + (%i / %w) * %s      %i = make_range        size 1, few jumps: %w is far above 1
//   %p + %c * %s                         %c = make_range        the size of %s, of which is known that it is not 1
//   %p + int(float(%i) * 0.25)           %i = make_range        size 0.25
//
// A number that nothing is known of counts as a size of a tensor. Numbers that neighbours load from different addresses
// jump.
llvm::SmallVector<Step, 4> TypicalSteps(mlir::Value tensor, const AxisInfoAnalysis& axes);

}  // namespace tritond::compiler

#endif  // COMPILER_ANALYSIS_TYPICAL_STEPS_H_
