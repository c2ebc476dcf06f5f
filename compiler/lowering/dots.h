// SPDX-License-Identifier: Apache-2.0
// What the two ways of lowering a dot share: multiply-adds (dots.cc) and matrix instructions (matrix_dots.cc).
#ifndef COMPILER_LOWERING_DOTS_H_
#define COMPILER_LOWERING_DOTS_H_

#include <map>

#include "compiler/lowering/function_lowering.h"

namespace tritond::compiler {

// The register that holds each element of lane 0 of warp 0.
using RegisterAt = std::map<Coordinates, int>;
RegisterAt RegistersByCoordinates(const LinearLayout& layout);

// The registers of lane 0 of warp 0 that hold the elements `fragment` of the tile at `origin`, of a tensor of `shape`.
// Empty if some are elsewhere. Fragments and tiles lie in the last two dimensions. What a tile has beyond a tensor that
// is smaller is the tensor again.
llvm::SmallVector<int> RegistersOf(const RegisterAt& at, Coordinates origin, ElementList fragment,
                                   llvm::ArrayRef<int64_t> shape);
Values Pick(ValueList values, llvm::ArrayRef<int> registers);

struct MatrixTile {
  Coordinates origin;
  llvm::SmallVector<int> registers;  // that hold the fragment
};
// The tiles of m x n elements in which lane 0 of warp 0 holds a fragment, in the order of their first registers.
// Together they are all its registers but copies, or the result is empty.
std::vector<MatrixTile> TilesOf(const LinearLayout& layout, int m, int n, ElementList fragment,
                                llvm::ArrayRef<int64_t> shape);

// The type in which products are summed, for a result of elements `result`: f32 for narrower floats.
mlir::Type DotAccumulatorType(mlir::OpBuilder& b, mlir::Type result);
// The LLVM value `x`, an element of MLIR type `element`, as `sum`; integers are signed.
mlir::Value WidenForDot(Emitter& e, mlir::Value x, mlir::Type element, mlir::Type sum);
// A sum as an element of the result.
mlir::Value NarrowDotAccumulator(Emitter& e, mlir::Value sum, mlir::Type result);

// A dot by a matrix instruction whose operands' elements are `packed_a` and `packed_b` along K each.
struct MatrixDot {
  mlir::Operation* op;  // of one result
  mlir::Value a, b, c;
  const MatrixInstruction& instruction;
  int packed_a = 1, packed_b = 1;
};
// One instruction, of the tile of c at `origin` and the step that begins at element `k`: the new elements of c.
using MultiplyTile =
    llvm::function_ref<mlir::FailureOr<Values>(Coordinates origin, int64_t k, ValueList a, ValueList b, ValueList c)>;
// Failure: a diagnostic at the operation when its encodings do not fit the instruction.
mlir::LogicalResult LowerByTiles(FunctionLowering& f, const MatrixDot& dot, MultiplyTile multiply);

// By the instruction, with failures as above.
mlir::LogicalResult LowerMatrixDot(FunctionLowering& f, tt::DotOp op, const MatrixInstruction& instruction);
mlir::LogicalResult LowerScaledDot(FunctionLowering& f, tt::DotScaledOp op);

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_DOTS_H_
