// SPDX-License-Identifier: Apache-2.0
// Random steps that act on each element alone. Divisors and shifts are made valid, floats become integers only where
// they fit, and nothing is decided by values that devices may round differently.
#include <cmath>

#include "tests/support/kernel_writer.h"

namespace tritond::tests {
namespace {

bool Wide(const Symbol& s) { return s.is_float() && !s.is_narrow_float(); }
bool Exact(const Symbol& s) { return !s.approximate; }

Symbol EmitOp(KernelWriter& w, const Symbol& like, const std::string& op, const std::string& operands) {
  return w.EmitHidden(like.element, like.shape, absl::StrCat(op, " ", operands, " : ", like.type()));
}

// A second operand for `a`: a known value brought to its type and shape, or a constant.
Symbol Partner(KernelWriter& w, const Symbol& a) {
  auto other = w.Pick([&](const Symbol& s) {
    return Exact(s) && (s.element == a.element || (s.is_int() && a.is_int())) && !s.is_narrow_float();
  });
  if (other && !w.OneIn(5)) {
    Symbol b = a.is_int() ? w.CastInt(*other, a.element) : *other;
    if (auto fitting = w.Conform(b, a.shape)) return *fitting;
  }
  if (a.is_float() && w.OneIn(2))
    return w.FloatConstant(a.element, a.shape, w.OneOf<std::string>({"5.000000e-01", "-2.500000e-01", "-0.0", "3.0"}));
  int limit = a.bits() == 1 ? 2 : a.bits() == 8 ? 128 : 1000;
  return w.Constant(a.element, a.shape, w.Below(limit) - (a.bits() > 1 && w.OneIn(2) ? limit / 2 : 0));
}

// An i1 of the shape.
Symbol Condition(KernelWriter& w, const Shape& shape) {
  auto known = w.Pick([&](const Symbol& s) { return s.element == "i1" && s.shape == shape; });
  if (known && w.OneIn(2)) return *known;
  auto a = w.Pick([&](const Symbol& s) { return Exact(s) && s.shape == shape && (s.is_int() || Wide(s)); });
  if (!a) return w.Constant("i1", shape, w.Below(2));
  Symbol b = Partner(w, *a);
  std::string predicate =
      a->is_int() ? w.OneOf<std::string>({"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"})
                  : w.OneOf<std::string>({"oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult",
                                          "ule", "une", "uno"});
  return w.Emit("i1", shape,
                absl::StrCat(a->is_int() ? "arith.cmpi " : "arith.cmpf ", predicate, ", ", a->name, ", ", b.name, " : ",
                             a->type()));
}

void WriteIntegerBinary(KernelWriter& w) {
  auto a = w.Pick([](const Symbol& s) { return s.is_int(); });
  if (!a) return;
  Symbol b = Partner(w, *a);
  std::string op = w.OneOf<std::string>(
      {"arith.addi",      "arith.subi",      "arith.muli",      "arith.andi",  "arith.ori",   "arith.xori",
       "arith.maxsi",     "arith.minsi",     "arith.maxui",     "arith.minui", "arith.shli",  "arith.shrsi",
       "arith.shrui",     "arith.divsi",     "arith.divui",     "arith.remsi", "arith.remui", "tt.mulhiui",
       "arith.ceildivsi", "arith.ceildivui", "arith.floordivsi"});
  bool is_shift = op.find(".sh") != std::string::npos,
       divides = op.find("div") != std::string::npos || op.find(".rem") != std::string::npos;
  if (a->bits() == 1 && (is_shift || divides || op == "tt.mulhiui")) op = "arith.xori";
  if (a->bits() < 32 && op == "tt.mulhiui") op = "arith.muli";
  if (is_shift && a->bits() > 1) b = w.Masked(b, a->bits());
  if (divides && a->bits() > 1) {  // 1 … 63
    b = w.Masked(b, 64);
    b = EmitOp(w, b, "arith.ori", b.name + ", " + w.Constant(b.element, b.shape, 1).name);
  }
  Symbol result = EmitOp(w, *a, op, a->name + ", " + b.name);
  if (op == "arith.remui" || op == "arith.remsi") result.bound = a->bits() > 1 ? 63 : -1;
  w.Publish(result);
}

void WriteIntegerUnary(KernelWriter& w) {
  auto a = w.Pick([](const Symbol& s) { return s.is_int() && s.bits() > 1; });
  if (!a) return;
  Symbol result = EmitOp(w, *a, w.OneOf<std::string>({"math.absi", "math.ctlz", "math.cttz", "math.ctpop"}), a->name);
  w.Publish(result);
}

void WriteFloatBinary(KernelWriter& w) {
  auto a = w.Pick([](const Symbol& s) { return Wide(s) && Exact(s); });
  if (!a) return;
  Symbol b = Partner(w, *a);
  std::string op = w.OneOf<std::string>({"arith.addf", "arith.subf", "arith.mulf", "arith.maximumf", "arith.minimumf",
                                         "arith.maxnumf", "arith.minnumf", "arith.divf", "tt.precise_divf"});
  if (op == "tt.precise_divf" && a->element != "f32") op = "arith.divf";
  Symbol result = EmitOp(w, *a, op, a->name + ", " + b.name);
  if (op == "arith.divf" && a->element != "f64") result.approximate = true;
  if (op == "arith.maxnumf" || op == "arith.minnumf")  // which zero it gives is open
    result = EmitOp(w, result, "arith.addf", result.name + ", " + w.FloatConstant(a->element, a->shape, "0.0").name);
  bool sums = op == "arith.addf" || op == "arith.subf";
  if (a->bound >= 0 && b.bound >= 0 && op.find("div") == std::string::npos) {
    double bound = sums ? a->bound + b.bound : op == "arith.mulf" ? a->bound * b.bound : std::max(a->bound, b.bound);
    if (bound <= ExactUpTo(a->element)) result.bound = bound;
  }
  w.Publish(result);
}

void WriteFloatUnary(KernelWriter& w) {
  auto a = w.Pick([](const Symbol& s) { return Wide(s) && Exact(s); });
  if (!a) return;
  std::string op = w.OneOf<std::string>({"arith.negf", "math.absf", "math.floor", "math.ceil", "math.trunc",
                                         "math.round", "math.roundeven", "tt.precise_sqrt", "math.fma", "tt.clampf"});
  if (op == "tt.precise_sqrt" && a->element != "f32") op = "math.absf";
  if (a->element == "f64" && op == "tt.clampf") op = "math.absf";
  Symbol result = *a;
  if (op == "math.fma") {
    Symbol b = Partner(w, *a), c = Partner(w, *a);
    result = EmitOp(w, *a, op, absl::StrCat(a->name, ", ", b.name, ", ", c.name));
  } else if (op == "tt.clampf") {
    std::string bounds =
        absl::StrCat(w.Constant(a->element, a->shape, -3).name, ", ", w.Constant(a->element, a->shape, 100).name);
    result = w.EmitHidden(a->element, a->shape,
                          absl::StrCat("tt.clampf ", a->name, ", ", bounds,
                                       ", propagateNan = ", w.OneOf<std::string>({"none", "all"}), " : ", a->type()));
  } else {
    result = EmitOp(w, *a, op, a->name);
    if (op != "tt.precise_sqrt") result.bound = a->bound;
  }
  w.Publish(result);
}

// Functions that devices approximate, of moderate arguments.
void WriteFunction(KernelWriter& w) {
  auto a = w.Pick([](const Symbol& s) { return Wide(s) && Exact(s) && s.bound >= 0 && s.bound <= 64; });
  if (!a) return;
  Symbol small =
      EmitOp(w, *a, "arith.mulf", a->name + ", " + w.FloatConstant(a->element, a->shape, "1.250000e-01").name);
  std::string op = w.OneOf<std::string>({"math.exp", "math.exp2", "math.sin", "math.cos", "math.log", "math.log2",
                                         "math.sqrt", "math.rsqrt", "math.erf"});
  if (op == "math.log" || op == "math.log2" || op == "math.sqrt" || op == "math.rsqrt") {
    small = EmitOp(w, small, "math.absf", small.name);
    small =
        EmitOp(w, small, "arith.addf", small.name + ", " + w.FloatConstant(a->element, a->shape, "5.000000e-01").name);
  }
  Symbol result = EmitOp(w, small, op, small.name);
  result.approximate = true;
  w.Publish(result);
}

void WriteSelect(KernelWriter& w) {
  auto a = w.Pick([](const Symbol&) { return true; });
  if (!a) return;
  Symbol condition = Condition(w, a->shape);
  auto same = w.Pick([&](const Symbol& s) { return s.element == a->element && s.shape == a->shape; });
  Symbol b = a->is_narrow_float() || a->approximate ? *same : Partner(w, *a);
  std::string types = a->shape.empty() ? a->type() : condition.type() + ", " + a->type();
  Symbol result = w.EmitHidden(
      a->element, a->shape, absl::StrCat("arith.select ", condition.name, ", ", a->name, ", ", b.name, " : ", types));
  result.approximate = a->approximate || b.approximate;
  if (a->bound >= 0 && b.bound >= 0) result.bound = std::max(a->bound, b.bound);
  w.Publish(result);
}

void WriteCompare(KernelWriter& w) {
  if (auto a = w.Pick([](const Symbol& s) { return Exact(s) && (s.is_int() || Wide(s)); })) Condition(w, a->shape);
}

std::string CastFloats(KernelWriter& w, const Symbol& from, const Symbol& to) {
  if (from.is_narrow_float() || to.is_narrow_float() || from.bits() == to.bits()) {
    std::string rounding = to.bits() < from.bits() ? ", rounding = rtne" : "";
    return absl::StrCat("tt.fp_to_fp ", from.name, rounding, " : ", from.type(), " -> ", to.type());
  }
  return absl::StrCat(from.bits() < to.bits() ? "arith.extf " : "arith.truncf ", from.name, " : ", from.type(), " to ",
                      to.type());
}

void WriteCast(KernelWriter& w) {
  auto a = w.Pick(Exact);
  if (!a) return;
  Symbol to = *a;
  to.raw = false;
  to.element = w.OneIn(6) ? w.OneOf<std::string>({"f8E4M3FN", "f8E5M2"}) : w.RandomElement();
  if (to.element == a->element) return;
  std::string op;
  if (a->is_int() && to.is_int()) {
    bool widens = to.bits() > a->bits(), is_signed = w.OneIn(2);
    op = absl::StrCat(!widens     ? "arith.trunci "
                      : is_signed ? "arith.extsi "
                                  : "arith.extui ",
                      a->name, " : ", a->type(), " to ", to.type());
    if (!widens || !is_signed) to.bound = -1;
    if (a->bits() == 1) to.bound = 1;
  } else if (a->is_float() && to.is_float()) {
    if (a->element == "f64" && to.bits() <= 16) return;  // by way of f32 on every device
    if (a->is_narrow_float() && to.is_narrow_float()) return;
    if ((a->bits() == 16 && to.bits() == 16)) return;
    if (to.is_narrow_float() && a->bits() == 64) return;
    if (a->is_narrow_float() && to.bits() == 64) return;
    op = CastFloats(w, *a, to);
    if (a->bound > ExactUpTo(to.element)) to.bound = -1;
  } else if (a->is_int() && to.is_float()) {
    if (to.is_narrow_float() || (a->bits() == 64 && to.bits() == 16)) return;  // rounded twice
    bool is_signed = w.OneIn(2);
    op = absl::StrCat(is_signed ? "arith.sitofp " : "arith.uitofp ", a->name, " : ", a->type(), " to ", to.type());
    double bound = a->bits() < 16 ? 255 : a->bits() == 16 ? 65535 : is_signed ? a->bound : -1;
    if (a->bits() == 1) bound = 1;
    to.bound = bound <= ExactUpTo(to.element) ? bound : -1;
  } else {
    if (!Wide(*a) || a->bound < 0 || to.bits() == 1 || a->bound >= std::ldexp(1.0, to.bits() - 1)) return;
    op = absl::StrCat("arith.fptosi ", a->name, " : ", a->type(), " to ", to.type());
  }
  Symbol result = w.EmitHidden(to.element, to.shape, op);
  result.bound = to.bound;
  w.Publish(result);
}

// Only of bits that are known: a NaN that was computed has any.
void WriteBitcast(KernelWriter& w) {
  auto a = w.Pick([](const Symbol& s) { return (s.raw || s.is_int()) && s.bits() > 1; });
  if (!a) return;
  std::vector<std::string> same = a->bits() == 8    ? std::vector<std::string>{"i8"}
                                  : a->bits() == 16 ? std::vector<std::string>{"i16"}
                                  : a->bits() == 32 ? std::vector<std::string>{"i32"}
                                                    : std::vector<std::string>{"i64"};
  Symbol to = *a;
  to.element = w.OneOf(same);
  if (to.element == a->element) return;
  w.Emit(to.element, a->shape, absl::StrCat("tt.bitcast ", a->name, " : ", a->type(), " -> ", to.type()));
}

void WriteMapElementwise(KernelWriter& w) {
  auto a = w.Pick([](const Symbol& s) { return s.is_int() && s.bits() >= 32 && !s.shape.empty(); });
  if (!a) return;
  Symbol b = Partner(w, *a);
  const std::string& t = a->element;
  Symbol result = w.EmitHidden(
      t, a->shape, absl::StrCat("\"tt.map_elementwise\"(", a->name, ", ", b.name, ") <{pack = 1 : i32}> ({"));
  std::string x = w.Fresh(), y = w.Fresh(), c = w.Fresh(), z = w.Fresh();
  w.Line(absl::StrCat("^bb0(", x, ": ", t, ", ", y, ": ", t, "):"));
  w.Line(absl::StrCat("  ", c, " = arith.cmpi slt, ", x, ", ", y, " : ", t));
  w.Line(absl::StrCat("  ", z, " = scf.if ", c, " -> (", t, ") {"));
  std::string s = w.Fresh();
  w.Line(absl::StrCat("    ", s, " = arith.subi ", y, ", ", x, " : ", t));
  w.Line(absl::StrCat("    scf.yield ", s, " : ", t));
  w.Line(absl::StrCat("  } else {"));
  w.Line(absl::StrCat("    scf.yield ", y, " : ", t));
  w.Line("  }");
  w.Line(absl::StrCat("  tt.map_elementwise.return ", z, " : ", t));
  w.Line(absl::StrCat("}) : (", a->type(), ", ", a->type(), ") -> ", a->type()));
  w.Publish(result);
}

}  // namespace

void WriteElementwise(KernelWriter& w) {
  switch (w.Below(24)) {
    case 0:
      return WriteMapElementwise(w);
    case 1:
    case 2:
      return WriteSelect(w);
    case 3:
      return WriteCompare(w);
    case 4:
    case 5:
    case 6:
    case 7:
      return WriteCast(w);
    case 8:
      return WriteBitcast(w);
    case 9:
    case 10:
      return WriteFunction(w);
    case 11:
    case 12:
      return WriteFloatUnary(w);
    case 13:
    case 14:
    case 15:
    case 16:
      return WriteFloatBinary(w);
    case 17:
    case 18:
      return WriteIntegerUnary(w);
    default:
      return WriteIntegerBinary(w);
  }
}

}  // namespace tritond::tests
