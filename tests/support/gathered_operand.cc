// SPDX-License-Identifier: Apache-2.0
#include "tests/support/gathered_operand.h"

#include <algorithm>

namespace tritond::tests {

Table::Table(Nest& nest, int width, int places, bool has_gaps)
    : nest_(nest), w_(nest.w), width_(width), places_(places), element_(w_.OneOf<std::string>({"i32", "i32", "i64"})) {
  way_ = w_.OneOf<Way>({Way::kCounted, Way::kCounted, Way::kPointers, Way::kAhead, Way::kTwice, Way::kChased});
  if (has_gaps && (way_ == Way::kTwice || way_ == Way::kChased)) way_ = Way::kCounted;
  if (!nest.loops && way_ != Way::kTwice) way_ = Way::kCounted;
  const int rows = nest.tiles * std::max(1, nest.iterations) + 1;
  const int count = way_ == Way::kChased ? places : rows * width;
  entries_ = PointerTo(nest.frame.AddIntegers(element_, count, has_gaps ? -1 : 0, places - 1), element_);
  if (way_ == Way::kTwice) second_ = PointerTo(nest.frame.AddIntegers(element_, places, 0, places - 1), element_);
  if (width > 1) range_ = nest.frame.IndexAlong({width}, 0);
}

void Table::Begin() {
  const int rows = std::max(1, nest_.iterations);
  Symbol first = Offset(w_.Scaled(nest_.tile, rows * width_));
  start_ = w_.Added(Wide(entries_), first);
  if (way_ == Way::kPointers) carried_ = nest_.carried.Add(start_);
  if (way_ == Way::kAhead) carried_ = nest_.carried.Add(w_.Load(start_, element_, absl::nullopt));
  if (way_ == Way::kChased) carried_ = nest_.carried.Add(w_.Converted(w_.Masked(first, places_), element_));
  known_.clear();
}

Symbol Table::Entry() {
  if (known_ == nest_.i.name) return entry_;
  known_ = nest_.i.name;
  return entry_ = Read();
}

Symbol Table::Wide(const Symbol& x) { return *w_.Conform(x, shape()); }

Symbol Table::Offset(const Symbol& begin) {
  return width_ > 1 ? w_.Combined("arith.addi", Wide(begin), range_) : begin;
}

Symbol Table::Read() {
  if (way_ == Way::kPointers) {
    const Symbol now = nest_.carried.now[carried_];
    nest_.carried.next[carried_] = w_.Added(now, w_.Constant("i32", shape(), width_));
    return w_.Load(now, element_, Inside(nest_.i));
  }
  if (way_ == Way::kAhead) {
    Symbol next = w_.Combined("arith.addi", nest_.i, w_.Constant("i32", {}, 1));
    nest_.carried.next[carried_] = w_.Load(At(next), element_, Inside(next));
    return nest_.carried.now[carried_];
  }
  if (way_ == Way::kChased) {
    const Symbol now = nest_.carried.now[carried_];
    nest_.carried.next[carried_] = w_.Load(w_.Added(Wide(entries_), now), element_, absl::nullopt);
    return now;
  }
  Symbol entry = w_.Load(At(nest_.i), element_, Inside(nest_.i));
  if (way_ == Way::kTwice) entry = w_.Load(w_.Added(Wide(second_), entry), element_, absl::nullopt);
  return entry;
}

Symbol Table::At(const Symbol& i) { return w_.Added(start_, Wide(w_.Scaled(i, width_))); }

absl::optional<Symbol> Table::Inside(const Symbol& i) {
  if (!nest_.loops || !w_.OneIn(3)) return absl::nullopt;
  return Wide(w_.Compared("slt", i, nest_.to));
}

Row::Row(Nest& nest, int length, bool is_of_tile)
    : nest_(nest),
      w_(nest.w),
      is_of_tile_(is_of_tile),
      length_(length),
      element_(w_.OneOf<std::string>({"i8", "i16", "i32", "f16", "bf16", "f32", "f8E4M3FN"})) {
  const int rows = nest.tiles * (is_of_tile ? 1 : std::max(1, nest.iterations));
  base_ = PointerTo(nest.frame.AddBuffer(element_, rows * length, Contents::kSmallIntegers), element_);
  range_ = nest.frame.IndexAlong({length}, 0);
  if (w_.OneIn(3)) limit_ = w_.OneIn(2) ? nest.frame.Scalar(w_.Below(length + 2)) : w_.Constant("i32", {}, length / 2);
}

Symbol Row::Numbers(const std::string& element) {
  Symbol at = nest_.tile;
  if (!is_of_tile_) at = w_.Sum(w_.Scaled(at, std::max(1, nest_.iterations)), nest_.i);
  Symbol begin = w_.Added(base_, w_.Scaled(at, length_));
  Symbol pointers = w_.Added(*w_.Conform(begin, range_.shape), range_);
  absl::optional<Symbol> mask;
  if (limit_) mask = w_.Compared("slt", range_, *w_.Conform(*limit_, range_.shape));
  return w_.Converted(w_.Load(pointers, element_, mask), element);
}

Operand::Operand(Nest& nest, const std::string& element, int moving, int fixed, bool moving_first, const Operand* with)
    : nest_(nest), w_(nest.w), element_(element), moving_(moving), fixed_(fixed) {
  transposed_ = w_.OneIn(3);
  dim_ = moving_first != transposed_ ? 0 : 1;
  shape_ = dim_ == 0 ? Shape{moving, fixed} : Shape{fixed, moving};
  along_ = nest.frame.IndexAlong(shape_, dim_);
  way_ = w_.OneOf<Way>({Way::kAffine, Way::kPages, Way::kPages, Way::kRows, Way::kLines, Way::kDescriptor});
  moves_last_ = w_.OneIn(2);
  has_gaps_ = way_ != Way::kAffine && way_ != Way::kDescriptor && w_.OneIn(3);
  places_ = w_.OneOf<int>({2, 4, 8}) * (way_ == Way::kRows || way_ == Way::kLines ? 8 : 1);
  changes_ = (way_ == Way::kPages || way_ == Way::kAffine) && nest.loops && !IsNarrowFloat(element) && w_.OneIn(5);
  if (way_ == Way::kDescriptor) shift_ = w_.OneIn(2) ? 0 : w_.Below(17) - 8;
  if (way_ != Way::kAffine) MakeTable(with);
  const int most = moving * std::max(1, nest.iterations);
  size_ = way_ == Way::kAffine  ? fixed * most
          : way_ == Way::kRows  ? fixed * places_
          : way_ == Way::kLines ? most * places_
                                : fixed * moving * places_;
  base_ = PointerTo(
      nest.frame.AddBuffer(element, size_ * (changes_ ? nest.frame.programs() : 1), Contents::kSmallIntegers), element);
  if (nest.loops && w_.OneIn(2)) limit_ = std::max(0, most - w_.Below(moving));
  counts_columns_ = limit_ >= 0 && w_.OneIn(3);
  carries_pointers_ = way_ == Way::kAffine && nest.loops && w_.OneIn(2);
}

void Operand::Begin() {
  if (table_ && owns_table_) table_->Begin();
  Symbol base = base_;
  if (changes_) base = w_.Added(base, w_.Scaled(nest_.frame.program(), size_));
  if (way_ == Way::kDescriptor) return MakeDescriptor(base);
  const int most = moving_ * std::max(1, nest_.iterations);
  const int line = way_ == Way::kPages ? moving_ : most;  // of one number of the fixed dimension
  stride_ = way_ == Way::kRows ? fixed_ : moves_last_ || way_ == Way::kLines ? 1 : fixed_;
  across_ = w_.Scaled(nest_.frame.IndexAlong(shape_, 1 - dim_), stride_ == 1 ? line : 1);
  Symbol offsets = Wide(way_ == Way::kLines ? w_.Scaled(along_, stride_) : across_);
  if (way_ == Way::kAffine || way_ == Way::kPages)
    offsets = w_.Combined("arith.addi", offsets, Wide(w_.Scaled(along_, stride_)));
  pointers_ = w_.Added(Wide(base), offsets);
  if (carries_pointers_) pointers_at_ = nest_.carried.Add(pointers_);
  if (counts_columns_) columns_at_ = nest_.carried.Add(along_);
}

Symbol Operand::Tile(const std::string& operands) {
  Symbol tile = way_ == Way::kDescriptor ? Described() : Pointed();
  tile = w_.Converted(tile, operands);
  return transposed_ ? w_.Transposed(tile) : tile;
}

Symbol Operand::Wide(const Symbol& x) { return *w_.Conform(x, shape_); }

void Operand::MakeTable(const Operand* with) {
  const int width = way_ == Way::kRows ? moving_ : way_ == Way::kLines ? fixed_ : 1;
  owns_table_ = !with || !with->table_ || with->width_ != width || !w_.OneIn(2);
  width_ = width;
  if (!owns_table_) {
    has_gaps_ = with->has_gaps_;
    places_ = with->places_;
    table_ = with->table_;
    if (has_gaps_ && way_ == Way::kDescriptor) has_gaps_ = false;
  } else {
    table_ = std::make_shared<Table>(nest_, width, places_, has_gaps_);
  }
}

void Operand::MakeDescriptor(const Symbol& base) {
  auto c = [&](const char* type, int value) { return w_.Constant(type, {}, value).name; };
  const std::string block = TypeText(element_, shape_);
  pointers_ = w_.EmitHidden("", {},
                            absl::StrCat("tt.make_tensor_descriptor ", base.name, ", [", c("i32", places_ * shape_[0]),
                                         ", ", c("i32", shape_[1]), "], [", c("i64", shape_[1]), ", ", c("i64", 1),
                                         "] : ", base.element, ", !tt.tensordesc<", block, ">"));
}

Symbol Operand::Described() {
  Symbol row = w_.Converted(w_.Scaled(table_->Entry(), shape_[0]), "i32");
  if (shift_) row = w_.Sum(row, w_.Constant("i32", {}, shift_));
  const std::string block = TypeText(element_, shape_);
  return w_.EmitHidden(element_, shape_,
                       absl::StrCat("tt.descriptor_load ", pointers_.name, "[", row.name, ", ",
                                    w_.Constant("i32", {}, 0).name, "] : !tt.tensordesc<", block, "> -> ", block));
}

Symbol Operand::Pointed() {
  const Symbol pointers = Pointers();
  absl::optional<Symbol> mask = Mask();
  Symbol tile = w_.Load(pointers, element_, mask);
  if (changes_) {
    Symbol other = w_.Combined(tile.is_int() ? "arith.subi" : "arith.subf", w_.Zero(element_, shape_), tile);
    w_.Line(absl::StrCat("tt.store ", pointers.name, ", ", other.name, mask ? ", " + mask->name : "", " : ",
                         pointers.type()));
  }
  return tile;
}

Symbol Operand::Pointers() {
  if (carries_pointers_) {
    const Symbol now = nest_.carried.now[pointers_at_];
    nest_.carried.next[pointers_at_] = w_.Added(now, w_.Constant("i32", shape_, moving_ * stride_));
    return now;
  }
  const Symbol moved = w_.Scaled(nest_.i, moving_ * stride_);
  if (way_ == Way::kAffine) return w_.Added(pointers_, Wide(moved));
  Symbol entry = table_->Entry();
  if (way_ == Way::kPages) return w_.Added(pointers_, Wide(w_.Scaled(entry, moving_ * fixed_)));
  if (way_ == Way::kRows) return w_.Added(pointers_, Wide(w_.Along(w_.Scaled(entry, fixed_), dim_)));
  Symbol lines =
      w_.Added(pointers_, Wide(w_.Along(w_.Scaled(entry, moving_ * std::max(1, nest_.iterations)), 1 - dim_)));
  return w_.Added(lines, Wide(moved));
}

absl::optional<Symbol> Operand::Mask() {
  absl::optional<Symbol> mask;
  if (limit_ >= 0) {
    Symbol columns = along_, limit = w_.Constant("i32", {}, limit_);
    if (counts_columns_) {
      columns = nest_.carried.now[columns_at_];
      nest_.carried.next[columns_at_] = w_.Sum(columns, w_.Constant("i32", columns.shape, moving_));
    } else {
      limit = w_.Combined("arith.subi", limit, w_.Scaled(nest_.i, moving_));
    }
    mask = Wide(w_.Compared("slt", columns, *w_.Conform(limit, columns.shape)));
  }
  if (has_gaps_) {
    Symbol entry = table_->Entry();
    Symbol filled = w_.Compared("sge", entry, w_.Constant(entry.element, entry.shape, 0));
    if (!entry.shape.empty()) filled = w_.Along(filled, way_ == Way::kRows ? dim_ : 1 - dim_);
    filled = Wide(filled);
    mask = mask ? w_.Combined("arith.andi", *mask, filled) : filled;
  }
  return mask;
}

}  // namespace tritond::tests
