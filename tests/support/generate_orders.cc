// SPDX-License-Identifier: Apache-2.0
// Random loops over one buffer that load, store and update some of it. All places are permutations of a row that may
// begin anywhere, so that they meet those of other threads, accesses and iterations; what memory holds in the end shows
// in which order they came. A scalar that moves a row is made of what loops count, and stays below a power of two.
#include <vector>

#include "tests/support/kernel_nest.h"

namespace tritond::tests {
namespace {

constexpr int kRows = 6;       // of the buffer, which a program accesses
constexpr int kFirstRows = 4;  // in which a row begins
constexpr int kMostValue = 1023;

class Orders {
 public:
  Orders(KernelWriter& w, KernelFrame& frame) : w_(w), frame_(frame) {
    size_ = w.OneOf<int>({64, 128, 256, 512, 1024});
    length_ = frame.Scalar(w.Below(6));
    const std::string buffer = frame.AddIntegers("i32", kRows * size_ * frame.programs(), 0, kMostValue);
    buffer_ = w.Added(PointerTo(buffer, "i32"), w.Scaled(frame.program(), kRows * size_));
    table_ = PointerTo(frame.AddPermutations(kTables, size_), "i32");
  }

  void Write(int steps) {
    w_.Publish(Range({size_}));
    WriteSteps(steps, 0);
  }

 private:
  static constexpr int kTables = 4;

  void WriteSteps(int steps, int depth) {
    for (int i = 0; i < steps; ++i) {
      const int kind = w_.Below(depth == 0 ? 6 : 8);
      if (kind < 2 && depth < 2) {
        WriteLoopOf(depth);
      } else if (kind == 2 && depth < 2) {
        WriteIf(depth);
      } else {
        WriteAccess();
      }
    }
  }

  bool IsRow(const Symbol& s) const { return s.element == "i32" && ElementsOf(s.shape) == size_; }
  Symbol Row() {
    return *w_.Pick([&](const Symbol& s) { return IsRow(s); });
  }

  Shape RandomShape() {
    if (!w_.OneIn(3)) return {size_};
    const int rows = w_.OneOf<int>({4, 8, 16, 32});
    return {rows, size_ / rows};
  }

  Symbol All(const Symbol& scalar, const Shape& shape) { return *w_.Conform(scalar, shape); }
  Symbol All(int number, const Shape& shape) { return w_.Constant("i32", shape, number); }

  // 0 … size - 1, along rows or along columns.
  Symbol Range(const Shape& shape) {
    if (shape.size() == 1) return frame_.IndexAlong(shape, 0);
    const size_t outer = w_.Below(2);
    Symbol far = w_.Scaled(frame_.IndexAlong(shape, outer), shape[1 - outer]);
    return w_.Sum(*w_.Conform(far, shape), *w_.Conform(frame_.IndexAlong(shape, 1 - outer), shape));
  }

  // 0 … limit - 1, a power of two.
  Symbol Scalar(int limit) {
    if (counters_.empty() || w_.OneIn(3))
      return w_.OneIn(5) ? w_.Masked(length_, limit) : w_.Constant("i32", {}, w_.Below(limit));
    Symbol count = w_.OneOf(counters_);
    if (w_.OneIn(2)) count = w_.Scaled(count, w_.OneOf<int>({2, 3, 5, 16, 32}));
    const auto number = [&](int value) { return w_.Constant("i32", {}, value); };
    switch (w_.Below(8)) {
      case 0:
        return w_.Combined(w_.OneIn(2) ? "arith.remsi" : "arith.remui", count, number(1 + w_.Below(limit)));
      case 1:
        return w_.Combined(w_.OneIn(2) ? "arith.minsi" : "arith.minui", count, number(w_.Below(limit)));
      case 2:
        return w_.Masked(w_.Combined(w_.OneIn(2) ? "arith.divsi" : "arith.shrui", count, number(1 + w_.Below(2))),
                         limit);
      case 3:
        return w_.Masked(w_.Combined(w_.OneIn(2) ? "arith.xori" : "arith.subi", number(w_.Below(8)), count), limit);
      case 4:
        return w_.Selected(w_.Compared("slt", count, number(w_.Below(4))), w_.Masked(count, limit),
                           number(w_.Below(limit)));
      default:
        return w_.Masked(count, limit);
    }
  }

  // A permutation of 0 … size - 1.
  Symbol Places(const Shape& shape) {
    Symbol places = Range(shape);
    for (int i = w_.Below(3); i > 0; --i) places = Permuted(places);
    return places;
  }

