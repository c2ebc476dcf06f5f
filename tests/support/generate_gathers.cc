// SPDX-License-Identifier: Apache-2.0
// Products of tiles that lie where tables say, as attention over pages of keys or products of experts have them. A loop
// reads entries of tables and tiles at them, and multiplies these; another loop around it may take such products for
// one tile of the result after the other. Elements are small integers, so that every sum is exact.
#include <algorithm>
#include <memory>

#include "tests/support/gathered_operand.h"

namespace tritond::tests {
namespace {

constexpr int kLargest = 4;     // element, Contents::kSmallIntegers
constexpr int kMostInPart = 8;  // what is left of a product that is an operand itself

struct DotTypes {
  const char *a, *b;  // in memory
  const char* operands;
  const char* accumulator;
};

// acc = a product of two operands + acc for each iteration. Where it is one of a third operand, too, it does as
// attention: `a` may stay, and `b` moves along the columns of the first product, which are the third operand's rows.
class Gathers {
 public:
  Gathers(KernelWriter& w, KernelFrame& frame)
      : w_(w), frame_(frame), nest_{w, frame, 0, 0, true, {}, {}, {}, {}}, kept_{w,  frame, 1,  0, false,
                                                                                 {}, {},    {}, {}} {
    ChooseTypes();
    ChooseSizes();
    chooses_length_ = w.Below(4);
    accumulator_ = types_.accumulator;
    operands_ = types_.operands;
    Operand* none = nullptr;
    if (chains_) {
      keeps_ = !w.OneIn(4);
      a_ = std::make_unique<Operand>(keeps_ ? kept_ : nest_, types_.a, depth_, rows_, /*moving_first=*/false, none);
      b_ = std::make_unique<Operand>(nest_, types_.b, columns_, depth_, /*moving_first=*/false, none);
      c_ = std::make_unique<Operand>(nest_, types_.b, columns_, width_, /*moving_first=*/true, b_.get());
    } else {
      a_ = std::make_unique<Operand>(nest_, types_.a, depth_, rows_, /*moving_first=*/false, none);
      b_ = std::make_unique<Operand>(nest_, types_.b, depth_, columns_, /*moving_first=*/true, a_.get());
    }
    if (scales_operand_) {
      scale_dim_ = w.Below(2);
      scale_ = std::make_unique<Row>(nest_, scale_dim_ == 0 ? depth_ : columns_, /*is_of_tile=*/false);
    }
    if (scales_product_) {
      product_dim_ = w.Below(2);
      product_scale_ = std::make_unique<Row>(nest_, product_dim_ == 0 ? rows_ : width_, /*is_of_tile=*/false);
    }
    if (w.OneIn(3)) {
      bias_dim_ = w.Below(2);
      bias_ = std::make_unique<Row>(nest_, bias_dim_ == 0 ? rows_ : width_, /*is_of_tile=*/true);
    }
    if (chooses_length_ == 0) lengths_ = frame.AddIntegers("i32", nest_.tiles, 0, nest_.iterations);
    unit_ = w.OneIn(3) ? depth_ : 1;
    if (chooses_length_ == 1) length_ = frame.Scalar(nest_.iterations * unit_);
  }

  void Write() {
    const Symbol program = frame_.program();
    const bool has_turns = turns_ > 1 || w_.OneIn(4);
    ChooseResult(has_turns);
    if (!has_turns) {
      Symbol product = TileOf(program);
      Finish(product, program, w_.Constant("i32", {}, 0));
      return w_.Publish(product);
    }
    const bool strides = w_.OneIn(2);
    Carried carried;
    Symbol zero = w_.Constant(accumulator_, {rows_, width_}, 0);
    const bool sums = w_.OneIn(2);
    if (sums) carried.Add(zero);
    Bounds bounds;
    bounds.from = strides ? program : w_.Constant("i32", {}, 0);
    bounds.to = w_.Constant("i32", {}, strides ? nest_.tiles : turns_);
    bounds.step = w_.Constant("i32", {}, strides ? frame_.programs() : 1);
    bounds.is_while = w_.OneIn(4);
    if (w_.OneIn(3)) bounds.attributes = "tt.flatten";
    if (strides && result_ == Result::kOverlapping) result_ = Result::kOwn;
    Symbol first = w_.Scaled(program, turns_);
    std::vector<Symbol> results = WriteLoop(w_, bounds, carried, [&](const Symbol& turn) {
      const Symbol tile = strides ? turn : w_.Sum(first, turn);
      Symbol product = TileOf(tile);
      Finish(product, tile, turn);
      if (sums) carried.next[0] = w_.Sum(carried.now[0], product);
    });
    if (!sums) return;
    results[0].bound = bound_ * turns_ <= ExactUpTo(accumulator_) ? bound_ * turns_ : -1;
    w_.Publish(results[0]);
  }

