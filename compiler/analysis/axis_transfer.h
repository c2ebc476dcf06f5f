// SPDX-License-Identifier: Apache-2.0
// How operations carry facts from operands to results: the transfer functions of AxisInfoAnalysis, and their algebra.
#ifndef COMPILER_ANALYSIS_AXIS_TRANSFER_H_
#define COMPILER_ANALYSIS_AXIS_TRANSFER_H_

#include <cstdint>
#include <optional>

#include "compiler/analysis/axis_info.h"
#include "mlir/IR/Operation.h"

namespace tritond::compiler::axis {

// Stands for "any power of two": the divisibility of 0, and every fact about a value that may be chosen at will.
inline constexpr int64_t kUnbounded = int64_t{1} << 62;

// The largest power of two that divides `value`.
int64_t PowerOfTwoIn(int64_t value);
// The product of two powers of two, kUnbounded when it is larger.
int64_t Times(int64_t a, int64_t b);

// The sizes of the dimensions that facts about a value of `type` have; {1} for a scalar.
llvm::SmallVector<int64_t, 2> ShapeOf(mlir::Type type);
// Bytes between neighbours in memory for pointers, 1 for other types: what one step of contiguity is in divisibility.
int64_t StepOf(mlir::Type type);

// Nothing known.
AxisInfo Unknown(unsigned rank);
// All elements are `value`, already normalised as AxisInfo::constant is.
AxisInfo Constant(llvm::ArrayRef<int64_t> shape, int64_t value);
// `value` as AxisInfo::constant holds it for integers of `width` bits.
int64_t Normalised(int64_t value, unsigned width);
// Width of an integer, index or tensor of them; 0 for other types.
unsigned WidthOf(mlir::Type type);

// Divides the first value of every group of `group` neighbours, a power of two; `step` as StepOf.
int64_t StartDivisibility(const AxisDim& dim, int64_t group, int64_t step);
// Divides every value.
int64_t ValueDivisibility(const AxisInfo& info, int64_t step);
// What holds for a value that is one of two.
AxisInfo Join(const AxisInfo& a, const AxisInfo& b, int64_t step);
// Where all values are divisible by something along one dimension, they are along each.
void Normalise(AxisInfo& info);

// Facts about the one result of `op` from those about its operands; nullopt when this family does not know `op`.
using OperandInfos = llvm::ArrayRef<AxisInfo>;
std::optional<AxisInfo> TransferArithmetic(mlir::Operation* op, OperandInfos operands);
std::optional<AxisInfo> TransferShape(mlir::Operation* op, OperandInfos operands);
// axis_sign.cc. Whether no element of any result of `op` is negative.
bool IsNonNegative(mlir::Operation* op, OperandInfos operands);
// The bits by which constants have multiplied what `op` makes, one after the other, where `factors` are those of its
// operands. At most the width of the number.
int FactorBits(mlir::Operation* op, OperandInfos operands, llvm::ArrayRef<int> factors);
// Whether so many make numbers of `width` bits wrap around on purpose, as hashes do.
bool IsHash(int factor_bits, unsigned width);

}  // namespace tritond::compiler::axis

#endif  // COMPILER_ANALYSIS_AXIS_TRANSFER_H_
