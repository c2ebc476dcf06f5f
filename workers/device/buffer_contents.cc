// SPDX-License-Identifier: Apache-2.0
#include "workers/device/buffer_contents.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tritond::workers {
namespace {

// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). The standard library's
// distributions differ from one implementation to the next; a seed shall not.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // In [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

  // Mean 0, standard deviation 1, by Box and Muller.
  double Normal() {
    const double radius = std::sqrt(-2 * std::log(1 - Uniform()));
    return radius * std::cos(2 * M_PI * Uniform());
  }

 private:
  uint64_t Next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  uint64_t state_;
};

// Draws again where a number rounds up to the upper end, which few do.
double UniformOf(const ElementType& type, const Fill& fill, Random& random) {
  double value = fill.first;
  for (int draws = 0; draws < 64; ++draws) {
    value = fill.first + (fill.second - fill.first) * random.Uniform();
    if (!type.is_float()) return std::floor(value);
    char bytes[8] = {};
    type.Encode(value, bytes);
    if (fill.second <= fill.first || type.Decode(bytes) < fill.second) break;
  }
  return value;
}

}  // namespace

absl::StatusOr<std::string> MakeContents(const ElementType& type, uint64_t elements, const Fill& fill) {
  constexpr uint64_t kMost = uint64_t{1} << 36;
  if (elements > kMost / type.bytes()) {
    return absl::InvalidArgumentError(absl::StrCat("a buffer of ", elements, " elements is larger than 64 GiB"));
  }
  const uint64_t size = elements * type.bytes();
  if (fill.kind == Fill::Kind::kBytes) {
    if (fill.bytes.size() == size) return fill.bytes;
    return absl::InvalidArgumentError(absl::StrCat(fill.bytes.size(), " bytes of data for a buffer of ", elements, " ",
                                                   type.name(), ", which has ", size));
  }
  if (fill.kind == Fill::Kind::kPoison) return std::string(size, '\xff');
  std::string contents(size, '\0');
  Random random(fill.seed);
  for (uint64_t i = 0; i < elements; ++i) {
    char* to = &contents[i * type.bytes()];
    if (fill.kind == Fill::Kind::kConstant) type.Encode(fill.first, to);
    if (fill.kind == Fill::Kind::kArange) type.EncodeInteger(static_cast<int64_t>(i), to);
    if (fill.kind == Fill::Kind::kUniform) type.Encode(UniformOf(type, fill, random), to);
    if (fill.kind == Fill::Kind::kNormal) type.Encode(fill.first + fill.second * random.Normal(), to);
  }
  return contents;
}

namespace {

// Decodes elements; those of at most two bytes by a table, for buffers have many and ElementType::Decode is general.
class Decoder final {
 public:
  explicit Decoder(const ElementType& type) : type_(type) {
    if (type.bytes() > 2) return;
    table_.resize(size_t{1} << (8 * type.bytes()));
    for (size_t bits = 0; bits < table_.size(); ++bits) table_[bits] = type.Decode(reinterpret_cast<char*>(&bits));
  }

  double operator()(const char* from) const {
    if (table_.empty()) return type_.Decode(from);
    size_t bits = 0;
    std::memcpy(&bits, from, type_.bytes());
    return table_[bits];
  }

 private:
  const ElementType& type_;
  std::vector<double> table_;
};

}  // namespace

Comparison Compare(const ElementType& type, absl::string_view actual, absl::string_view expected,
                   const Tolerance& tolerance) {
  constexpr size_t kChunk = 4096;  // bytes that are compared at once; a multiple of every element's size
  const Decoder decode(type);
  const bool is_exact = !type.is_float() && tolerance.absolute == 0 && tolerance.relative == 0;
  const size_t size = std::min(actual.size(), expected.size()) / type.bytes() * type.bytes();
  Comparison comparison;
  for (size_t at = 0; at < size; at += type.bytes()) {
    if (at % kChunk == 0 && std::memcmp(&actual[at], &expected[at], std::min(kChunk, size - at)) == 0) {
      at += std::min(kChunk, size - at) - type.bytes();
      continue;
    }
    if (std::memcmp(&actual[at], &expected[at], type.bytes()) == 0) continue;
    const double a = decode(&actual[at]), e = decode(&expected[at]);
    const double error = std::fabs(a - e);
    if (std::isfinite(error)) comparison.largest_error = std::max(comparison.largest_error, error);
    const bool matches =
        (std::isnan(a) && std::isnan(e)) ||
        (!is_exact &&
         (a == e || (std::isfinite(e) && error <= tolerance.absolute + tolerance.relative * std::fabs(e))));
    if (matches) continue;
    if (comparison.wrong++ == 0) comparison.first_wrong = at / type.bytes();
  }
  return comparison;
}

}  // namespace tritond::workers
