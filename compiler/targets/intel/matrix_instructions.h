// SPDX-License-Identifier: Apache-2.0
// DPAS, "dot product accumulate systolic", by the functions of OpenCL's extension
// cl_intel_subgroup_matrix_multiply_accumulate: 8 rows and 16 columns of sums.
#ifndef COMPILER_TARGETS_INTEL_MATRIX_INSTRUCTIONS_H_
#define COMPILER_TARGETS_INTEL_MATRIX_INSTRUCTIONS_H_

#include <string>
#include <vector>

#include "compiler/targets/intel/architecture.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tritond::compiler::intel {

inline constexpr int kTileRows = 8, kTileColumns = 16, kSystolicDepth = 8;

struct MatrixRow {
  const char* type;      // of both operands
  const char* function;  // of OpenCL
  int per_channel;       // elements of a word of b

  int depth() const { return kSystolicDepth * per_channel; }
};

// The row for operands of this type; null: there is none, or the device's sub-groups are not those of its matrix unit.
const MatrixRow* FindMatrixRow(const Device& device, mlir::Type operand);

// The element types that FindMatrixRow has rows for.
std::vector<std::string> MatrixOperands(const Device& device);

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_MATRIX_INSTRUCTIONS_H_
