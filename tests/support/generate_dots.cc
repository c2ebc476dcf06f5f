// SPDX-License-Identifier: Apache-2.0
// Products of matrices: of two tiles, and of matrices that a loop reads tile by tile along K. Elements are small
// integers, so that every sum is exact in whatever order it is formed.
#include <algorithm>

#include "tests/support/kernel_frame.h"

namespace tritond::tests {
namespace {

struct DotTypes {
  const char* stored;    // in memory
  const char* operands;  // of the dot
  const char* accumulator;
};

constexpr int kLargest = 4;  // element, Contents::kSmallIntegers

std::string RandomPrecision(KernelWriter& w, const std::string& element) {
  if (element != "f32") return "";
  return ", inputPrecision = " + w.OneOf<std::string>({"tf32", "ieee"});
}

// One operand of a loop's dot: a matrix in memory, of which each iteration reads the next tile along K.
class Operand {
 public:
  // `lines` x K, or K x `lines` where `k_first`, in memory in either order. K is at most `most_k`.
  Operand(KernelWriter& w, KernelFrame& frame, const char* element, int lines, int tile_k, int most_k, bool k_first)
      : w_(w), element_(element) {
    // A tile may lie in memory, and be loaded, the other way round.
    transposed_ = w.OneIn(3);
    k_dim_ = k_first != transposed_ ? 0 : 1;
    shape_ = k_dim_ == 0 ? Shape{tile_k, lines} : Shape{lines, tile_k};
    const bool k_contiguous = w.OneIn(2);
    k_stride_ = k_contiguous ? 1 : lines;
    const std::string buffer = frame.AddBuffer(element, lines * most_k, Contents::kSmallIntegers);
    k_ = frame.IndexAlong(shape_, k_dim_);
    Symbol along_k = w_.Scaled(k_, k_stride_),
           across = w_.Scaled(frame.IndexAlong(shape_, 1 - k_dim_), k_contiguous ? most_k : 1);
    const std::string pointer = absl::StrCat("!tt.ptr<", element, ">");
    Symbol base;
    base.name = buffer;
    base.element = pointer;
    pointers_ = w.Added(*w.Conform(base, shape_),
                        w.Combined("arith.addi", *w.Conform(along_k, shape_), *w.Conform(across, shape_)));
  }

  const Symbol& pointers() const { return pointers_; }
  // Of the iteration that begins at `k`, a scalar.
  Symbol PointersAt(const Symbol& k) { return w_.Added(pointers_, *w_.Conform(w_.Scaled(k, k_stride_), shape_)); }
  Symbol Next(const Symbol& now, int tile_k) { return w_.Added(now, w_.Constant("i32", shape_, tile_k * k_stride_)); }

  // The tile at `pointers`, as the dot takes it. `left`, unless it is null: the K that is left, a scalar.
  Symbol Load(const Symbol& pointers, const Symbol* left, const std::string& operands) {
    std::string mask;
    if (left) {
      Symbol limit = *w_.Conform(*left, k_.shape);
      Symbol inside =
          w_.EmitHidden("i1", k_.shape, absl::StrCat("arith.cmpi slt, ", k_.name, ", ", limit.name, " : ", k_.type()));
      mask = absl::StrCat(", ", w_.Conform(inside, shape_)->name, ", ", w_.Constant(element_, shape_, 0).name);
    }
    Symbol tile =
        w_.EmitHidden(element_, shape_, absl::StrCat("tt.load ", pointers.name, mask, " : ", pointers.type()));
    tile = w_.Converted(tile, operands);
    if (w_.OneIn(4)) tile = Changed(tile);
    return transposed_ ? w_.Transposed(tile) : tile;
  }

 private:
  // Other elements of the same size: negative ones, or some that are zero.
  Symbol Changed(const Symbol& tile) {
    if (tile.is_narrow_float()) return tile;
    Symbol zero = w_.Constant(tile.element, tile.shape, 0);
    if (w_.OneIn(2)) return w_.Combined(tile.is_int() ? "arith.subi" : "arith.subf", zero, tile);
    Symbol limit = w_.Constant("i32", k_.shape, w_.Below(k_.shape[k_dim_]));
    Symbol below =
        w_.EmitHidden("i1", k_.shape, absl::StrCat("arith.cmpi sle, ", k_.name, ", ", limit.name, " : ", k_.type()));
    Symbol chosen = *w_.Conform(below, shape_);
    return w_.EmitHidden(tile.element, tile.shape,
                         absl::StrCat("arith.select ", chosen.name, ", ", tile.name, ", ", zero.name, " : ",
                                      chosen.type(), ", ", tile.type()));
  }

