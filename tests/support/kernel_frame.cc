// SPDX-License-Identifier: Apache-2.0
#include "tests/support/kernel_frame.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "workers/device/element_type.h"

namespace tritond::tests {
namespace {

workers::ElementType TypeOf(const std::string& element) {
  if (element == "f8E4M3FN") return *workers::ElementType::Parse("fp8e4nv");
  if (element == "f8E5M2") return *workers::ElementType::Parse("fp8e5");
  return *workers::ElementType::Parse(element);
}

std::string Pointer(const std::string& element) { return "!tt.ptr<" + element + ">"; }

// What devices may differ by, besides their rounding of functions.
double ToleranceOf(const std::string& element) {
  if (element == "bf16") return 3e-2;
  if (element == "f16") return 4e-3;
  return element == "f32" ? 2e-5 : 1e-10;
}

double SpecialFloat(KernelWriter& w) {
  const double inf = std::numeric_limits<double>::infinity();
  return w.OneOf<double>({0.0, -0.0, 1.0, -1.0, inf, -inf, std::nan(""), 0.1, 65504, -3e38, 1e-40, 6e-8, 448});
}

std::string Fill(KernelWriter& w, const std::string& element, int count, Contents contents) {
  workers::ElementType type = TypeOf(element);
  std::string bytes(static_cast<size_t>(count) * type.bytes(), '\0');
  for (int i = 0; i < count; ++i) {
    char* to = &bytes[static_cast<size_t>(i) * type.bytes()];
    uint64_t bits = w.Bits();
    if (contents == Contents::kSmallIntegers) {
      type.EncodeInteger(w.Below(9) - 4, to);
    } else if (type.is_float()) {
      int kind = w.Below(4);
      double value = kind == 0 ? SpecialFloat(w) : (w.Below(2001) - 1000) / 16.0;
      std::memcpy(to, &bits, type.bytes());
      if (kind != 1 || std::isnan(type.Decode(to))) type.Encode(value, to);
    } else {
      int kind = w.Below(4);
      if (kind == 0)
        bits = w.OneOf<uint64_t>(
            {0, 1, ~uint64_t{0}, uint64_t{1} << (8 * type.bytes() - 1), (uint64_t{1} << (8 * type.bytes() - 1)) - 1});
      if (kind == 1) bits = w.Below(200) - 100;
      std::memcpy(to, &bits, type.bytes());
    }
  }
  return bytes;
}

}  // namespace

KernelFrame::KernelFrame(KernelWriter& w, GeneratedKernel& kernel)
    : w_(w), kernel_(kernel), programs_(static_cast<int>(kernel.grid[0] * kernel.grid[1])) {
  Symbol x = w.EmitHidden("i32", {}, "tt.get_program_id x : i32"),
         y = w.EmitHidden("i32", {}, "tt.get_program_id y : i32");
  Symbol width = w.EmitHidden("i32", {}, "tt.get_num_programs x : i32");
  Symbol row = w.EmitHidden("i32", {}, absl::StrCat("arith.muli ", y.name, ", ", width.name, " : i32"));
  Symbol program = w.Emit("i32", {}, absl::StrCat("arith.addi ", row.name, ", ", x.name, " : i32"));
  program_ = program.name;
}

std::string KernelFrame::AddBuffer(const std::string& element, int count, Contents contents, double tolerance) {
  const std::string name = Declare(element);
  kernel_.parameters.push_back({element, Fill(w_, element, count, contents), 0, tolerance});
  return name;
}

std::string KernelFrame::AddIntegers(const std::string& element, int count, int least, int most) {
  const std::string name = Declare(element);
  const workers::ElementType type = TypeOf(element);
  std::string bytes(static_cast<size_t>(count) * type.bytes(), '\0');
  for (int i = 0; i < count; ++i)
    type.EncodeInteger(least + w_.Below(most - least + 1), &bytes[static_cast<size_t>(i) * type.bytes()]);
  kernel_.parameters.push_back({element, bytes, 0, 0});
  return name;
}

std::string KernelFrame::AddPermutations(int permutations, int size) {
  const std::string name = Declare("i32");
  const workers::ElementType type = TypeOf("i32");
  std::string bytes;
  for (int k = 0; k < permutations; ++k) {
    std::vector<int> places(size);
    std::iota(places.begin(), places.end(), 0);
    for (int i = size - 1; i > 0; --i) std::swap(places[i], places[w_.Below(i + 1)]);
    for (int place : places) {
      bytes.append(type.bytes(), 0);
      type.EncodeInteger(place, &bytes[bytes.size() - type.bytes()]);
    }
  }
  kernel_.parameters.push_back({"i32", bytes, 0, 0});
  return name;
}

std::string KernelFrame::Declare(const std::string& element) {
  std::string name = absl::StrCat("%p", kernel_.parameters.size());
  absl::StrAppend(&parameters_, parameters_.empty() ? "" : ", ", name, ": ", Pointer(element),
                  w_.OneIn(4) ? "" : " {tt.divisibility = 16 : i32}");
  return name;
}

Symbol KernelFrame::program() const {
  Symbol program;
  program.name = program_;
  program.element = "i32";
  return program;
}

Symbol KernelFrame::Scalar(int32_t value) {
  Symbol symbol;
  symbol.name = absl::StrCat("%p", kernel_.parameters.size());
  symbol.element = "i32";
  symbol.bound = std::abs(static_cast<double>(value));
  absl::StrAppend(&parameters_, parameters_.empty() ? "" : ", ", symbol.name, ": i32",
                  value % 16 == 0 && w_.OneIn(2) ? " {tt.divisibility = 16 : i32}" : "");
  kernel_.parameters.push_back({"", "", value, 0});
  return symbol;
}

Symbol KernelFrame::IndexAlong(const Shape& shape, size_t dim) {
  const int size = shape[dim];
  Symbol range = w_.EmitHidden(
      "i32", {size},
      absl::StrCat("tt.make_range {start = 0 : i32, end = ", size, " : i32} : ", TypeText("i32", {size})));
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis == dim) continue;
    Shape expanded = range.shape;
    expanded.insert(expanded.begin() + axis, 1);
    range = w_.EmitHidden("i32", expanded,
                          absl::StrCat("tt.expand_dims ", range.name, " {axis = ", axis, " : i32} : ", range.type(),
                                       " -> ", TypeText("i32", expanded)));
  }
  return range;
}