 private:
  enum class Result { kNone, kOwn, kOverlapping, kAtomic, kDescriptor };
  static constexpr double kMostProducts = 1 << 22;
  static constexpr int kMostProductsOfTile = 1 << 21;

  void ChooseTypes() {
    types_ = w_.OneOf<DotTypes>({{"f16", "f16", "f16", "f32"},
                                 {"f16", "f16", "f16", "f32"},
                                 {"bf16", "bf16", "bf16", "f32"},
                                 {"f32", "f32", "f32", "f32"},
                                 {"i8", "i8", "i8", "i32"},
                                 {"f8E4M3FN", "f8E4M3FN", "f8E4M3FN", "f32"},
                                 {"f8E5M2", "f8E5M2", "f8E5M2", "f32"},
                                 {"f16", "i8", "f16", "f32"},
                                 {"bf16", "f8E4M3FN", "bf16", "f32"},
                                 {"f16", "f16", "f16", "f16"},
                                 {"bf16", "i8", "bf16", "f32"},
                                 {"i8", "f16", "f16", "f32"},
                                 {"f32", "bf16", "bf16", "f32"},
                                 {"f8E5M2", "f16", "f16", "f32"}});
    if (types_.operands == std::string("f32"))
      precision_ = ", inputPrecision = " + w_.OneOf<std::string>({"tf32", "tf32", "ieee", "tf32x3"});
    if (IsNarrowFloat(types_.operands) && w_.OneIn(2))
      precision_ = absl::StrCat(" {maxNumImpreciseAcc = ", w_.OneOf<int>({32, 64, 128}), " : i32}");
  }

  void ChooseSizes() {
    const bool is_narrow = types_.operands[1] == '8', is_small = types_.accumulator == std::string("f16");
    // Of large operands, shared memory holds few.
    const bool is_large = w_.OneIn(3);
    rows_ = w_.OneOf<int>(is_large ? std::vector<int>{16, 32, 64, 128} : std::vector<int>{16, 32, 64, 64, 128, 128});
    columns_ = w_.OneOf<int>(is_large ? std::vector<int>{64, 128, 256} : std::vector<int>{16, 32, 64, 64, 128, 256});
    depth_ = w_.OneOf<int>(is_large ? std::vector<int>{64, 128, 256} : std::vector<int>{16, 32, 32, 64, 64, 128});
    while (rows_ * columns_ * depth_ > kMostProductsOfTile) depth_ /= 2;
    chains_ = !is_small && w_.OneIn(3);
    if (is_small) depth_ = std::min(depth_, 32);
    if (is_narrow) depth_ = std::max(depth_, 32);
    if (chains_) columns_ = std::min(is_narrow ? std::max(columns_, 32) : columns_, 128);
    width_ = chains_ ? w_.OneOf<int>({16, 32, 64, 128}) : columns_;
    scales_operand_ = !is_narrow && !is_small && w_.OneIn(3);
    scales_product_ = !is_small && w_.OneIn(4);
    turns_ = w_.OneIn(2) ? 1 : 1 + w_.Below(4);
    const double of_first = depth_ * kLargest * kLargest * (scales_operand_ ? kLargest : 1);
    const std::string operands = types_.operands;
    const double most = operands == "f32" || operands == "f16" ? 2048 : operands == "bf16" ? 256 : kMostInPart;
    clamps_ = chains_ && (of_first > most || w_.OneIn(3));
    double of_iteration = chains_ ? columns_ * kLargest * (clamps_ ? kMostInPart : of_first) : of_first;
    if (scales_product_) of_iteration *= kLargest;
    nest_.iterations = w_.Below(8);
    while (2 + nest_.iterations * of_iteration > ExactUpTo(types_.accumulator)) --nest_.iterations;
    const double products =
        static_cast<double>(rows_) * columns_ * (depth_ + (chains_ ? width_ : 0)) * frame_.programs();
    while (turns_ > 1 && products * turns_ * nest_.iterations > kMostProducts) --turns_;
    while (nest_.iterations > 4 && products * nest_.iterations > kMostProducts) --nest_.iterations;
    nest_.tiles = kept_.tiles = turns_ * frame_.programs();
    bound_ = 2 + nest_.iterations * of_iteration + kLargest;
  }

