// SPDX-License-Identifier: Apache-2.0
// DPAS, "dot product accumulate systolic", by the functions of OpenCL's extension
// cl_intel_subgroup_matrix_multiply_accumulate. They take up to 8 rows of accumulators, and a column for each lane of a
// sub-group.
#ifndef COMPILER_TARGETS_INTEL_MATRIX_INSTRUCTIONS_H_
#define COMPILER_TARGETS_INTEL_MATRIX_INSTRUCTIONS_H_

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/ir/tt_dialect.h"
#include "compiler/targets/intel/architecture.h"
#include "compiler/targets/target_info.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tritond::compiler::intel {

// A row of a has so many bits, and a column of b eight words of 32 bits.
inline constexpr int kMaxTileRows = 8, kSystolicDepth = 8, kRowBits = 256;

struct MatrixRow {
  const char* type;      // of both operands
  const char* function;  // of OpenCL
  int per_channel;       // elements of a word of b

  int depth() const { return kSystolicDepth * per_channel; }
  // Rows of a that lie side by side in so many lanes.
  int RowsOfLanes(int lanes) const { return std::max(1, lanes / depth()); }
  // Rows of the smallest tile for so many rows of accumulators.
  int TileRows(int64_t rows, int lanes) const { return std::clamp<int64_t>(rows, RowsOfLanes(lanes), kMaxTileRows); }
};

// The row for operands of this type, which is the tf32 type where f32 may be rounded to it. Null: there is none, or the
// device's sub-groups are not those of its matrix unit.
const MatrixRow* FindMatrixRow(const Device& device, mlir::Type operand);

// The type that FindMatrixRow takes, of an operand of `dot`.
mlir::Type MatrixTypeOf(tt::DotOp dot, mlir::Type element);

// The instructions that FindMatrixRow has rows for.
std::vector<MatrixShape> MatrixShapesOf(const Device& device);

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_MATRIX_INSTRUCTIONS_H_
