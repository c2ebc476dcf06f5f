// SPDX-License-Identifier: Apache-2.0
#include "workers/device/element_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace tritond::workers {
namespace {

ElementType Type(const char* name) {
  auto type = ElementType::Parse(name);
  EXPECT_TRUE(type.ok()) << type.status();
  return *type;
}

uint64_t Bits(const char* name, double value) {
  char bytes[8] = {};
  Type(name).Encode(value, bytes);
  uint64_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
}

double Value(const char* name, uint64_t bits) { return Type(name).Decode(reinterpret_cast<const char*>(&bits)); }

TEST(ElementType, HasSeveralNamesAndOneSize) {
  EXPECT_STREQ(Type("fp16").name(), "f16");
  EXPECT_STREQ(Type("f8E4M3FN").name(), "fp8e4nv");
  EXPECT_EQ(Type("i1").bytes(), 1);
  EXPECT_EQ(Type("bf16").bytes(), 2);
  EXPECT_EQ(Type("u64").bytes(), 8);
  EXPECT_EQ(ElementType::Parse("f17").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ElementType::Parse("*f32").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ElementType, KnowsTheFormatsOfFloats) {
  EXPECT_EQ(Bits("f16", 1.0), 0x3C00u);
  EXPECT_EQ(Bits("f16", -65504), 0xFBFFu);
  EXPECT_EQ(Bits("f16", 65520), 0x7C00u);
  EXPECT_EQ(Bits("f16", 0x1p-24), 1u);
  EXPECT_EQ(Bits("f16", 0x1p-25), 0u);  // a tie, to even
  EXPECT_EQ(Bits("bf16", 1.0), 0x3F80u);
  EXPECT_EQ(Bits("bf16", 1.00390625), 0x3F80u);  // a tie, to even
  EXPECT_EQ(Bits("bf16", 1.01171875), 0x3F82u);  // a tie, to even
  EXPECT_EQ(Bits("f32", 0.1), 0x3DCCCCCDu);
  EXPECT_EQ(Bits("f64", -2.5), 0xC004000000000000u);
  EXPECT_EQ(Bits("fp8e5", 57344), 0x7Bu);
  EXPECT_EQ(Bits("fp8e5", HUGE_VAL), 0x7Cu);
  EXPECT_EQ(Bits("fp8e4nv", 448), 0x7Eu);
  EXPECT_EQ(Bits("fp8e4nv", 1e9), 0x7Fu);  // no infinity
  EXPECT_EQ(Bits("fp8e4nv", -0.0), 0x80u);
  EXPECT_EQ(Bits("fp8e4b8", 240), 0x7Fu);
  EXPECT_EQ(Bits("fp8e4b8", -0.0), 0x00u);
  EXPECT_EQ(Bits("fp8e4b8", NAN), 0x80u);
  EXPECT_EQ(Bits("fp8e5b16", 1.0), 0x40u);
  EXPECT_EQ(Bits("fp8e4b15", 1.0), 0x78u);
}

// Every number of every small format is its own nearest.
TEST(ElementType, EncodesWhatItDecodes) {
  for (const char* name : {"f16", "bf16", "fp8e5", "fp8e4nv", "fp8e4b8", "fp8e5b16", "fp8e4b15", "i8", "u8", "i16"}) {
    const ElementType type = Type(name);
    const bool is_unsigned = name[0] == 'u';
    for (uint64_t bits = 0; bits < uint64_t{1} << (8 * type.bytes()); ++bits) {
      const double value = Value(name, bits);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(Value(name, Bits(name, value)))) << name << " " << bits;
        continue;
      }
      const uint64_t mask = (uint64_t{1} << (8 * type.bytes())) - 1;
      ASSERT_EQ(Bits(name, value) & mask, bits) << name << " " << value;
      ASSERT_TRUE(!is_unsigned || value >= 0);
    }
  }
}

TEST(ElementType, IntegersKeepAllTheirBits) {
  char bytes[8];
  const int64_t large = (int64_t{1} << 62) + 1;
  Type("i64").EncodeInteger(large, bytes);
  EXPECT_EQ(Type("i64").Text(bytes), "4611686018427387905");
  Type("u64").EncodeInteger(-1, bytes);
  EXPECT_EQ(Type("u64").Text(bytes), "18446744073709551615");
  EXPECT_EQ(Type("u64").Decode(bytes), 0x1p64);
  EXPECT_EQ(Bits("u64", 0x1p63), 0x8000000000000000u);
  EXPECT_EQ(Bits("i8", NAN), 0u);
  EXPECT_EQ(Bits("i1", 7), 1u);
  EXPECT_EQ(Value("i8", 0xFF), -1);
}

TEST(ElementType, PrintsEnoughDigits) {
  char bytes[8];
  Type("f32").Encode(0.1, bytes);
  EXPECT_EQ(Type("f32").Text(bytes), "0.100000001");
  Type("f16").Encode(0.1, bytes);
  EXPECT_EQ(Type("f16").Text(bytes), "0.099976");
  Type("f32").Encode(-HUGE_VAL, bytes);
  EXPECT_EQ(Type("f32").Text(bytes), "-inf");
}

}  // namespace
}  // namespace tritond::workers
