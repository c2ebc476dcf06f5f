// SPDX-License-Identifier: Apache-2.0
// cl_intel_subgroup_2d_block_io, sub-groups of 16. A matrix in memory has a base address, a width and a pitch in bytes,
// and a height; coordinates are in elements. What lies outside reads as zero. The extension demands
//
//   base     a multiple of 64
//   width    64 … 2^24, a multiple of 4; not more than the pitch
//   height   1 … 2^24
//   pitch    64 … 2^24, a multiple of 16
//   x        begins at a multiple of 4 bytes
//
// "…_read_16b_8r16x2c": two blocks of 8 rows and 16 columns side by side. A lane gets for each block
//
//   read            word 16 i + lane of those of the block, row by row; words have 16 bits, or 32 of 32b
//   read_transform  of column `lane` all elements, those of neighbouring rows in a word of 32 bits
//   read_transpose  of row `lane` all elements
//
// A prefetch gives nothing. What it touches must be there all the same.
#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "workers/device/emulated/spirv_instruction.h"

namespace tritond::workers::emulated {
namespace {

constexpr int kLanes = 16, kOperands = 5;
constexpr uint64_t kLeastBytes = 64, kMost = uint64_t{1} << 24;

enum class Form { kPlain, kTransform, kTranspose };

struct Shape {
  Form form = Form::kPlain;
  int bits = 0, rows = 0, columns = 0, count = 0;

  int bytes() const { return bits / 8; }
  int width() const { return columns * count; }  // in elements
};

// The shape that a name ends with after `prefix`, "16b_8r16x2c".
absl::optional<Shape> ParseShape(absl::string_view name, absl::string_view prefix) {
  Shape shape;
  if (!absl::ConsumePrefix(&name, prefix)) return absl::nullopt;
  if (absl::ConsumePrefix(&name, "transform_")) shape.form = Form::kTransform;
  if (absl::ConsumePrefix(&name, "transpose_")) shape.form = Form::kTranspose;
  const std::vector<absl::string_view> parts = absl::StrSplit(name, absl::ByAnyChar("b_rxc"));
  // "16", "", "8", "16", "2", ""
  if (parts.size() != 6 || !absl::SimpleAtoi(parts[0], &shape.bits) || !absl::SimpleAtoi(parts[2], &shape.rows) ||
      !absl::SimpleAtoi(parts[3], &shape.columns) || !absl::SimpleAtoi(parts[4], &shape.count))
    return absl::nullopt;
  return shape;
}

// The operands, which are the same in all lanes.
struct Matrix {
  uint64_t base = 0, width = 0, height = 0, pitch = 0;
  int64_t x = 0, y = 0;
};

Fault ReadOperands(const AmdName& name, const Call& call, Matrix* matrix) {
  if (call.lanes.size() != kLanes) return absl::StrCat("it is for sub-groups of 16 lanes, not of ", call.lanes.size());
  for (int l = 0; l < kLanes; ++l) {
    const Lane& lane = call.lanes[l];
    if (lane.in == nullptr) return absl::StrCat("lane ", l, " does not take part");
    if (!std::equal(lane.in, lane.in + name.inputs(), call.lanes[0].in))
      return absl::StrCat("lane ", l, " has other operands than lane 0");
  }
  const uint64_t* in = call.lanes[0].in;
  *matrix = {in[0], in[1], in[2], in[3], static_cast<int32_t>(in[4]), static_cast<int32_t>(in[5])};
  return absl::nullopt;
}

Fault Check(const Matrix& m, int element_bytes) {
  if (m.base % 64 != 0) return absl::StrCat("the base address 0x", absl::Hex(m.base), " is no multiple of 64");
  if (m.width < kLeastBytes || m.width > kMost || m.width % 4 != 0)
    return absl::StrCat("a width of ", m.width, " bytes is none from 64 to 2^24 that is a multiple of 4");
  if (m.pitch < kLeastBytes || m.pitch > kMost || m.pitch % 16 != 0)
    return absl::StrCat("a pitch of ", m.pitch, " bytes is none from 64 to 2^24 that is a multiple of 16");
  if (m.pitch < m.width) return absl::StrCat("the pitch, ", m.pitch, " bytes, is less than the width, ", m.width);
  if (m.height < 1 || m.height > kMost) return absl::StrCat("a height of ", m.height, " is none from 1 to 2^24");
  if (m.x * element_bytes % 4 != 0) return absl::StrCat("the block begins at byte ", m.x * element_bytes, " of a row");
  return absl::nullopt;
}

// The elements of the blocks, row by row over all of them.
class Elements {
 public:
  Elements(const Shape& shape, const Matrix& matrix) : shape_(shape), matrix_(matrix) {
    bytes_.resize(shape.rows * shape.width() * shape.bytes());
  }