Symbol KernelFrame::Pointers(const std::string& buffer, const std::string& element, const Shape& shape, int offset,
                             bool shared) {
  const std::string pointer = Pointer(element);
  Symbol ptr;
  ptr.element = pointer;
  ptr.name = buffer;
  if (!shared) {
    Symbol size = w_.Constant("i32", {}, ElementsOf(shape));
    Symbol begin = w_.EmitHidden("i32", {}, absl::StrCat("arith.muli ", program_, ", ", size.name, " : i32"));
    ptr = w_.EmitHidden(pointer, {}, absl::StrCat("tt.addptr ", buffer, ", ", begin.name, " : ", pointer, ", i32"));
  }
  if (offset) {
    Symbol more = w_.OneIn(2) ? Scalar(offset) : w_.Constant("i32", {}, offset);
    ptr = w_.EmitHidden(pointer, {}, absl::StrCat("tt.addptr ", ptr.name, ", ", more.name, " : ", pointer, ", i32"));
  }
  if (shape.empty()) return ptr;
  // The dimensions' order in memory: row-major, or any other.
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  if (w_.OneIn(3)) std::swap(order[w_.Below(static_cast<int>(order.size()))], order.back());
  std::vector<int> strides(shape.size());
  int stride = 1;
  for (int i = static_cast<int>(order.size()) - 1; i >= 0; stride *= shape[order[i--]]) strides[order[i]] = stride;
  absl::optional<Symbol> index;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    Symbol range = IndexAlong(shape, dim);
    if (strides[dim] != 1) {
      Symbol factor = w_.Constant("i32", range.shape, strides[dim]);
      range = w_.EmitHidden("i32", range.shape,
                            absl::StrCat("arith.muli ", range.name, ", ", factor.name, " : ", range.type()));
    }
    Symbol full = *w_.Conform(range, shape);
    if (index)
      full = w_.EmitHidden("i32", shape, absl::StrCat("arith.addi ", index->name, ", ", full.name, " : ", full.type()));
    index = full;
  }
  index->bound = ElementsOf(shape);
  w_.Publish(*index);
  Symbol offsets = *index;
  if (w_.OneIn(4))
    offsets = w_.EmitHidden(
        "i64", shape, absl::StrCat("arith.extsi ", index->name, " : ", index->type(), " to ", TypeText("i64", shape)));
  Symbol splat = w_.EmitHidden(pointer, shape,
                               absl::StrCat("tt.splat ", ptr.name, " : ", pointer, " -> ", TypeText(pointer, shape)));
  return w_.EmitHidden(
      pointer, shape,
      absl::StrCat("tt.addptr ", splat.name, ", ", offsets.name, " : ", splat.type(), ", ", offsets.type()));
}

