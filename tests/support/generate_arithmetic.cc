// SPDX-License-Identifier: Apache-2.0
// Random chains of integer operations, as programs compute indices. They have constants of every size, quotients and
// remainders, words of other widths in between, and results that are used again. Compilers rewrite these more than
// anything else.
#include "tests/support/kernel_writer.h"

namespace tritond::tests {
namespace {

// A constant of a random size that fits `bits` bits with a sign; powers of two and their neighbours often.
int64_t AnyConstant(KernelWriter& w, int bits) {
  const int64_t power = int64_t{1} << w.Below(bits - 1);
  const int64_t value =
      w.OneIn(2) ? power + w.Below(3) - 1 : power + static_cast<int64_t>(w.Bits() % static_cast<uint64_t>(power));
  const int64_t most = (uint64_t{1} << (bits - 1)) - 1;
  return w.OneIn(3) ? -std::min(value, most) : std::min(value, most);
}

class Chain final {
 public:
  Chain(KernelWriter& w, Symbol start) : w_(w) { Keep(std::move(start)); }

  void Write() {
    for (int steps = 3 + w_.Below(6); steps > 0; --steps) Keep(Step(Any()));
    w_.Publish(values_.back());
  }

 private:
  // Nothing is known of the size of what a chain computes.
  void Keep(Symbol value) {
    value.bound = -1;
    value.raw = false;
    values_.push_back(std::move(value));
  }
  const Symbol& Any() const {
    const int count = static_cast<int>(values_.size());
    return values_[std::max(w_.Below(count), w_.Below(count))];
  }
  Symbol Constant(const Symbol& like, int64_t value) { return w_.Constant(like.element, like.shape, value); }
  // A constant, or an earlier value.
  Symbol Other(const Symbol& like) {
    return w_.OneIn(2) ? Constant(like, AnyConstant(w_, like.bits())) : w_.CastInt(Any(), like.element);
  }
  Symbol Apply(const std::string& op, const Symbol& a, const Symbol& b) {
    return w_.EmitHidden(a.element, a.shape, absl::StrCat(op, " ", a.name, ", ", b.name, " : ", a.type()));
  }

  Symbol Step(const Symbol& x) {
    switch (w_.Below(9)) {
      case 0:
      case 1:
        return Apply(w_.OneOf<std::string>({"arith.addi", "arith.subi"}), x, Other(x));
      case 2:
        return Apply("arith.subi", Other(x), x);
      case 3:
        return Apply(w_.OneOf<std::string>({"arith.muli", "arith.andi", "arith.ori", "arith.xori"}), x, Other(x));
      case 4:
        return Apply(w_.OneOf<std::string>({"arith.minsi", "arith.maxsi", "arith.minui", "arith.maxui"}), x, Other(x));
      case 5:
        return Shift(x);
      case 6:
        return Choose(x);
      case 7:
        return Widen(x);
      default:
        return Divide(x);
    }
  }

  // Of a value that may be known to be small, by a constant.
  Symbol Divide(const Symbol& x) {
    const Symbol value = w_.OneIn(3) ? w_.Masked(x, int64_t{1} << (1 + w_.Below(x.bits() - 2))) : x;
    const bool is_signed = w_.OneIn(2);
    int64_t divisor = AnyConstant(w_, x.bits());
    if (divisor == 0 || divisor == -1) divisor = 3;
    const Symbol by = Constant(value, divisor);
    if (!is_signed) return Apply(w_.OneOf<std::string>({"arith.divui", "arith.remui"}), value, by);
    return Apply(w_.OneOf<std::string>({"arith.divsi", "arith.remsi"}), value, by);
  }

  Symbol Shift(const Symbol& x) {
    const int by = w_.Below(x.bits());
    const Symbol result =
        Apply(w_.OneOf<std::string>({"arith.shli", "arith.shrsi", "arith.shrui"}), x, Constant(x, by));
    if (by == 0 || !w_.OneIn(3)) return result;
    return Apply(w_.OneOf<std::string>({"arith.ori", "arith.addi", "arith.xori"}), result,
                 Apply(w_.OneOf<std::string>({"arith.shli", "arith.shrui"}), x, Constant(x, x.bits() - by)));
  }

  Symbol Choose(const Symbol& x) {
    const Symbol y = Other(x), z = Other(x);
    const std::string predicate = w_.OneOf<std::string>({"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ugt"});
    Symbol condition = w_.EmitHidden(
        "i1", x.shape, absl::StrCat("arith.cmpi ", predicate, ", ", x.name, ", ", y.name, " : ", x.type()));
    const std::string types = x.shape.empty() ? x.type() : condition.type() + ", " + x.type();
    return w_.EmitHidden(
        x.element, x.shape,
        absl::StrCat("arith.select ", condition.name, ", ", w_.OneIn(2) ? x.name : y.name, ", ", z.name, " : ", types));
  }

  Symbol Widen(const Symbol& x) { return w_.CastInt(x, w_.OneOf<std::string>({"i64", "i64", "i32", "i16", "i8"})); }

  KernelWriter& w_;
  std::vector<Symbol> values_;
};

}  // namespace

void WriteArithmetic(KernelWriter& w) {
  auto start = w.Pick([](const Symbol& s) { return s.is_int() && s.bits() > 1; });
  if (start) Chain(w, *start).Write();
}

}  // namespace tritond::tests
