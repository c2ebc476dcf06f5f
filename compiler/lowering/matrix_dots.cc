// SPDX-License-Identifier: Apache-2.0
// tt.dot by the target's matrix instruction. The instruction multiplies a tile of a (m x k) by a tile of b (k x n). It
// adds the product to a tile of c (m x n). Each lane holds a few elements of each tile. The target says which, for lane
// 0. The layouts of the tensors, which are linear, then say which registers hold them for any tile and every lane:
//
//   for each k-slice, for each tile (m0, n0) of the result:
//     c[(m0, n0) + fragment] = instruction(a[(m0, k0) + fragment], b[(k0, n0) + fragment], c[(m0, n0) + fragment])
//
// The k-slice is the outer loop, so that neighbouring instructions don't depend on each other. Where a tile is larger
// than the result, its elements repeat: they stay in the instruction's own registers until the last slice.
#include "compiler/lowering/dots.h"

namespace tritond::compiler {

using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;

llvm::SmallVector<int> RegistersOf(const RegisterAt& at, Coordinates origin, ElementList fragment,
                                   llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int> registers;
  size_t row = origin.size() - 2, column = origin.size() - 1;
  for (auto [i, j] : fragment) {
    Coordinates element(origin);
    element[row] = (element[row] + i) % shape[row];
    element[column] = (element[column] + j) % shape[column];
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

std::vector<MatrixTile> TilesOf(const LinearLayout& layout, int m, int n, ElementList fragment,
                                llvm::ArrayRef<int64_t> shape) {
  RegisterAt at = RegistersByCoordinates(layout);
  std::vector<MatrixTile> tiles;
  llvm::SmallDenseSet<int> covered;
  for (int32_t r = 0; r < layout.InSize("register"); ++r) {
    Coordinates origin = layout.ApplyNamed({{"register", r}});
    const bool is_copy = at.at(origin) != r;
    if (is_copy || origin[origin.size() - 2] % m || origin[origin.size() - 1] % n) continue;
    MatrixTile tile{origin, RegistersOf(at, origin, fragment, shape)};
    if (tile.registers.empty()) return {};
    covered.insert(tile.registers.begin(), tile.registers.end());
    tiles.push_back(std::move(tile));
  }
  return covered.size() == at.size() ? tiles : std::vector<MatrixTile>();
}

LogicalResult LowerByTiles(FunctionLowering& f, const MatrixDot& dot, MultiplyTile multiply) {
  Emitter& e = f.e;
  mlir::Operation* op = dot.op;
  const MatrixInstruction& instruction = dot.instruction;
  auto type_a = llvm::cast<RankedTensorType>(dot.a.getType());
  auto type = llvm::cast<RankedTensorType>(dot.c.getType());
  RegisterAt at_a = RegistersByCoordinates(f.LayoutOf(type_a));
  auto type_b = llvm::cast<RankedTensorType>(dot.b.getType());
  RegisterAt at_b = RegistersByCoordinates(f.LayoutOf(type_b));
  const LinearLayout& layout = f.LayoutOf(type);
  std::vector<MatrixTile> tiles = TilesOf(layout, instruction.m, instruction.n, instruction.c, type.getShape());
  if (tiles.empty()) return op->emitOpError("has a result encoding that the matrix instruction's tiles do not fit");
  int rank = type.getRank();
  mlir::Type sum_type =
      instruction.adds_to_f16 ? mlir::Type(e.b.getF16Type()) : DotAccumulatorType(e.b, type.getElementType());
  Values accumulators;
  for (Value initial : f.Get(dot.c)) accumulators.push_back(WidenForDot(e, initial, type.getElementType(), sum_type));
  std::vector<Values> sums;
  for (const MatrixTile& tile : tiles) sums.push_back(Pick(accumulators, tile.registers));
  for (int64_t k = 0; k < type_a.getDimSize(rank - 1) * dot.packed_a; k += instruction.k) {
    for (auto [tile, sum] : llvm::zip_equal(tiles, sums)) {
      Coordinates origin_a(tile.origin), origin_b(tile.origin);
      origin_a[rank - 1] = k / dot.packed_a;
      origin_b[rank - 2] = k / dot.packed_b;
      auto a = RegistersOf(at_a, origin_a, instruction.a, type_a.getShape());
      auto b = RegistersOf(at_b, origin_b, instruction.b, type_b.getShape());
      if (a.empty() || b.empty())
        return op->emitOpError("has operand encodings that are not those of its result's matrix instruction");
      FailureOr<Values> c = multiply(tile.origin, k, Pick(f.Get(dot.a), a), Pick(f.Get(dot.b), b), sum);
      if (failed(c)) return mlir::failure();
      sum = *c;
    }
  }
  for (const auto& [tile, sum] : llvm::zip_equal(tiles, sums))
    for (auto [r, value] : llvm::zip(tile.registers, sum)) accumulators[r] = value;
  // Copies of an element have its sum.
  RegisterAt at = RegistersByCoordinates(layout);
  Values results;
  for (int32_t r = 0; r < layout.InSize("register"); ++r)
    results.push_back(
        NarrowDotAccumulator(e, accumulators[at.at(layout.ApplyNamed({{"register", r}}))], type.getElementType()));
  f.Set(op->getResult(0), results);
  return mlir::success();
}

LogicalResult LowerMatrixDot(FunctionLowering& f, tt::DotOp op, const MatrixInstruction& instruction) {
  return LowerByTiles(f, {op, op.getA(), op.getB(), op.getC(), instruction},
                      [&](Coordinates, int64_t, ValueList a, ValueList b, ValueList c) {
                        return f.target.MultiplyMatrices(f.e.b, f.e.loc, instruction, a, b, c);
                      });
}

}  // namespace tritond::compiler
