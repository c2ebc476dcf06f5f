// SPDX-License-Identifier: Apache-2.0
// Say x tells long programs from short ones, and the grid is 4 by 6. Places count from 0, in the order in which the
// device starts them. A wave has 8 programs, so there are three groups of two columns. In a group x changes last:
//
//   place     0  1  2  3  4  5  6  7 |  8  9 10 …                  group  = place / (4 * 2), row = place in group / 2
//   program x 3  3  2  2  1  1  0  0 |  3  3  2 …  (descending)    column = group * 2 + place in group % 2
//           y 0  1  0  1  0  1  0  1 |  2  3  2 …
//
// The last group has the columns that are left. A group of less than a wave would start its longest programs late.
#include "compiler/lowering/program_place.h"

namespace tritond::compiler {
namespace {

namespace LLVM = mlir::LLVM;
using mlir::Value;

class ProgramPlace final {
 public:
  ProgramPlace(Emitter& e, const TargetOps& target, const ProgramOrder& order)
      : e_(e), target_(target), order_(order) {}

  Value Index(tt::ProgramDim axis) {
    const auto* at = llvm::find(order_.axes, axis);
    const Value id = Id(axis);
    if (at == order_.axes.end()) return id;
    const Value size = Size(order_.axes[0]);
    if (order_.axes.size() == 1) return Directed(id, size);
    FindColumnAndRow(size);
    Value index = at == order_.axes.begin() ? Directed(row_, size) : Digit(column_, at - order_.axes.begin());
    return e_.Select(fits_, index, id);
  }

 private:
  Value Id(tt::ProgramDim axis) { return target_.ProgramId(e_.b, e_.loc, axis); }
  Value Size(tt::ProgramDim axis) { return target_.NumPrograms(e_.b, e_.loc, axis); }
  // Their results may wrap around in grids that do not fit.
  Value Add(Value x, Value y) { return LLVM::AddOp::create(e_.b, e_.loc, x, y); }
  // Of divisors, which are 0 only in grids that do not fit.
  Value AtLeastOne(Value x) { return LLVM::UMaxOp::create(e_.b, e_.loc, x, e_.Int(1)); }
  Value Divide(Value x, Value y) { return LLVM::UDivOp::create(e_.b, e_.loc, x, y); }

  Value Directed(Value index, Value size) { return order_.descending ? e_.Sub(e_.Sub(size, e_.Int(1)), index) : index; }

  void FindColumnAndRow(Value size) {
    Value column, columns = e_.Int(1), programs = e_.ZExt(size, 64);
    for (tt::ProgramDim axis : llvm::drop_begin(order_.axes)) {
      const Value place = e_.Mul(Id(axis), columns);
      column = column ? Add(column, place) : place;
      columns = e_.Mul(columns, Size(axis));
      programs = e_.Mul(programs, e_.ZExt(Size(axis), 64));
    }
    fits_ = e_.Compare(LLVM::ICmpPredicate::ult, programs, e_.Int(int64_t{1} << 31, 64));
    const Value place = Add(Id(order_.axes[0]), e_.Mul(column, size));
    // Each group has a wave of programs at least, and all have as many columns, but for the last one.
    const Value groups = AtLeastOne(Divide(e_.Trunc(programs, 32), e_.Int(order_.wave)));
    const Value width = AtLeastOne(Divide(Add(columns, e_.Sub(groups, e_.Int(1))), groups));
    const Value group_size = AtLeastOne(e_.Mul(width, size));
    const Value group = Divide(place, group_size), in_group = e_.Sub(place, e_.Mul(group, group_size));
    const Value first = e_.Mul(group, width), left = e_.Sub(columns, first);
    const Value own_width = AtLeastOne(LLVM::UMinOp::create(e_.b, e_.loc, width, left));
    row_ = Divide(in_group, own_width);
    column_ = Add(first, e_.Sub(in_group, e_.Mul(row_, own_width)));
  }

  // Of a column, along axis number `which` of those that columns count.
  Value Digit(Value column, size_t which) {
    for (size_t axis = 1; axis < which; ++axis) column = Divide(column, Size(order_.axes[axis]));
    if (which + 1 == order_.axes.size()) return column;
    const Value size = Size(order_.axes[which]);
    return e_.Sub(column, e_.Mul(Divide(column, size), size));
  }

  Emitter& e_;
  const TargetOps& target_;
  const ProgramOrder& order_;
  Value row_, column_, fits_;
};

}  // namespace

Value EmitProgramIndex(Emitter& e, const TargetOps& target, const ProgramOrder& order, tt::ProgramDim axis) {
  return ProgramPlace(e, target, order).Index(axis);
}

}  // namespace tritond::compiler