  Bounds LoopBounds(const Symbol& tile) {
    Bounds bounds;
    const int most = nest_.iterations;
    bounds.from = w_.Constant("i32", {}, w_.OneIn(5) ? unit_ : 0);
    bounds.step = w_.Constant("i32", {}, unit_);
    if (chooses_length_ == 0) {
      bounds.to = w_.Scaled(w_.Load(w_.Added(PointerTo(lengths_, "i32"), tile), "i32", absl::nullopt), unit_);
    } else if (chooses_length_ == 1) {
      bounds.to = length_;
    } else if (chooses_length_ == 2 && w_.OneIn(2)) {  // as many as the tile's number
      bounds.to = w_.Scaled(w_.Combined("arith.minsi", tile, w_.Constant("i32", {}, most)), unit_);
    } else {
      bounds.to = w_.Constant("i32", {}, most * unit_);
    }
    bounds.is_while = w_.OneIn(6);
    if (!w_.OneIn(3)) bounds.attributes = absl::StrCat("tt.num_stages = ", 1 + w_.Below(5), " : i32");
    if (w_.OneIn(12))
      absl::StrAppend(&bounds.attributes, bounds.attributes.empty() ? "" : ", ", "tt.loop_unroll_factor = 2 : i32");
    return bounds;
  }

  // The product of a tile: its loop.
  Symbol TileOf(const Symbol& tile) {
    nest_.tile = kept_.tile = tile;
    nest_.carried = Carried();
    kept_.i = w_.Constant("i32", {}, 0);
    for (Operand* each : {a_.get(), b_.get(), c_.get()})
      if (each) each->Begin();
    const Bounds bounds = LoopBounds(tile);
    const auto number = [&](const Symbol& i) {
      return unit_ == 1 ? i : w_.Combined("arith.divsi", i, w_.Constant("i32", {}, unit_));
    };
    nest_.to = number(bounds.to);
    const size_t sum = nest_.carried.Add(w_.Constant(accumulator_, {rows_, width_}, w_.Below(3)));
    absl::optional<size_t> largest;
    if (chains_ && accumulator_ == "f32" && w_.OneIn(2))
      largest = nest_.carried.Add(w_.Constant(accumulator_, {rows_}, -100));
    absl::optional<Symbol> kept;
    if (keeps_) kept = a_->Tile(operands_);
    std::vector<Symbol> results = WriteLoop(w_, bounds, nest_.carried, [&](const Symbol& i) {
      nest_.i = number(i);
      Iterate(kept ? *kept : a_->Tile(operands_), sum, largest);
    });
    results[sum].bound = bound_;
    return results[sum];
  }

  Symbol Spread(const Symbol& numbers, int dim, const Shape& shape) {
    return *w_.Conform(w_.Along(numbers, dim), shape);
  }

  void Iterate(const Symbol& a, size_t sum, const absl::optional<size_t>& largest) {
    Carried& carried = nest_.carried;
    Symbol b = b_->Tile(operands_), acc = carried.now[sum];
    if (scale_) b = w_.Product(b, Spread(scale_->Numbers(operands_), scale_dim_, b.shape));
    if (chains_) {
      Symbol part = w_.Dot(a, b, w_.Constant(accumulator_, {rows_, columns_}, 0), precision_);
      if (largest) acc = Rescaled(acc, part, *largest);
      carried.next[sum] = Added(Part(part), c_->Tile(operands_), acc);
    } else {
      carried.next[sum] = Added(a, b, acc);
    }
  }

  // a * b + acc.
  Symbol Added(const Symbol& a, const Symbol& b, const Symbol& acc) {
    if (!product_scale_) return w_.Dot(a, b, acc, precision_);
    Symbol product = w_.Dot(a, b, w_.Constant(accumulator_, acc.shape, 0), precision_);
    Symbol factor = Spread(product_scale_->Numbers(accumulator_), product_dim_, acc.shape);
    return w_.Sum(w_.Product(product, factor), acc);
  }

  // The first product as an operand.
  Symbol Part(Symbol part) {
    if (clamps_) {
      const bool is_int = part.is_int();
      part = w_.Combined(is_int ? "arith.minsi" : "arith.minimumf", part,
                         w_.Constant(accumulator_, part.shape, kMostInPart));
      part = w_.Combined(is_int ? "arith.maxsi" : "arith.maximumf", part,
                         w_.Constant(accumulator_, part.shape, -kMostInPart));
    }
    return w_.Converted(part, operands_);
  }

  // Of rows in which the first product has a larger element than ever before, the other sign.
  Symbol Rescaled(const Symbol& acc, const Symbol& part, size_t largest) {
    Carried& carried = nest_.carried;
    const Symbol before = carried.now[largest];
    Symbol now = w_.Combined("arith.maximumf", before, EmitReduce(w_, part, 1, "arith.maximumf"));
    carried.next[largest] = now;
    Symbol sign = w_.Selected(w_.Compared("ogt", now, before), w_.Constant(accumulator_, now.shape, -1),
                              w_.Constant(accumulator_, now.shape, 1));
    return w_.Product(acc, Spread(sign, 0, acc.shape));
  }

