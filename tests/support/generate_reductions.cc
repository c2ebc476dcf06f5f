// SPDX-License-Identifier: Apache-2.0
// Random reductions and scans: with operations whose result does not depend on the order, or with sums of floats that
// are small integers.
#include "tests/support/kernel_writer.h"

namespace tritond::tests {
namespace {

struct Combination {
  std::string op;
  double bound = -1;  // of the result
  bool adds = false;  // -0 and 0 are to be made one
};

// How elements of `a`, `count` of them, may be combined.
Combination Choose(KernelWriter& w, const Symbol& a, int count) {
  if (a.is_int() && a.bits() == 1) return {w.OneOf<std::string>({"arith.andi", "arith.ori", "arith.xori"})};
  if (a.is_int())
    return {w.OneOf<std::string>({"arith.addi", "arith.addi", "arith.muli", "arith.maxsi", "arith.minsi", "arith.maxui",
                                  "arith.minui", "arith.xori", "arith.andi", "arith.ori"})};
  double sum = a.bound * count;
  if (a.bound >= 0 && sum <= ExactUpTo(a.element) && !w.OneIn(3)) return {"arith.addf", sum, true};
  return {w.OneOf<std::string>({"arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf"}), a.bound, true};
}

bool Combinable(const Symbol& s) { return !s.shape.empty() && !s.approximate && !s.is_narrow_float(); }

// A zero may have either sign after different orders of sums and of maxnumf.
Symbol WithOneZero(KernelWriter& w, const Symbol& s) {
  Symbol zero = w.FloatConstant(s.element, s.shape, "0.0");
  Symbol result =
      w.EmitHidden(s.element, s.shape, absl::StrCat("arith.addf ", s.name, ", ", zero.name, " : ", s.type()));
  result.bound = s.bound;
  return result;
}

void WriteRegion(KernelWriter& w, const std::string& kind, const std::string& element, const std::string& op) {
  std::string a = w.Fresh(), b = w.Fresh(), c = w.Fresh();
  w.Line(absl::StrCat("^bb0(", a, ": ", element, ", ", b, ": ", element, "):"));
  w.Line(absl::StrCat("  ", c, " = ", op, " ", a, ", ", b, " : ", element));
  w.Line(absl::StrCat("  ", kind, ".return ", c, " : ", element));
}

Shape Without(Shape shape, int axis) {
  shape.erase(shape.begin() + axis);
  return shape;
}

void WriteReduce(KernelWriter& w) {
  auto a = w.Pick(Combinable);
  if (!a) return;
  int axis = w.Below(static_cast<int>(a->shape.size()));
  Combination how = Choose(w, *a, a->shape[axis]);
  Symbol result = EmitReduce(w, *a, axis, how.op);
  result.bound = how.bound;
  w.Publish(how.adds ? WithOneZero(w, result) : result);
}

void WriteScan(KernelWriter& w) {
  auto a = w.Pick(Combinable);
  if (!a) return;
  int axis = w.Below(static_cast<int>(a->shape.size()));
  Combination how = Choose(w, *a, a->shape[axis]);
  Symbol result = w.EmitHidden(a->element, a->shape,
                               absl::StrCat("\"tt.scan\"(", a->name, ") <{axis = ", axis,
                                            " : i32, reverse = ", w.OneIn(3) ? "true" : "false", "}> ({"));
  WriteRegion(w, "tt.scan", a->element, how.op);
  w.Line(absl::StrCat("}) : (", a->type(), ") -> ", a->type()));
  result.bound = how.bound;
  w.Publish(how.adds ? WithOneZero(w, result) : result);
}

// The largest element and where it is; of equal ones the first.
void WriteArgmax(KernelWriter& w) {
  auto a = w.Pick([](const Symbol& s) { return s.is_int() && s.bits() >= 8 && !s.shape.empty(); });
  if (!a) return;
  int axis = w.Below(static_cast<int>(a->shape.size())), size = a->shape[axis];
  Symbol range =
      w.EmitHidden("i32", {size},
                   absl::StrCat("tt.make_range {start = 0 : i32, end = ", size, " : i32} : ", TypeText("i32", {size})));
  Shape line(a->shape.size(), 1);
  line[axis] = size;
  Symbol index = *w.Conform(*w.Conform(range, line), a->shape);
  Shape shape = Without(a->shape, axis);
  const std::string& t = a->element;
  std::string result = w.Fresh(), v = w.Fresh(), i = w.Fresh(), x = w.Fresh(), k = w.Fresh();
  w.Line(absl::StrCat(result, ":2 = \"tt.reduce\"(", a->name, ", ", index.name, ") <{axis = ", axis, " : i32}> ({"));
  w.Line(absl::StrCat("^bb0(", v, ": ", t, ", ", i, ": i32, ", x, ": ", t, ", ", k, ": i32):"));
  w.Indent(2);
  Symbol greater = w.EmitHidden("i1", {}, absl::StrCat("arith.cmpi sgt, ", v, ", ", x, " : ", t));
  Symbol equal = w.EmitHidden("i1", {}, absl::StrCat("arith.cmpi eq, ", v, ", ", x, " : ", t));
  Symbol before = w.EmitHidden("i1", {}, absl::StrCat("arith.cmpi slt, ", i, ", ", k, " : i32"));
  Symbol tie = w.EmitHidden("i1", {}, absl::StrCat("arith.andi ", equal.name, ", ", before.name, " : i1"));
  Symbol first = w.EmitHidden("i1", {}, absl::StrCat("arith.ori ", greater.name, ", ", tie.name, " : i1"));
  Symbol value = w.EmitHidden(t, {}, absl::StrCat("arith.select ", first.name, ", ", v, ", ", x, " : ", t));
  Symbol place = w.EmitHidden("i32", {}, absl::StrCat("arith.select ", first.name, ", ", i, ", ", k, " : i32"));
  w.Line(absl::StrCat("tt.reduce.return ", value.name, ", ", place.name, " : ", t, ", i32"));
  w.Indent(-2);
  w.Line(absl::StrCat("}) : (", a->type(), ", ", index.type(), ") -> (", TypeText(t, shape), ", ",
                      TypeText("i32", shape), ")"));
  Symbol largest, at;
  largest.name = result + "#0";
  largest.element = t;
  at.name = result + "#1";
  at.element = "i32";
  at.bound = size;
  largest.shape = at.shape = shape;
  w.Publish(largest);
  w.Publish(at);
}

// x[i] = a[i] * x[i-1] + b[i], a scan of pairs that is not commutative.
void WriteRecurrence(KernelWriter& w) {
  auto a = w.Pick([](const Symbol& s) { return s.is_int() && s.bits() >= 32 && !s.shape.empty(); });
  if (!a) return;
  Symbol b = *w.Pick([&](const Symbol& s) { return s.element == a->element && s.shape == a->shape; });
  int axis = w.Below(static_cast<int>(a->shape.size()));
  const std::string& t = a->element;
  std::string result = w.Fresh(), a0 = w.Fresh(), b0 = w.Fresh(), a1 = w.Fresh(), b1 = w.Fresh();
  w.Line(absl::StrCat(result, ":2 = \"tt.scan\"(", a->name, ", ", b.name, ") <{axis = ", axis,
                      " : i32, reverse = ", w.OneIn(3) ? "true" : "false", "}> ({"));
  w.Line(absl::StrCat("^bb0(", a0, ": ", t, ", ", b0, ": ", t, ", ", a1, ": ", t, ", ", b1, ": ", t, "):"));
  w.Indent(2);
  Symbol factor = w.EmitHidden(t, {}, absl::StrCat("arith.muli ", a0, ", ", a1, " : ", t));
  Symbol moved = w.EmitHidden(t, {}, absl::StrCat("arith.muli ", b0, ", ", a1, " : ", t));
  Symbol sum = w.EmitHidden(t, {}, absl::StrCat("arith.addi ", moved.name, ", ", b1, " : ", t));
  w.Line(absl::StrCat("tt.scan.return ", factor.name, ", ", sum.name, " : ", t, ", ", t));
  w.Indent(-2);
  w.Line(absl::StrCat("}) : (", a->type(), ", ", a->type(), ") -> (", a->type(), ", ", a->type(), ")"));
  Symbol x = *a;
  x.bound = -1;
  x.raw = false;
  x.name = result + "#1";
  w.Publish(x);
}

}  // namespace

Symbol EmitReduce(KernelWriter& w, const Symbol& a, int axis, const std::string& op) {
  Symbol result = w.EmitHidden(a.element, Without(a.shape, axis),
                               absl::StrCat("\"tt.reduce\"(", a.name, ") <{axis = ", axis, " : i32}> ({"));
  WriteRegion(w, "tt.reduce", a.element, op);
  w.Line(absl::StrCat("}) : (", a.type(), ") -> ", result.type()));
  return result;
}

void WriteReduction(KernelWriter& w) {
  switch (w.Below(6)) {
    case 0:
    case 1:
    case 2:
      return WriteReduce(w);
    case 3:
      return WriteScan(w);
    case 4:
      return WriteArgmax(w);
    default:
      return w.OneIn(2) ? WriteScan(w) : WriteRecurrence(w);
  }
}

}  // namespace tritond::tests