// Triangles and diagonals: an index and a distance compared with the index along another dimension.
Symbol KernelFrame::MaskOfTwoDimensions(const Shape& shape) {
  const int rank = static_cast<int>(shape.size());
  const int one = w_.Below(rank), other = (one + 1 + w_.Below(rank - 1)) % rank;
  Symbol x = IndexAlong(shape, one), y = IndexAlong(shape, other);
  Symbol distance = *w_.Conform(Scalar(w_.Below(9) - 4), x.shape);
  x = w_.EmitHidden("i32", x.shape, absl::StrCat("arith.addi ", x.name, ", ", distance.name, " : ", x.type()));
  x = *w_.Conform(x, shape);
  y = *w_.Conform(y, shape);
  const std::string predicate = w_.OneOf<std::string>({"slt", "sle", "sgt", "sge", "ult", "ne"});
  return w_.Emit("i1", shape, absl::StrCat("arith.cmpi ", predicate, ", ", x.name, ", ", y.name, " : ", x.type()));
}

absl::optional<Symbol> KernelFrame::Mask(const Shape& shape, const Symbol& like) {
  if (shape.empty() || !w_.OneIn(3)) return absl::nullopt;
  if (auto known = w_.Pick([&](const Symbol& s) { return s.element == "i1" && s.shape == shape; })) return known;
  if (shape.size() > 1 && w_.OneIn(2)) return MaskOfTwoDimensions(shape);
  auto index = w_.Pick([&](const Symbol& s) { return s.element == "i32" && s.shape == shape; });
  if (!index) return absl::nullopt;
  Symbol limit = Scalar(w_.Below(ElementsOf(shape) + 2));
  Symbol limits = *w_.Conform(limit, shape);
  return w_.Emit("i1", shape, absl::StrCat("arith.cmpi slt, ", index->name, ", ", limits.name, " : ", index->type()));
}

Symbol KernelFrame::Load(const std::string& element, const Shape& shape, Contents contents) {
  if (element == "i1") return w_.CastInt(Load("i8", shape, contents), "i1");
  bool shared = w_.OneIn(4);
  int offset = w_.OneIn(3) ? 1 + w_.Below(20) : 0;
  std::string buffer = AddBuffer(element, (shared ? 1 : programs_) * ElementsOf(shape) + offset, contents);
  Symbol pointers = Pointers(buffer, element, shape, offset, shared);
  absl::optional<Symbol> mask = Mask(shape, pointers), other;
  // Narrow floats have no constants: where one is masked, `other` is another value.
  if (mask && (element == "f8E4M3FN" || element == "f8E5M2")) mask.reset();
  if (mask) other = w_.Constant(element, shape, w_.Below(100));
  bool select = mask && w_.OneIn(2);
  Symbol value = w_.EmitHidden(
      element, shape,
      absl::StrCat("tt.load ", pointers.name, mask ? ", " + mask->name : "", mask && !select ? ", " + other->name : "",
                   w_.OneIn(8) ? " evictionPolicy = evict_first" : "", " : ", pointers.type()));
  value.raw = true;
  if (contents == Contents::kSmallIntegers) value.bound = mask ? 100 : 4;
  if (value.bound > ExactUpTo(element)) value.bound = -1;
  if (select) {
    Symbol chosen = w_.EmitHidden(element, shape,
                                  absl::StrCat("arith.select ", mask->name, ", ", value.name, ", ", other->name, " : ",
                                               mask->type(), ", ", value.type()));
    chosen.raw = true;
    chosen.bound = value.bound;
    value = chosen;
  }
  w_.Publish(value);
  return value;
}