  void ChooseResult(bool has_turns) {
    result_ = w_.OneOf<Result>({Result::kOwn, Result::kOverlapping, Result::kAtomic, Result::kDescriptor});
    if (!has_turns && w_.OneIn(2)) result_ = Result::kNone;
    if (bound_ * nest_.tiles > ExactUpTo(accumulator_) && result_ == Result::kAtomic) result_ = Result::kOwn;
    if (accumulator_ == "f16" && result_ == Result::kAtomic) result_ = Result::kOwn;
    if (result_ == Result::kNone) return;
    stored_ = accumulator_;
    if (result_ != Result::kAtomic && w_.OneIn(3))
      stored_ = accumulator_ == "i32" ? "i8" : w_.OneOf<std::string>({"f16", "bf16"});
    const int size = rows_ * width_;
    const int count = result_ == Result::kAtomic        ? 1
                      : result_ == Result::kOverlapping ? frame_.programs() * (turns_ + 1)
                                                        : nest_.tiles;
    out_ = PointerTo(frame_.AddBuffer(stored_, count * size, Contents::kSmallIntegers), stored_);
    if (w_.OneIn(3)) row_limit_ = frame_.Scalar(w_.Below(rows_ + 2));
  }

  void Finish(const Symbol& product, const Symbol& tile, const Symbol& turn) {
    if (result_ == Result::kNone) return;
    Symbol value = product;
    if (bias_) value = w_.Sum(value, Spread(bias_->Numbers(accumulator_), bias_dim_, value.shape));
    value = w_.Converted(value, stored_);
    const int size = rows_ * width_;
    if (result_ == Result::kDescriptor) return FinishBlock(value, tile);
    Symbol begin = w_.Scaled(tile, size);
    if (result_ == Result::kOverlapping) {
      const Symbol program = frame_.program();
      begin = w_.Sum(w_.Scaled(program, size * (turns_ + 1)), w_.Scaled(turn, size / 2));
    }
    Symbol row = frame_.IndexAlong(value.shape, 0);
    Symbol offsets = w_.Sum(*w_.Conform(w_.Scaled(row, width_), value.shape),
                            *w_.Conform(frame_.IndexAlong(value.shape, 1), value.shape));
    Symbol base = result_ == Result::kAtomic ? out_ : w_.Added(out_, begin);
    Symbol pointers = w_.Added(*w_.Conform(base, value.shape), offsets);
    std::string mask, type;
    if (row_limit_) {
      Symbol inside = *w_.Conform(w_.Compared("slt", row, *w_.Conform(*row_limit_, row.shape)), value.shape);
      mask = ", " + inside.name;
      type = ", " + inside.type();
    }
    if (result_ != Result::kAtomic)
      return w_.Line(absl::StrCat("tt.store ", pointers.name, ", ", value.name, mask, " : ", pointers.type()));
    w_.EmitHidden(
        value.element, value.shape,
        absl::StrCat("tt.atomic_rmw ", value.is_int() ? "add" : "fadd", ", acq_rel, gpu, ", pointers.name, ", ",
                     value.name, mask, " : (", pointers.type(), ", ", value.type(), type, ") -> ", value.type()));
  }

  void FinishBlock(const Symbol& value, const Symbol& tile) {
    auto c = [&](const char* type, int number) { return w_.Constant(type, {}, number).name; };
    const std::string block = value.type();
    Symbol desc =
        w_.EmitHidden("", {},
                      absl::StrCat("tt.make_tensor_descriptor ", out_.name, ", [", c("i32", rows_ * nest_.tiles), ", ",
                                   c("i32", width_), "], [", c("i64", width_), ", ", c("i64", 1), "] : ", out_.element,
                                   ", !tt.tensordesc<", block, ">"));
    w_.Line(absl::StrCat("tt.descriptor_store ", desc.name, "[", w_.Scaled(tile, rows_).name, ", ", c("i32", 0), "], ",
                         value.name, " : !tt.tensordesc<", block, ">, ", block));
  }

  KernelWriter& w_;
  KernelFrame& frame_;
  Nest nest_, kept_;
  DotTypes types_;
  std::string operands_, accumulator_, precision_, stored_, lengths_;
  int rows_ = 0, columns_ = 0, depth_ = 0, width_ = 0, turns_ = 1, unit_ = 1, chooses_length_ = 0;
  int scale_dim_ = 0, product_dim_ = 0, bias_dim_ = 0;
  bool chains_ = false, keeps_ = false, clamps_ = false, scales_operand_ = false, scales_product_ = false;
  double bound_ = 0;
  Result result_ = Result::kNone;
  Symbol length_, out_;
  absl::optional<Symbol> row_limit_;
  std::unique_ptr<Operand> a_, b_, c_;
  std::unique_ptr<Row> scale_, product_scale_, bias_;
};

}  // namespace

void WriteGathers(KernelWriter& w, KernelFrame& frame) { Gathers(w, frame).Write(); }

}  // namespace tritond::tests
