// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_ELEMENT_TYPE_H_
#define WORKERS_DEVICE_ELEMENT_TYPE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tritond::workers {

// The type of a buffer's elements or of a scalar: how many bytes it takes, and how its bytes and numbers correspond.
// i1 takes a byte, 0 or 1. A value; copy it freely.
class ElementType final {
 public:
  // Names as in Triton IR or in Triton's signatures: "i1" … "i64", "u8" … "u64", "f16" or "fp16", "bf16", "f32", "f64".
  // Floats of 8 bits: "fp8e4nv" (f8E4M3FN), "fp8e5" (f8E5M2), "fp8e4b8" (f8E4M3FNUZ), "fp8e5b16" (f8E5M2FNUZ),
  // "fp8e4b15". InvalidArgument for any other.
  static absl::StatusOr<ElementType> Parse(absl::string_view name);

  const char* name() const { return name_; }
  int bytes() const { return bytes_; }
  bool is_float() const { return kind_ == Kind::kFloat; }

  // Writes the nearest value, ties to even. Beyond the range, floats become infinite (or NaN, where the type has no
  // infinity) and integers wrap; NaN becomes 0 in integers.
  void Encode(double value, char* to) const;
  // Integers exactly; floats as Encode does.
  void EncodeInteger(int64_t value, char* to) const;
  // 64-bit integers are rounded.
  double Decode(const char* from) const;
  // For people: enough digits to tell neighbouring values apart.
  std::string Text(const char* from) const;

 private:
  enum class Kind { kBool, kSigned, kUnsigned, kFloat };
  // What an exponent of all ones means.
  enum class Top {
    kIeee,         // infinity and NaN
    kOneNan,       // numbers, but for a mantissa of all ones: NaN
    kNegativeNan,  // numbers; NaN is what would be minus zero
    kNumbers,      // numbers; NaN is written as the largest of all ones
  };

  ElementType(const char* name, int bytes, Kind kind, int exponent_bits = 0, int mantissa_bits = 0, int bias = 0,
              Top top = Top::kIeee)
      : name_(name),
        bytes_(bytes),
        kind_(kind),
        exponent_bits_(exponent_bits),
        mantissa_bits_(mantissa_bits),
        bias_(bias),
        top_(top) {}

  uint64_t FloatBits(double value) const;
  uint64_t NanBits() const;
  uint64_t OverflowBits() const;
  double FloatValue(uint64_t bits) const;

  const char* name_;
  int bytes_;
  Kind kind_;
  int exponent_bits_;
  int mantissa_bits_;
  int bias_;
  Top top_;
};

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_ELEMENT_TYPE_H_