  Symbol Permuted(const Symbol& places) {
    const Shape& shape = places.shape;
    switch (w_.Below(6)) {
      case 0:
        return w_.Combined("arith.xori", places, All(Scalar(size_), shape));
      case 1:
        return w_.Masked(w_.Sum(places, All(Scalar(size_), shape)), size_);
      case 2:
        return w_.Masked(w_.Scaled(places, w_.OneOf<int>({3, 5, 7, 33})), size_);
      case 3:
        return w_.Combined("arith.subi", All(size_ - 1, shape), places);
      case 4: {
        const Symbol row = w_.Added(table_, w_.Scaled(Scalar(kTables), size_));
        return w_.Load(w_.Added(All(row, shape), places), "i32", absl::nullopt);
      }
      default: {
        const int width = w_.OneOf<int>({2, 4, 8, 16});
        const Symbol quotient = w_.Combined("arith.divsi", places, All(width, shape));
        const Symbol rest = w_.Combined("arith.remsi", places, All(width, shape));
        return w_.Sum(quotient, w_.Scaled(rest, size_ / width));
      }
    }
  }

  Symbol Pointers(const Shape& shape) {
    Symbol begin = buffer_;
    const int kind = w_.Below(5);
    if (kind < 3) begin = w_.Added(begin, w_.Scaled(Scalar(kFirstRows), size_));
    if (kind == 3) begin = w_.Added(begin, Scalar(size_));
    return w_.Added(All(begin, shape), Places(shape));
  }

  absl::optional<Symbol> Mask(const Shape& shape) {
    if (!w_.OneIn(3)) return absl::nullopt;
    return w_.Compared(w_.OneOf<std::string>({"slt", "sgt", "ne"}), Range(shape), All(Scalar(size_), shape));
  }

  void WriteAccess() {
    const Shape shape = RandomShape();
    const Symbol pointers = Pointers(shape);
    const absl::optional<Symbol> mask = Mask(shape);
    const int kind = w_.Below(10);
    if (kind < 4) return w_.Publish(w_.Load(pointers, "i32", mask));
    const Symbol a = All(Row(), shape), b = All(Row(), shape);
    const Symbol value =
        w_.Masked(w_.Combined(w_.OneOf<std::string>({"arith.addi", "arith.subi", "arith.xori", "arith.muli"}), a, b),
                  kMostValue + 1);
    const std::string given = mask ? ", " + mask->name : "";
    if (kind < 9)
      return w_.Line(absl::StrCat("tt.store ", pointers.name, ", ", value.name, given, " : ", pointers.type()));
    // Atomic operations that are alike have no order, and need none if nobody asks for their results.
    w_.EmitHidden("i32", shape,
                  absl::StrCat("tt.atomic_rmw ", w_.OneOf<std::string>({"add", "xor", "max"}), ", acq_rel, gpu, ",
                               pointers.name, ", ", value.name, given, " : (", pointers.type(), ", ", value.type(),
                               mask ? ", " + mask->type() : "", ") -> ", value.type()));
  }

  // Carries a row, or nothing.
  void WriteLoopOf(int depth) {
    Bounds bounds;
    bounds.from = w_.Constant("i32", {}, 0);
    bounds.to = w_.OneIn(2) ? length_ : w_.Constant("i32", {}, 2 + w_.Below(4));
    bounds.step = w_.Constant("i32", {}, 1);
    bounds.is_while = w_.OneIn(4);
    if (w_.OneIn(3)) bounds.attributes = absl::StrCat("tt.num_stages = ", 1 + w_.Below(4), " : i32");
    Carried carried;
    const bool carries = !w_.OneIn(3);
    if (carries) carried.Add(Row());
    const size_t mark = w_.Mark();
    const std::vector<Symbol> results = WriteLoop(w_, bounds, carried, [&](const Symbol& i) {
      counters_.push_back(i);
      if (carries) w_.Publish(carried.now[0]);
      WriteSteps(1 + w_.Below(4), depth + 1);
      if (carries) carried.next[0] = All(Row(), carried.starts[0].shape);
      counters_.pop_back();
    });
    w_.Forget(mark);
    if (carries) w_.Publish(results[0]);
  }

  void WriteIf(int depth) {
    const Symbol holds = w_.Compared(w_.OneOf<std::string>({"slt", "eq", "sgt"}), Scalar(4), w_.Constant("i32", {}, 2));
    w_.Line(absl::StrCat("scf.if ", holds.name, " {"));
    for (const bool is_last : {w_.OneIn(2), true}) {
      const size_t mark = w_.Mark();
      w_.Indent(2);
      WriteSteps(1 + w_.Below(2), depth + 1);
      w_.Indent(-2);
      w_.Forget(mark);
      w_.Line(is_last ? "}" : "} else {");
      if (is_last) return;
    }
  }

  KernelWriter& w_;
  KernelFrame& frame_;
  int size_ = 0;
  Symbol length_, buffer_, table_;
  std::vector<Symbol> counters_;  // of the loops that are being written
};

}  // namespace

void WriteOrders(KernelWriter& w, KernelFrame& frame, int steps) { Orders(w, frame).Write(steps); }

}  // namespace tritond::tests