  KernelWriter& w_;
  std::string element_;
  Shape shape_;
  int k_dim_ = 0, k_stride_ = 1;
  bool transposed_ = false;
  Symbol k_, pointers_;
};

// for k = 0 … K step tile_k: acc = a[:, k …] * b[k …, :] + acc. At times there is also what attention does with such a
// product: acc2 = a product of it with a third matrix + acc2.
class DotLoop {
 public:
  DotLoop(KernelWriter& w, KernelFrame& frame) : w_(w), frame_(frame) {
    types_ = w.OneOf<DotTypes>({{"f16", "f16", "f32"},
                                {"f16", "f16", "f32"},
                                {"bf16", "bf16", "f32"},
                                {"f32", "f32", "f32"},
                                {"i8", "i8", "i32"},
                                {"f8E4M3FN", "f8E4M3FN", "f32"},
                                {"f8E5M2", "f16", "f32"},
                                {"i8", "f16", "f32"},
                                {"i8", "bf16", "f32"},
                                {"f16", "f16", "f16"}});
    rows_ = w.OneOf<int>({16, 32, 64, 64, 128});
    columns_ = w.OneOf<int>({16, 32, 64, 128});
    tile_k_ = w.OneOf<int>({16, 32, 32, 64});
    if (types_.stored[0] == 'i' || types_.stored[1] == '8') tile_k_ = std::max(tile_k_, 32);
    iterations_ = w.Below(6);
    while (Bound() > ExactUpTo(types_.accumulator)) --iterations_;
    chains_ = types_.operands == std::string("f16") && types_.accumulator == std::string("f32") && w.OneIn(3);
    if (chains_) columns_ = std::min(columns_, 64);
  }

  Symbol Write() {
    const bool is_narrow_float = types_.stored[0] == 'f' && types_.stored[1] == '8';
    const bool is_masked = !is_narrow_float && w_.OneIn(2);
    const bool advances = w_.OneIn(2);
    const int most_k = std::max(1, iterations_) * tile_k_;
    const int k = std::max(0, iterations_ * tile_k_ - (is_masked ? w_.Below(tile_k_) : 0));
    Operand a(w_, frame_, types_.stored, rows_, tile_k_, most_k, /*k_first=*/false);
    Operand b(w_, frame_, types_.stored, columns_, tile_k_, most_k, /*k_first=*/true);
    Symbol third = chains_ ? frame_.Load("f16", {columns_, kThirdColumns}, Contents::kSmallIntegers) : Symbol();
    if (chains_ && third.bound != kLargest) chains_ = false;
    Symbol from = w_.Constant("i32", {}, 0), step = w_.Constant("i32", {}, tile_k_);
    Symbol to = w_.OneIn(2) ? frame_.Scalar(k) : w_.Constant("i32", {}, k);
    const Shape shape = {rows_, chains_ ? kThirdColumns : columns_};
    std::vector<Symbol> carried = {w_.Constant(types_.accumulator, shape, w_.Below(3))}, inner;
    const double start = carried[0].bound;
    if (advances) carried.insert(carried.end(), {a.pointers(), b.pointers()});
    std::string arguments, types, results = w_.Fresh();
    for (const Symbol& each : carried) {
      inner.push_back(each);
      inner.back().name = w_.Fresh();
      absl::StrAppend(&arguments, arguments.empty() ? "" : ", ", inner.back().name, " = ", each.name);
      absl::StrAppend(&types, types.empty() ? "" : ", ", each.type());
    }
    Symbol i = from;
    i.name = w_.Fresh();
    w_.Line(absl::StrCat(results, advances ? ":3" : "", " = scf.for ", i.name, " = ", from.name, " to ", to.name,
                         " step ", step.name, " iter_args(", arguments, ") -> (", types, ") : i32 {"));
    w_.Indent(2);
    absl::optional<Symbol> left;
    if (is_masked) left = w_.Combined("arith.subi", to, i);
    Symbol tile_a = a.Load(advances ? inner[1] : a.PointersAt(i), left ? &*left : nullptr, types_.operands);
    Symbol tile_b = b.Load(advances ? inner[2] : b.PointersAt(i), left ? &*left : nullptr, types_.operands);
    std::vector<Symbol> yielded = {Sum(tile_a, tile_b, inner[0], third)};
    if (advances) yielded.insert(yielded.end(), {a.Next(inner[1], tile_k_), b.Next(inner[2], tile_k_)});
    std::string names;
    for (const Symbol& each : yielded) absl::StrAppend(&names, names.empty() ? "" : ", ", each.name);
    w_.Line(absl::StrCat("scf.yield ", names, " : ", types));
    w_.Indent(-2);
    w_.Line(w_.OneIn(3) ? absl::StrCat("} {tt.num_stages = ", 1 + w_.Below(4), " : i32}") : "}");
    Symbol acc = carried[0];
    acc.name = advances ? results + "#0" : results;
    acc.bound = start + Bound() * (chains_ ? columns_ * kLargest : 1);
    if (acc.bound > ExactUpTo(types_.accumulator)) acc.bound = -1;
    return acc;
  }