Symbol KernelFrame::LoadBlock(const std::string& element, Contents contents) {
  // Rows of a descriptor's tensor begin at multiples of 16 bytes.
  int rows = 1 + w_.Below(30), columns = 16 * (1 + w_.Below(3));
  std::string buffer = AddBuffer(element, rows * columns, contents);
  Shape shape = {w_.OneOf<int>({1, 8, 16, 32}), w_.OneOf<int>({16, 32, 64})};
  std::string block = TypeText(element, shape);
  auto c = [&](const char* type, int value) { return w_.Constant(type, {}, value).name; };
  int row = w_.Below(rows + 4) - 2, column = w_.Below(columns + 8) - 4;
  Symbol value;
  if (w_.OneIn(2)) {
    Symbol ptr =
        w_.EmitHidden("", {},
                      absl::StrCat("tt.make_tensor_ptr ", buffer, ", [", c("i64", rows), ", ", c("i64", columns),
                                   "], [", c("i64", columns), ", ", c("i64", 1), "], [", c("i32", row - 3), ", ",
                                   c("i32", column), "] {order = array<i32: 1, 0>} : <", block, ">"));
    Symbol moved = w_.EmitHidden(
        "", {}, absl::StrCat("tt.advance ", ptr.name, ", [", c("i32", 3), ", ", c("i32", 0), "] : <", block, ">"));
    value = w_.EmitHidden(element, shape,
                          absl::StrCat("tt.load ", moved.name, " {boundaryCheck = array<i32: 0, 1>, padding = ",
                                       element[0] != 'i' && w_.OneIn(2) ? 2 : 1, " : i32} : !tt.ptr<", block, ">"));
  } else {
    Symbol desc = w_.EmitHidden(
        "", {},
        absl::StrCat("tt.make_tensor_descriptor ", buffer, ", [", c("i32", rows), ", ", c("i32", columns), "], [",
                     c("i64", columns), ", ", c("i64", 1), "] : ", Pointer(element), ", !tt.tensordesc<", block, ">"));
    value = w_.EmitHidden(element, shape,
                          absl::StrCat("tt.descriptor_load ", desc.name, "[", c("i32", row), ", ", c("i32", column),
                                       "] : !tt.tensordesc<", block, "> -> ", block));
  }
  if (element[0] == 'i' && contents == Contents::kSmallIntegers) value.bound = 4;
  w_.Publish(value);
  return value;
}

void KernelFrame::Store(const Symbol& symbol) {
  Symbol value = symbol.element == "i1" ? w_.CastInt(symbol, "i8") : symbol;
  int offset = w_.OneIn(4) ? 1 + w_.Below(20) : 0;
  std::string buffer = AddBuffer(value.element, programs_ * ElementsOf(value.shape) + offset, Contents::kSmallIntegers,
                                 value.approximate ? ToleranceOf(value.element) : 0);
  Symbol pointers = Pointers(buffer, value.element, value.shape, offset, false);
  absl::optional<Symbol> mask = Mask(value.shape, pointers);
  w_.Line(absl::StrCat("tt.store ", pointers.name, ", ", value.name, mask ? ", " + mask->name : "", " : ",
                       pointers.type()));
}

void KernelFrame::WriteAtomic() {
  bool shared = w_.OneIn(2);
  auto value = w_.Pick([&](const Symbol& s) {
    bool is_sum = (s.element == "f32" || s.element == "f64") && s.bound >= 0 && s.bound < 1000;
    return !s.approximate && ((s.is_int() && s.bits() >= 32) || is_sum);
  });
  if (!value) return;
  bool is_float = value->is_float();
  std::string op = is_float ? "fadd" : w_.OneOf<std::string>({"add", "and", "or", "xor", "max", "min", "umax", "umin"});
  if (!shared && w_.OneIn(3)) op = "exch";
  std::string buffer =
      AddBuffer(value->element, (shared ? 1 : programs_) * ElementsOf(value->shape), Contents::kSmallIntegers);
  Symbol pointers = Pointers(buffer, value->element, value->shape, 0, shared);
  absl::optional<Symbol> mask = Mask(value->shape, pointers);
  std::string type = value->type(),
              types = absl::StrCat("(", pointers.type(), ", ", type, mask ? ", " + mask->type() : "", ") -> ", type);
  Symbol before =
      w_.EmitHidden(value->element, value->shape,
                    absl::StrCat("tt.atomic_rmw ", op, ", ", w_.OneOf<std::string>({"relaxed", "acq_rel"}), ", gpu, ",
                                 pointers.name, ", ", value->name, mask ? ", " + mask->name : "", " : ", types));
  if (!shared && !mask) w_.Publish(before);
}

}  // namespace tritond::tests
