// SPDX-License-Identifier: Apache-2.0
#include "workers/launch/launch_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace tritond::workers {
namespace {

v1::Buffer BufferOf(const std::string& type, uint64_t elements, v1::Buffer::Role role) {
  v1::Buffer buffer;
  buffer.set_type(type);
  buffer.set_elements(elements);
  buffer.set_role(role);
  return buffer;
}

TEST(LaunchValues, ScalarsHaveTheSizeOfTheirType) {
  v1::Scalar scalar;
  scalar.set_type("i64");
  scalar.set_integer(int64_t{1} << 40);
  const auto wide = ScalarOf(scalar);
  ASSERT_TRUE(wide.ok()) << wide.status();
  ASSERT_EQ(wide->size(), 8);
  EXPECT_EQ(std::memcmp(wide->data(), "\0\0\0\0\0\1\0\0", 8), 0);
  scalar.set_type("fp16");
  scalar.set_real(1);
  const auto narrow = ScalarOf(scalar);
  ASSERT_TRUE(narrow.ok()) << narrow.status();
  ASSERT_EQ(narrow->size(), 2);
  EXPECT_EQ(std::memcmp(narrow->data(), "\x00\x3C", 2), 0);
  scalar.set_type("i7");
  EXPECT_EQ(ScalarOf(scalar).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(LaunchValues, WithoutAFillInputsAreZerosAndOutputsPoison) {
  EXPECT_EQ(*ContentsOf(BufferOf("i16", 2, v1::Buffer::ROLE_INPUT), {}), std::string(4, '\0'));
  EXPECT_EQ(*ContentsOf(BufferOf("i16", 2, v1::Buffer::ROLE_IN_OUT), {}), std::string(4, '\0'));
  EXPECT_EQ(*ContentsOf(BufferOf("i16", 2, v1::Buffer::ROLE_OUTPUT), {}), std::string(4, '\xFF'));
  EXPECT_EQ(*ContentsOf(BufferOf("i16", 2, v1::Buffer::ROLE_SCRATCH), {}), std::string(4, '\xFF'));
}

TEST(LaunchValues, FillsMeanWhatTheySay) {
  const v1::Buffer buffer = BufferOf("i8", 3, v1::Buffer::ROLE_OUTPUT);
  v1::Fill fill;
  fill.set_zeros(true);
  EXPECT_EQ(*ContentsOf(buffer, fill), std::string(3, '\0'));
  fill.set_constant(7);
  EXPECT_EQ(*ContentsOf(buffer, fill), "\7\7\7");
  fill.set_arange(true);
  EXPECT_EQ(*ContentsOf(buffer, fill), std::string("\0\1\2", 3));
  fill.set_data("abc");
  EXPECT_EQ(*ContentsOf(buffer, fill), "abc");
  fill.mutable_uniform()->set_low(5);
  fill.mutable_uniform()->set_high(6);
  EXPECT_EQ(*ContentsOf(buffer, fill), "\5\5\5");
  fill.mutable_normal()->set_mean(9);
  EXPECT_EQ(*ContentsOf(buffer, fill), "\11\11\11");
  fill.set_digest("00");
  EXPECT_THAT(std::string(ContentsOf(buffer, fill).status().message()), testing::HasSubstr("only a daemon"));
}

}  // namespace
}  // namespace tritond::workers