 private:
  static constexpr int kThirdColumns = 32;

  double Bound() const { return static_cast<double>(iterations_) * tile_k_ * kLargest * kLargest + 2; }

  Symbol Sum(const Symbol& a, const Symbol& b, const Symbol& acc, const Symbol& third) {
    const std::string precision = RandomPrecision(w_, types_.operands);
    if (!chains_) {
      Symbol next = w_.Dot(a, b, acc, precision);
      return w_.OneIn(4) && acc.is_float() ? Rescaled(next) : next;
    }
    Symbol zero = w_.Constant(types_.accumulator, {rows_, columns_}, 0);
    Symbol product = w_.Dot(a, b, zero, "");
    Symbol narrow = w_.EmitHidden(
        "f16", zero.shape,
        absl::StrCat("arith.truncf ", product.name, " : ", product.type(), " to ", TypeText("f16", zero.shape)));
    Symbol before = w_.OneIn(2) ? Rescaled(acc) : acc;
    return w_.Dot(narrow, third, before, "");
  }

  // Some rows with the other sign.
  Symbol Rescaled(const Symbol& acc) {
    Symbol row = frame_.IndexAlong(acc.shape, 0), limit = w_.Constant("i32", row.shape, w_.Below(rows_));
    Symbol below =
        w_.EmitHidden("i1", row.shape, absl::StrCat("arith.cmpi slt, ", row.name, ", ", limit.name, " : ", row.type()));
    Symbol one = w_.Constant(acc.element, row.shape, 1), minus_one = w_.Constant(acc.element, row.shape, -1);
    Symbol sign = w_.EmitHidden(acc.element, row.shape,
                                absl::StrCat("arith.select ", below.name, ", ", one.name, ", ", minus_one.name, " : ",
                                             below.type(), ", ", one.type()));
    return w_.Combined("arith.mulf", acc, *w_.Conform(sign, acc.shape));
  }

  KernelWriter& w_;
  KernelFrame& frame_;
  DotTypes types_;
  int rows_, columns_, tile_k_, iterations_;
  bool chains_ = false;
};

// Of two tiles.
void WriteOneDot(KernelWriter& w, KernelFrame& frame) {
  const DotTypes types = w.OneOf<DotTypes>({{"f16", "f16", "f32"},
                                            {"bf16", "bf16", "f32"},
                                            {"f32", "f32", "f32"},
                                            {"f16", "f16", "f16"},
                                            {"i8", "i8", "i32"},
                                            {"f8E5M2", "f8E5M2", "f32"},
                                            {"f8E4M3FN", "f8E4M3FN", "f32"}});
  const int m = w.OneOf<int>({16, 16, 32}), n = w.OneOf<int>({16, 16, 32});
  const int k = types.stored == std::string("i8") ? 32 : w.OneOf<int>({16, 32, 32});
  const bool transposed = w.OneIn(3);
  Symbol a = frame.Load(types.stored, {m, k}, Contents::kSmallIntegers);
  Symbol b = frame.Load(types.stored, transposed ? Shape{n, k} : Shape{k, n}, Contents::kSmallIntegers);
  if (a.bound != kLargest || b.bound != kLargest) return;
  if (transposed) b = w.Transposed(b);
  Symbol c = w.OneIn(3) ? frame.Load(types.accumulator, {m, n}, Contents::kSmallIntegers)
                        : w.Constant(types.accumulator, {m, n}, w.Below(3));
  Symbol d = w.Dot(a, b, c, RandomPrecision(w, types.stored));
  d.bound = c.bound >= 0 ? k * kLargest * kLargest + c.bound : -1;
  w.Publish(d);
}

}  // namespace

void WriteDot(KernelWriter& w, KernelFrame& frame) {
  if (w.OneIn(3)) return WriteOneDot(w, frame);
  w.Publish(DotLoop(w, frame).Write());
}

}  // namespace tritond::tests
