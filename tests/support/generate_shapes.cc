// SPDX-License-Identifier: Apache-2.0
// Random steps that move elements.
#include <algorithm>

#include "tests/support/kernel_writer.h"

namespace tritond::tests {
namespace {

constexpr int kMostElements = 4096;

void Publish(KernelWriter& w, const Symbol& from, Symbol to) {
  to.bound = from.bound;
  to.approximate = from.approximate;
  to.raw = from.raw;
  w.Publish(to);
}

bool IsTensor(const Symbol& s) { return !s.shape.empty(); }

void WriteTrans(KernelWriter& w, const Symbol& a) {
  if (a.shape.size() < 2) return;
  std::vector<int> order(a.shape.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[w.Below(static_cast<int>(i) + 1)]);
  Shape shape;
  std::string text;
  for (int dim : order) {
    shape.push_back(a.shape[dim]);
    absl::StrAppend(&text, text.empty() ? "" : ", ", dim);
  }
  Publish(w, a,
          w.EmitHidden(a.element, shape,
                       absl::StrCat("tt.trans ", a.name, " {order = array<i32: ", text, ">} : ", a.type(), " -> ",
                                    TypeText(a.element, shape))));
}

void WriteReshape(KernelWriter& w, const Symbol& a) {
  int rank = 1 + w.Below(3), count = ElementsOf(a.shape);
  Shape shape(rank, 1);
  for (; count > 1; count /= 2) shape[w.Below(rank)] *= 2;
  if (shape == a.shape) return;
  Publish(w, a,
          w.EmitHidden(a.element, shape,
                       absl::StrCat("tt.reshape ", a.name, " : ", a.type(), " -> ", TypeText(a.element, shape))));
}

void WriteJoin(KernelWriter& w, const Symbol& a) {
  if (ElementsOf(a.shape) * 2 > kMostElements || a.shape.size() > 3) return;
  Symbol b = *w.Pick([&](const Symbol& s) { return s.element == a.element && s.shape == a.shape; });
  Shape shape = a.shape;
  shape.push_back(2);
  Symbol joined =
      w.EmitHidden(a.element, shape,
                   absl::StrCat("tt.join ", a.name, ", ", b.name, " : ", a.type(), " -> ", TypeText(a.element, shape)));
  Symbol both = a;
  both.approximate |= b.approximate;
  both.raw &= b.raw;
  both.bound = a.bound < 0 || b.bound < 0 ? -1 : std::max(a.bound, b.bound);
  Publish(w, both, joined);
}

void WriteSplit(KernelWriter& w, const Symbol& a) {
  // Any tensor becomes one that ends in 2.
  int count = ElementsOf(a.shape);
  if (count < 4) return;
  Symbol pairs = a;
  if (a.shape.back() != 2 || a.shape.size() < 2) pairs = *w.Conform(a, {count / 2, 2});
  Shape half(pairs.shape.begin(), pairs.shape.end() - 1);
  Symbol left = pairs, right = pairs;
  left.shape = right.shape = half;
  left.name = w.Fresh();
  right.name = w.Fresh();
  w.Line(
      absl::StrCat(left.name, ", ", right.name, " = tt.split ", pairs.name, " : ", pairs.type(), " -> ", left.type()));
  w.Publish(left);
  w.Publish(right);
}

// Takes elements along an axis at indices from another tensor.
void WriteGather(KernelWriter& w, const Symbol& a) {
  auto index =
      w.Pick([&](const Symbol& s) { return s.is_int() && s.bits() >= 32 && ElementsOf(s.shape) <= kMostElements; });
  if (!index) return;
  int axis = w.Below(static_cast<int>(a.shape.size()));
  Shape shape = a.shape;
  shape[axis] = std::min(shape[axis] * w.OneOf<int>({1, 1, 2}), 64);
  if (ElementsOf(shape) > kMostElements) return;
  auto fitting = w.Conform(w.CastInt(*index, "i32"), shape);
  if (!fitting) {
    Symbol range = w.EmitHidden("i32", {ElementsOf(shape)},
                                absl::StrCat("tt.make_range {start = 0 : i32, end = ", ElementsOf(shape),
                                             " : i32} : ", TypeText("i32", {ElementsOf(shape)})));
    fitting = w.Conform(range, shape);
  }
  Symbol inside = w.Masked(*fitting, a.shape[axis]);
  Publish(w, a,
          w.EmitHidden(a.element, shape,
                       absl::StrCat("tt.gather ", a.name, "[", inside.name, "] {axis = ", axis, " : i32} : (", a.type(),
                                    ", ", inside.type(), ") -> ", TypeText(a.element, shape))));
}

void WriteBroadcast(KernelWriter& w, const Symbol& a) {
  if (a.shape.size() > 2) return;
  Shape shape = a.shape;
  int axis = w.Below(static_cast<int>(shape.size()) + 1);
  shape.insert(shape.begin() + axis, 1);
  Symbol expanded = w.EmitHidden(a.element, shape,
                                 absl::StrCat("tt.expand_dims ", a.name, " {axis = ", axis, " : i32} : ", a.type(),
                                              " -> ", TypeText(a.element, shape)));
  Publish(w, a, expanded);
  shape[axis] = w.OneOf<int>({2, 4, 8, 16});
  if (ElementsOf(shape) > kMostElements || w.OneIn(3)) return;
  Publish(w, a,
          w.EmitHidden(a.element, shape,
                       absl::StrCat("tt.broadcast ", expanded.name, " : ", expanded.type(), " -> ",
                                    TypeText(a.element, shape))));
}

void WriteRange(KernelWriter& w) {
  int size = 1 << (1 + w.Below(8)), start = w.Below(100);
  Symbol range = w.EmitHidden("i32", {size},
                              absl::StrCat("tt.make_range {start = ", start, " : i32, end = ", start + size,
                                           " : i32} : ", TypeText("i32", {size})));
  range.bound = start + size;
  w.Publish(range);
}

void WriteHistogram(KernelWriter& w) {
  auto a = w.Pick([](const Symbol& s) { return s.element == "i32" && s.shape.size() == 1 && s.shape[0] >= 16; });
  if (!a) return;
  int bins = w.OneOf<int>({2, 8, 32, 128});
  Symbol inside = w.Masked(*a, bins);
  auto mask = w.Pick([&](const Symbol& s) { return s.element == "i1" && s.shape == a->shape; });
  Symbol counts = w.EmitHidden("i32", {bins},
                               absl::StrCat("tt.histogram ", inside.name, mask ? ", " + mask->name : "", " : ",
                                            inside.type(), " -> ", TypeText("i32", {bins})));
  counts.bound = a->shape[0];
  w.Publish(counts);
}

}  // namespace

void WriteShape(KernelWriter& w) {
  int kind = w.Below(9);
  if (kind == 0) return WriteRange(w);
  if (kind == 1) return WriteHistogram(w);
  auto a = w.Pick(IsTensor);
  if (!a) return;
  switch (kind) {
    case 2:
      return WriteReshape(w, *a);
    case 3:
      return WriteJoin(w, *a);
    case 4:
      return WriteSplit(w, *a);
    case 5:
      return WriteGather(w, *a);
    case 6:
      return WriteBroadcast(w, *a);
    default:
      return WriteTrans(w, *a);
  }
}

}  // namespace tritond::tests
