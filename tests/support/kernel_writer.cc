// SPDX-License-Identifier: Apache-2.0
#include "tests/support/kernel_writer.h"

#include <algorithm>

namespace tritond::tests {

int ElementsOf(const Shape& shape) {
  int count = 1;
  for (int size : shape) count *= size;
  return count;
}

bool IsNarrowFloat(const std::string& element) { return element[0] == 'f' && element[1] == '8'; }

Symbol PointerTo(const std::string& buffer, const std::string& element) {
  Symbol pointer;
  pointer.name = buffer;
  pointer.element = absl::StrCat("!tt.ptr<", element, ">");
  return pointer;
}

std::string TypeText(const std::string& element, const Shape& shape) {
  if (shape.empty()) return element;
  std::string text = "tensor<";
  for (int size : shape) absl::StrAppend(&text, size, "x");
  return text + element + ">";
}

std::string Symbol::type() const { return TypeText(element, shape); }

int Symbol::bits() const {
  if (is_narrow_float()) return 8;
  return element == "bf16" ? 16 : std::stoi(element.substr(1));
}

double ExactUpTo(const std::string& element) {
  if (element == "f8E4M3FN") return 16;
  if (element == "f8E5M2") return 8;
  if (element == "bf16") return 256;
  if (element == "f16") return 2048;
  return element == "f32" ? 1 << 24 : 1LL << 53;
}

Shape KernelWriter::RandomShape() {
  int rank = OneOf<int>({1, 1, 2, 2, 2, 3});
  int budget = OneOf<int>({5, 6, 7, 8, 9, 10});  // bits of the number of elements
  Shape shape(rank, 1);
  for (int i = 0; i < budget; ++i) shape[Below(rank)] *= 2;
  return shape;
}

std::string KernelWriter::RandomElement() {
  return OneOf<std::string>({"i8", "i16", "i32", "i32", "i64", "f16", "bf16", "f32", "f32", "f64", "i1"});
}

void KernelWriter::BeginAside() { asides_.push_back(std::move(text_)), text_.clear(); }

std::string KernelWriter::TakeAside() {
  std::string aside = std::move(text_);
  text_ = std::move(asides_.back());
  asides_.pop_back();
  return aside;
}

Symbol KernelWriter::EmitHidden(const std::string& element, const Shape& shape, const std::string& op) {
  Symbol symbol;
  symbol.name = Fresh();
  symbol.element = element;
  symbol.shape = shape;
  Line(symbol.name + " = " + op);
  return symbol;
}

Symbol KernelWriter::Emit(const std::string& element, const Shape& shape, const std::string& op) {
  Symbol symbol = EmitHidden(element, shape, op);
  Publish(symbol);
  return symbol;
}

Symbol KernelWriter::Constant(const std::string& element, const Shape& shape, int64_t value) {
  std::string text = element == "i1" ? (value & 1 ? "true" : "false") : absl::StrCat(value);
  bool is_float = element[0] != 'i';
  if (is_float) text += ".0";
  Symbol symbol = EmitHidden(element, shape,
                             shape.empty() ? "arith.constant " + text + (element == "i1" ? "" : " : " + element)
                                           : "arith.constant dense<" + text + "> : " + TypeText(element, shape));
  double size = std::abs(static_cast<double>(value));
  if (!is_float || size <= ExactUpTo(element)) symbol.bound = size;
  return symbol;
}

Symbol KernelWriter::FloatConstant(const std::string& element, const Shape& shape, const std::string& value) {
  return EmitHidden(element, shape,
                    shape.empty() ? "arith.constant " + value + " : " + element
                                  : "arith.constant dense<" + value + "> : " + TypeText(element, shape));
}

absl::optional<Symbol> KernelWriter::Pick(const Filter& filter) {
  std::vector<const Symbol*> found;
  for (const Symbol& symbol : pool_)
    if (filter(symbol)) found.push_back(&symbol);
  if (found.empty()) return absl::nullopt;
  size_t at = std::max(Below(static_cast<int>(found.size())), Below(static_cast<int>(found.size())));
  return *found[at];
}

absl::optional<Symbol> KernelWriter::Conform(const Symbol& symbol, const Shape& shape) {
  auto emit = [&](Symbol like, const Shape& to, const std::string& op) {
    Symbol result = EmitHidden(like.element, to, op);
    result.bound = like.bound;
    result.approximate = like.approximate;
    result.raw = like.raw;
    return result;
  };
  if (symbol.shape == shape) return symbol;
  if (shape.empty()) return absl::nullopt;
  std::string to = TypeText(symbol.element, shape);
  if (symbol.shape.empty())
    return emit(symbol, shape, absl::StrCat("tt.splat ", symbol.name, " : ", symbol.element, " -> ", to));
  // One dimension may be missing; every other one is the same or 1.
  Symbol full = symbol;
  if (full.shape.size() + 1 == shape.size()) {
    std::vector<int> axes;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      Shape expanded = full.shape;
      expanded.insert(expanded.begin() + axis, 1);
      bool fits = true;
      for (size_t i = 0; i < shape.size(); ++i) fits &= expanded[i] == shape[i] || expanded[i] == 1;
      if (fits) axes.push_back(static_cast<int>(axis));
    }
    if (!axes.empty()) {
      int axis = OneOf(axes);
      Shape expanded = full.shape;
      expanded.insert(expanded.begin() + axis, 1);
      full = emit(full, expanded,
                  absl::StrCat("tt.expand_dims ", full.name, " {axis = ", axis, " : i32} : ", full.type(), " -> ",
                               TypeText(full.element, expanded)));
      if (expanded == shape) return full;
    }
  }
  bool broadcasts = full.shape.size() == shape.size();
  for (size_t i = 0; broadcasts && i < shape.size(); ++i) broadcasts = full.shape[i] == shape[i] || full.shape[i] == 1;
  if (broadcasts) return emit(full, shape, absl::StrCat("tt.broadcast ", full.name, " : ", full.type(), " -> ", to));
  if (ElementsOf(full.shape) == ElementsOf(shape))
    return emit(full, shape, absl::StrCat("tt.reshape ", full.name, " : ", full.type(), " -> ", to));
  return absl::nullopt;
}

