// SPDX-License-Identifier: Apache-2.0
// Writes the text of a random kernel: names, types, the values that an operation may take, and what is known of them.
// For kernel_generator.cc and the generate_*.cc alone.
#ifndef TESTS_SUPPORT_KERNEL_WRITER_H_
#define TESTS_SUPPORT_KERNEL_WRITER_H_

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "tests/support/kernel_generator.h"

namespace tritond::tests {

using Shape = std::vector<int>;
int ElementsOf(const Shape& shape);

bool IsNarrowFloat(const std::string& element);

// A value of the kernel. What is known of it keeps kernels free of anything undefined and their results independent
// of the order in which a device adds.
struct Symbol {
  std::string name;          // "%7"
  std::string element;       // "f32"
  Shape shape;               // empty: a scalar
  double bound = -1;         // elements are integers of at most this size, also in floats; below 0: unknown
  bool approximate = false;  // devices may differ in the last bits, so that nothing may be decided by it
  bool raw = false;          // never computed with: the bits of a NaN are known

  bool is_float() const { return element[0] == 'f' || element[0] == 'b'; }
  bool is_narrow_float() const { return IsNarrowFloat(element); }
  bool is_int() const { return element[0] == 'i'; }
  int bits() const;
  std::string type() const;  // "tensor<4x8xf32>"
};
Symbol PointerTo(const std::string& buffer, const std::string& element);
std::string TypeText(const std::string& element, const Shape& shape);
// The largest integer up to which a float type holds all.
double ExactUpTo(const std::string& element);

class KernelWriter {
 public:
  explicit KernelWriter(uint64_t seed) : random_(seed) {}

  // 0 … n - 1.
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  bool OneIn(int n) { return Below(n) == 0; }
  uint64_t Bits() { return random_(); }
  template <typename T>
  T OneOf(const std::vector<T>& choices) {
    return choices[Below(static_cast<int>(choices.size()))];
  }
  // Of a size that a small kernel can afford.
  Shape RandomShape();
  std::string RandomElement();

  void Line(const std::string& text) { absl::StrAppend(&text_, std::string(indent_, ' '), text, "\n"); }
  void Indent(int by) { indent_ += by; }
  std::string TakeText() { return std::move(text_); }
  // What follows goes to a text of its own until the matching TakeAside gives it.
  void BeginAside();
  std::string TakeAside();

  std::string Fresh() { return absl::StrCat("%v", next_++); }
  // Writes "%fresh = op" and makes the result known.
  Symbol Emit(const std::string& element, const Shape& shape, const std::string& op);
  // As Emit for a value that may not take part in anything else yet.
  Symbol EmitHidden(const std::string& element, const Shape& shape, const std::string& op);
  void Publish(const Symbol& symbol) { pool_.push_back(symbol); }
  Symbol Constant(const std::string& element, const Shape& shape, int64_t value);
  Symbol FloatConstant(const std::string& element, const Shape& shape, const std::string& value);

  using Filter = std::function<bool(const Symbol&)>;
  // A random value that passes, newer ones more often.
  absl::optional<Symbol> Pick(const Filter& filter);
  size_t Mark() const { return pool_.size(); }
  void Forget(size_t mark) { pool_.resize(mark); }
  std::vector<Symbol> TakePool() { return std::move(pool_); }
  void SetPool(std::vector<Symbol> pool) { pool_ = std::move(pool); }
  const std::vector<Symbol>& pool() const { return pool_; }

  // `symbol` in `shape`: splat, with dimensions inserted and repeated, or reshaped; nothing if it cannot be.
  absl::optional<Symbol> Conform(const Symbol& symbol, const Shape& shape);
  // `symbol` cut to integers of 0 … limit - 1, a power of two.
  Symbol Masked(const Symbol& symbol, int64_t limit);
  // Integers as another integer type.
  Symbol CastInt(const Symbol& symbol, const std::string& element);
  // Numbers as another type that holds them.
  Symbol Converted(const Symbol& symbol, const std::string& element);
  // x <op> y for values of one type.
  Symbol Combined(const std::string& op, const Symbol& x, const Symbol& y);
  Symbol Sum(const Symbol& x, const Symbol& y) { return Combined(x.is_int() ? "arith.addi" : "arith.addf", x, y); }
  Symbol Product(const Symbol& x, const Symbol& y) { return Combined(x.is_int() ? "arith.muli" : "arith.mulf", x, y); }
  Symbol Scaled(const Symbol& x, int by) { return by == 1 ? x : Product(x, Constant(x.element, x.shape, by)); }
  Symbol Compared(const std::string& predicate, const Symbol& x, const Symbol& y);
  Symbol Selected(const Symbol& condition, const Symbol& x, const Symbol& y);
  // x[:, None] or x[None, :]: along dimension `dim` of two.
  Symbol Along(const Symbol& x, int dim);
  // Also of types that have no constants.
  Symbol Zero(const std::string& element, const Shape& shape);
  // Where `mask` is false, zero.
  Symbol Load(const Symbol& pointers, const std::string& element, const absl::optional<Symbol>& mask);
  // Pointers further on by `offsets` elements.
  Symbol Added(const Symbol& pointers, const Symbol& offsets);
  Symbol Transposed(const Symbol& matrix);
  // a * b + c. `precision`: ", inputPrecision = …", " {maxNumImpreciseAcc = …}", or nothing.
  Symbol Dot(const Symbol& a, const Symbol& b, const Symbol& c, const std::string& precision);

 private:
  std::mt19937_64 random_;
  std::string text_;
  std::vector<std::string> asides_;
  int indent_ = 4;
  int next_ = 0;
  std::vector<Symbol> pool_;
};

// One step each: writes an operation, or a few, over what is known, and makes its results known. Do nothing when the
// known values do not suit.
void WriteElementwise(KernelWriter& w);  // generate_elementwise.cc
void WriteArithmetic(KernelWriter& w);   // generate_arithmetic.cc
void WriteShape(KernelWriter& w);        // generate_shapes.cc
void WriteReduction(KernelWriter& w);    // generate_reductions.cc

// Writes a reduction of `a` by the operation `op`; its result may not take part in anything else yet.
Symbol EmitReduce(KernelWriter& w, const Symbol& a, int axis, const std::string& op);  // generate_reductions.cc

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_KERNEL_WRITER_H_