  Fault Load(const Call& call) {
    const int64_t row_bytes = shape_.width() * shape_.bytes(), first = matrix_.x * shape_.bytes();
    const int64_t begin = std::max<int64_t>(first, 0);
    const int64_t end = std::min<int64_t>(first + row_bytes, static_cast<int64_t>(matrix_.width));
    for (int row = 0; row < shape_.rows; ++row) {
      const int64_t y = matrix_.y + row;
      if (y < 0 || y >= static_cast<int64_t>(matrix_.height) || begin >= end) continue;
      Fault fault;
      const char* from = call.machine.AccessGlobal(call.site, matrix_.base + y * matrix_.pitch + begin, end - begin,
                                                   TRITOND_HOST_READ, &fault);
      if (fault) return fault;
      std::memcpy(&bytes_[row * row_bytes + begin - first], from, end - begin);
    }
    return absl::nullopt;
  }

  uint64_t At(int row, int column) const {
    uint64_t element = 0;
    std::memcpy(&element, &bytes_[(row * shape_.width() + column) * shape_.bytes()], shape_.bytes());
    return element;
  }

 private:
  const Shape shape_;
  const Matrix matrix_;
  std::vector<char> bytes_;
};

// Part `part` of word `word` of a block, as lane `lane` gets it: its row, and its column in the block.
std::pair<int, int> PlaceOf(const Shape& shape, int word_bits, int lane, int word, int part) {
  const int parts = word_bits / shape.bits;
  if (shape.form == Form::kTransform) return {word * parts + part, lane};
  if (shape.form == Form::kTranspose) return {lane, word};
  const int number = word * kLanes + lane, row_words = shape.columns / parts;
  return {number / row_words, number % row_words * parts + part};
}

Fault Run(const AmdName& name, const Shape& shape, const Call& call) {
  Matrix matrix;
  if (Fault fault = ReadOperands(name, call, &matrix)) return fault;
  if (Fault fault = Check(matrix, shape.bytes())) return fault;
  Elements elements(shape, matrix);
  if (Fault fault = elements.Load(call)) return fault;
  const AmdOperand& to = name.results[0];
  const int words = to.count / shape.count;
  for (int l = 0; l < kLanes; ++l) {
    for (int i = 0; i < to.count; ++i) {
      uint64_t word = 0;
      for (int part = 0; part < to.bits / shape.bits; ++part) {
        auto [row, column] = PlaceOf(shape, to.bits, l, i % words, part);
        word |= elements.At(row, i / words * shape.columns + column) << part * shape.bits;
      }
      call.lanes[l].out[i] = word;
    }
  }
  return absl::nullopt;
}

}  // namespace

Runner FindBlockRead(const AmdName& name) {
  const absl::optional<Shape> shape = ParseShape(name.name, "intel_sub_group_2d_block_read_");
  if (!shape || name.results.size() != 1 || name.operands.size() != kOperands || name.inputs() != kOperands + 1)
    return nullptr;
  const int bits = shape->form == Form::kPlain ? std::max(shape->bits, 16) : 32;
  const AmdOperand& to = name.results[0];
  if (to.bits != bits || to.total_bits() * kLanes != shape->rows * shape->width() * shape->bits) return nullptr;
  if (shape->width() * shape->bytes() > 64 || shape->rows > 32) return nullptr;
  if (shape->form != Form::kPlain && (shape->form == Form::kTransform ? shape->columns : shape->rows) != kLanes)
    return nullptr;
  return [name, shape = *shape](const Call& call) { return Run(name, shape, call); };
}

Runner FindBlockPrefetch(const AmdName& name) {
  const absl::optional<Shape> shape = ParseShape(name.name, "intel_sub_group_2d_block_prefetch_");
  if (!shape || !name.results.empty() || name.operands.size() != kOperands || name.inputs() != kOperands + 1)
    return nullptr;
  const auto is_one_of = [](int value, std::initializer_list<int> values) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  const bool fits = is_one_of(shape->bits, {8, 16, 32}) && is_one_of(shape->rows, {1, 2, 4, 8, 16, 32}) &&
                    shape->columns * shape->bits == 256 && is_one_of(shape->count, {1, 2});
  if (!fits || shape->form != Form::kPlain) return nullptr;
  return [name, shape = *shape](const Call& call) -> Fault {
    Matrix matrix;
    if (Fault fault = ReadOperands(name, call, &matrix)) return fault;
    if (Fault fault = Check(matrix, shape.bytes())) return fault;
    return Elements(shape, matrix).Load(call);
  };
}

}  // namespace tritond::workers::emulated
