// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/tensor_reduction.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "workers/device/emulated/narrow_float.h"

namespace tritond::workers::emulated {
namespace {

enum Type : uint32_t { kU32 = 2, kS32 = 3, kU64 = 4, kS64 = 5, kFloat16 = 6, kFloat32 = 7, kBfloat16 = 10 };

const FloatFormat* FormatOf(uint32_t type) {
  return type == kFloat16 ? &kF16 : type == kBfloat16 ? &kBf16 : type == kFloat32 ? &kF32 : nullptr;
}

template <typename Integer>
Integer Combine(const std::string& operation, Integer a, Integer b) {
  using Unsigned = std::make_unsigned_t<Integer>;
  if (operation == "add") return static_cast<Integer>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  if (operation == "min") return std::min(a, b);
  if (operation == "max") return std::max(a, b);
  if (operation == "and") return a & b;
  return operation == "or" ? a | b : a ^ b;
}

uint64_t CombineFloats(const std::string& operation, const FloatFormat& format, uint64_t a, uint64_t b) {
  const double left = Decode(a, format), right = Decode(b, format);
  // Of two numbers of these formats a double holds the sum, but for what rounding it to the format takes away anyway.
  const double result = operation == "add"   ? left + right
                        : operation == "min" ? std::fmin(left, right)
                                             : std::fmax(left, right);
  return Encode(result, format);
}

// `combine`(what is there), until nobody has changed it meanwhile.
template <typename Word, typename Function>
void Replace(char* to, Function combine) {
  auto* word = reinterpret_cast<Word*>(to);
  Word old = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(word, &old, static_cast<Word>(combine(old)), /*weak=*/true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
}

template <typename Integer>
void CombineIntegers(const std::string& operation, char* to, const char* from) {
  Integer own;
  std::memcpy(&own, from, sizeof own);
  Replace<Integer>(to, [&](Integer old) { return Combine(operation, old, own); });
}

}  // namespace

bool CanCombine(const std::string& operation, uint32_t type) {
  const bool is_order = operation == "add" || operation == "min" || operation == "max";
  if (FormatOf(type)) return is_order && (type != kFloat32 || operation == "add");
  const bool is_bits = operation == "and" || operation == "or" || operation == "xor";
  return type >= kU32 && type <= kS64 && (is_order || is_bits);
}

void CombineInMemory(const std::string& operation, uint32_t type, char* to, const char* from) {
  if (type == kU32) return CombineIntegers<uint32_t>(operation, to, from);
  if (type == kS32) return CombineIntegers<int32_t>(operation, to, from);
  if (type == kU64) return CombineIntegers<uint64_t>(operation, to, from);
  if (type == kS64) return CombineIntegers<int64_t>(operation, to, from);
  const FloatFormat& format = *FormatOf(type);
  uint64_t own = 0;
  std::memcpy(&own, from, static_cast<size_t>(format.bits() / 8));
  auto combine = [&](uint64_t old) { return CombineFloats(operation, format, old, own); };
  format.bits() == 16 ? Replace<uint16_t>(to, combine) : Replace<uint32_t>(to, combine);
}

}  // namespace tritond::workers::emulated
