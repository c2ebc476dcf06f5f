// SPDX-License-Identifier: Apache-2.0
// tt.dot by the target's matrix instruction. The instruction multiplies a tile of a (m x k) by a tile of b (k x n) and
// adds it to a tile of c (m x n); each lane holds a few elements of each tile. The target says which, for lane 0; the
// layouts of the tensors, which are linear, then say which registers hold them for any tile and every lane:
//
//   for each k-slice, for each tile (m0, n0) of the result:
//     c[(m0, n0) + fragment] = instruction(a[(m0, k0) + fragment], b[(k0, n0) + fragment], c[(m0, n0) + fragment])
//
// The k-slice is the outer loop, so that neighbouring instructions don't depend on each other.
#include "compiler/lowering/dots.h"

namespace tritond::compiler {

using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;

llvm::SmallVector<int> RegistersOf(const RegisterAt& at, Coordinates origin, ElementList fragment) {
  llvm::SmallVector<int> registers;
  size_t row = origin.size() - 2, column = origin.size() - 1;
  for (auto [i, j] : fragment) {
    Coordinates element(origin);
    element[row] += i;
    element[column] += j;
    auto it = at.find(element);
    if (it == at.end()) return {};
    registers.push_back(it->second);
  }
  return registers;
}

Values Pick(ValueList values, llvm::ArrayRef<int> registers) {
  Values picked;
  for (int r : registers) picked.push_back(values[r]);
  return picked;
}

std::vector<MatrixTile> TilesOf(const LinearLayout& layout, int m, int n, ElementList fragment) {
  RegisterAt at = RegistersByCoordinates(layout);
  std::vector<MatrixTile> tiles;
  size_t covered = 0;
  for (int32_t r = 0; r < layout.InSize("register"); ++r) {
    Coordinates origin = layout.ApplyNamed({{"register", r}});
    if (origin[origin.size() - 2] % m || origin[origin.size() - 1] % n) continue;
    MatrixTile tile{origin, RegistersOf(at, origin, fragment)};
    if (tile.registers.empty()) return {};
    covered += tile.registers.size();
    tiles.push_back(std::move(tile));
  }
  return covered == at.size() ? tiles : std::vector<MatrixTile>();
}

LogicalResult LowerMatrixDot(FunctionLowering& f, tt::DotOp op, const MatrixInstruction& instruction) {
  Emitter& e = f.e;
  auto type_a = llvm::cast<RankedTensorType>(op.getA().getType());
  auto type = llvm::cast<RankedTensorType>(op.getType());
  RegisterAt at_a = RegistersByCoordinates(f.LayoutOf(type_a));
  RegisterAt at_b = RegistersByCoordinates(f.LayoutOf(llvm::cast<RankedTensorType>(op.getB().getType())));
  std::vector<MatrixTile> tiles = TilesOf(f.LayoutOf(type), instruction.m, instruction.n, instruction.c);
  if (tiles.empty()) return op.emitOpError("has a result encoding that the matrix instruction's tiles do not fit");
  int rank = type.getRank();
  mlir::Type sum_type = DotSumType(e.b, type.getElementType());
  Values sums;
  for (Value initial : f.Get(op.getC())) sums.push_back(WidenForDot(e, initial, type.getElementType(), sum_type));
  for (int64_t k = 0; k < type_a.getDimSize(rank - 1); k += instruction.k) {
    for (const MatrixTile& tile : tiles) {
      Coordinates origin_a(tile.origin), origin_b(tile.origin);
      origin_a[rank - 1] = k;
      origin_b[rank - 2] = k;
      auto a = RegistersOf(at_a, origin_a, instruction.a), b = RegistersOf(at_b, origin_b, instruction.b);
      if (a.empty() || b.empty())
        return op.emitOpError("has operand encodings that are not those of its result's matrix instruction");
      FailureOr<Values> c = f.target.MultiplyMatrices(e.b, e.loc, instruction, Pick(f.Get(op.getA()), a),
                                                      Pick(f.Get(op.getB()), b), Pick(sums, tile.registers));
      if (failed(c)) return mlir::failure();
      for (auto [r, value] : llvm::zip(tile.registers, *c)) sums[r] = value;
    }
  }
  Values results;
  for (Value sum : sums) results.push_back(NarrowDotSum(e, sum, type.getElementType()));
  f.Set(op, results);
  return mlir::success();
}

}  // namespace tritond::compiler