Symbol KernelWriter::Masked(const Symbol& symbol, int64_t limit) {
  Symbol mask = Constant(symbol.element, symbol.shape, limit - 1);
  Symbol result = EmitHidden(symbol.element, symbol.shape,
                             absl::StrCat("arith.andi ", symbol.name, ", ", mask.name, " : ", symbol.type()));
  result.bound = static_cast<double>(limit - 1);
  return result;
}

Symbol KernelWriter::CastInt(const Symbol& symbol, const std::string& element) {
  Symbol to = symbol;
  to.element = element;
  if (to.bits() == symbol.bits()) return symbol;
  const char* op = to.bits() < symbol.bits()            ? "arith.trunci "
                   : symbol.element == "i1" || OneIn(2) ? "arith.extui "
                                                        : "arith.extsi ";
  Symbol result =
      EmitHidden(element, symbol.shape, absl::StrCat(op, symbol.name, " : ", symbol.type(), " to ", to.type()));
  if (symbol.element == "i1") result.bound = 1;
  return result;
}

Symbol KernelWriter::Converted(const Symbol& symbol, const std::string& element) {
  if (element == symbol.element) return symbol;
  Symbol to = symbol;
  to.element = element;
  const bool is_narrow = symbol.is_narrow_float() || to.is_narrow_float();
  const bool has_no_cast = symbol.is_int() == to.is_int() ? to.is_float() && to.bits() == symbol.bits() : is_narrow;
  if (has_no_cast) return Converted(Converted(symbol, "f32"), element);
  if (symbol.is_int() && to.is_int())
    return EmitHidden(element, symbol.shape,
                      absl::StrCat(to.bits() < symbol.bits() ? "arith.trunci " : "arith.extsi ", symbol.name, " : ",
                                   symbol.type(), " to ", to.type()));
  if (is_narrow)
    return EmitHidden(element, symbol.shape,
                      absl::StrCat("tt.fp_to_fp ", symbol.name, to.bits() < symbol.bits() ? ", rounding = rtne" : "",
                                   " : ", symbol.type(), " -> ", to.type()));
  const char* op = symbol.is_int()             ? "arith.sitofp "
                   : to.is_int()               ? "arith.fptosi "
                   : to.bits() > symbol.bits() ? "arith.extf "
                                               : "arith.truncf ";
  return EmitHidden(element, symbol.shape, absl::StrCat(op, symbol.name, " : ", symbol.type(), " to ", to.type()));
}

