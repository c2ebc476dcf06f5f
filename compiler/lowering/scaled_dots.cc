// SPDX-License-Identifier: Apache-2.0
// tt.dot_scaled by the target's matrix instruction, whose operands have scales. The instruction's tile of a has as many
// scales in a row as there are groups along K in it. Its tile of b has as many in a column. A lane gives one of each.
// Lane 0 gives the first; the layouts of the scales put those of the other lanes into the same register:
//
//   for each k-slice, for each tile (m0, n0) of the result:
//     c[…] = instruction(a[…], b[…], c[…], a_scale[m0, k0 / group], b_scale[n0, k0 / group])
//
// Four neighbouring registers of scales are the bytes of a word, and the instruction says which byte it takes.
#include "compiler/lowering/dots.h"

namespace tritond::compiler {
namespace LLVM = mlir::LLVM;
namespace {

using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;

constexpr int kBytesOfWord = 4;

int PackedAlongK(tt::ScaleDotElemType element) { return element == tt::ScaleDotElemType::kE2M1 ? 2 : 1; }

// The scales of one operand, in words.
class Scales final {
 public:
  // `scale` may be null. Its last two dimensions are the operand's rows or columns, and the groups.
  Scales(FunctionLowering& f, Value scale) {
    if (!scale) return;
    at_ = RegistersByCoordinates(f.LayoutOf(llvm::cast<RankedTensorType>(scale.getType())));
    Emitter& e = f.e;
    mlir::Type bytes = LLVM::getVectorType(e.b.getI8Type(), kBytesOfWord);
    for (auto [r, value] : llvm::enumerate(f.Get(scale))) {
      if (r % kBytesOfWord == 0) words_.push_back(LLVM::UndefOp::create(e.b, e.loc, bytes));
      Value index = LLVM::ConstantOp::create(e.b, e.loc, e.b.getI32Type(), e.b.getI32IntegerAttr(r % kBytesOfWord));
      words_.back() = LLVM::InsertElementOp::create(e.b, e.loc, words_.back(), value, index);
    }
    for (Value& word : words_) word = LLVM::BitcastOp::create(e.b, e.loc, e.b.getI32Type(), word);
  }

  // Whether lane 0 has the scale of `place`; it always has one that is 1.
  bool Has(const Coordinates& place) const { return words_.empty() || at_.count(place) != 0; }
  ScaleByte At(const Coordinates& place) const {
    if (words_.empty()) return {};
    const int r = at_.at(place);
    return {words_[r / kBytesOfWord], r % kBytesOfWord};
  }

 private:
  RegisterAt at_;
  llvm::SmallVector<Value> words_;
};

}  // namespace

LogicalResult LowerScaledDot(FunctionLowering& f, tt::DotScaledOp op) {
  const std::optional<ScaledInstruction> found = f.target.FindScaledInstruction(op);
  if (!found) return op.emitOpError("has operands for which the target has no matrix instruction with scales");
  const ScaledInstruction& instruction = *found;
  const Scales a_scales(f, op.getAScale()), b_scales(f, op.getBScale());
  const MatrixDot dot = {op,
                         op.getA(),
                         op.getB(),
                         op.getC(),
                         instruction.tile,
                         PackedAlongK(op.getAElemType()),
                         PackedAlongK(op.getBElemType())};
  return LowerByTiles(
      f, dot, [&](Coordinates origin, int64_t k, ValueList a, ValueList b, ValueList c) -> FailureOr<Values> {
        const size_t row = origin.size() - 2, column = origin.size() - 1;
        Coordinates place_a(origin), place_b(origin);
        place_b[row] = origin[column];
        place_a[column] = place_b[column] = k / instruction.group;
        if (!a_scales.Has(place_a) || !b_scales.Has(place_b))
          return op.emitOpError("has encodings of scales that are not those of its result's matrix instruction");
        return f.target.MultiplyScaled(f.e.b, f.e.loc, instruction, a, b, c, a_scales.At(place_a),
                                       b_scales.At(place_b));
      });
}

}  // namespace tritond::compiler