Symbol KernelWriter::Combined(const std::string& op, const Symbol& x, const Symbol& y) {
  return EmitHidden(x.element, x.shape, absl::StrCat(op, " ", x.name, ", ", y.name, " : ", x.type()));
}

Symbol KernelWriter::Compared(const std::string& predicate, const Symbol& x, const Symbol& y) {
  return EmitHidden(
      "i1", x.shape,
      absl::StrCat(x.is_int() ? "arith.cmpi " : "arith.cmpf ", predicate, ", ", x.name, ", ", y.name, " : ", x.type()));
}

Symbol KernelWriter::Selected(const Symbol& condition, const Symbol& x, const Symbol& y) {
  return EmitHidden(x.element, x.shape,
                    absl::StrCat("arith.select ", condition.name, ", ", x.name, ", ", y.name, " : ",
                                 condition.shape.empty() ? "" : condition.type() + ", ", x.type()));
}

Symbol KernelWriter::Along(const Symbol& x, int dim) {
  const Shape shape = dim == 0 ? Shape{x.shape[0], 1} : Shape{1, x.shape[0]};
  return EmitHidden(x.element, shape,
                    absl::StrCat("tt.expand_dims ", x.name, " {axis = ", 1 - dim, " : i32} : ", x.type(), " -> ",
                                 TypeText(x.element, shape)));
}

Symbol KernelWriter::Zero(const std::string& element, const Shape& shape) {
  return IsNarrowFloat(element) ? Converted(Constant("f32", shape, 0), element) : Constant(element, shape, 0);
}

Symbol KernelWriter::Load(const Symbol& pointers, const std::string& element, const absl::optional<Symbol>& mask) {
  const std::string other = mask ? absl::StrCat(", ", mask->name, ", ", Zero(element, pointers.shape).name) : "";
  return EmitHidden(element, pointers.shape, absl::StrCat("tt.load ", pointers.name, other, " : ", pointers.type()));
}

Symbol KernelWriter::Added(const Symbol& pointers, const Symbol& offsets) {
  return EmitHidden(
      pointers.element, pointers.shape,
      absl::StrCat("tt.addptr ", pointers.name, ", ", offsets.name, " : ", pointers.type(), ", ", offsets.type()));
}

Symbol KernelWriter::Transposed(const Symbol& matrix) {
  const Shape shape = {matrix.shape[1], matrix.shape[0]};
  return EmitHidden(matrix.element, shape,
                    absl::StrCat("tt.trans ", matrix.name, " {order = array<i32: 1, 0>} : ", matrix.type(), " -> ",
                                 TypeText(matrix.element, shape)));
}

Symbol KernelWriter::Dot(const Symbol& a, const Symbol& b, const Symbol& c, const std::string& precision) {
  return EmitHidden(c.element, c.shape,
                    absl::StrCat("tt.dot ", a.name, ", ", b.name, ", ", c.name, precision, " : ", a.type(), " * ",
                                 b.type(), " -> ", c.type()));
}

}  // namespace tritond::tests
