// SPDX-License-Identifier: Apache-2.0
#include "workers/device/buffer_contents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tritond::workers {
namespace {

ElementType Type(const char* name) { return *ElementType::Parse(name); }

Fill Of(Fill::Kind kind, double first = 0, double second = 0, uint64_t seed = 0) {
  Fill fill;
  fill.kind = kind;
  fill.first = first;
  fill.second = second;
  fill.seed = seed;
  return fill;
}

std::vector<double> Values(const char* type, uint64_t elements, const Fill& fill) {
  const auto contents = MakeContents(Type(type), elements, fill);
  EXPECT_TRUE(contents.ok()) << contents.status();
  std::vector<double> values;
  for (uint64_t i = 0; i < elements; ++i) values.push_back(Type(type).Decode(&(*contents)[i * Type(type).bytes()]));
  return values;
}

std::string Floats(const std::vector<double>& values) {
  std::string bytes(values.size() * 4, '\0');
  for (size_t i = 0; i < values.size(); ++i) Type("f32").Encode(values[i], &bytes[4 * i]);
  return bytes;
}

TEST(MakeContents, FillsAsDescribed) {
  EXPECT_THAT(Values("f16", 3, {}), testing::Each(0));
  EXPECT_THAT(Values("bf16", 3, Of(Fill::Kind::kConstant, -1.5)), testing::Each(-1.5));
  EXPECT_THAT(Values("i8", 4, Of(Fill::Kind::kArange)), testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Values("i32", 2, Of(Fill::Kind::kPoison)), testing::Each(-1));
  for (const char* type : {"f16", "bf16", "f32", "f64", "fp8e4nv", "fp8e5"}) {
    EXPECT_TRUE(std::isnan(Values(type, 1, Of(Fill::Kind::kPoison))[0])) << type;
  }
}

TEST(MakeContents, RandomNumbersFollowTheSeed) {
  EXPECT_EQ(Values("f32", 100, Of(Fill::Kind::kUniform, 0, 1, 5)),
            Values("f32", 100, Of(Fill::Kind::kUniform, 0, 1, 5)));
  EXPECT_NE(Values("f32", 100, Of(Fill::Kind::kUniform, 0, 1, 5)),
            Values("f32", 100, Of(Fill::Kind::kUniform, 0, 1, 6)));
}

TEST(MakeContents, UniformNumbersStayBelowTheUpperEnd) {
  for (const char* type : {"fp8e5", "f32", "i16"}) {
    double sum = 0;
    for (const double value : Values(type, 10000, Of(Fill::Kind::kUniform, -2, 4, 1))) {
      ASSERT_GE(value, -2) << type;
      ASSERT_LT(value, 4) << type;
      sum += value;
    }
    EXPECT_NEAR(sum / 10000, type[0] == 'i' ? 0.5 : 1, 0.3) << type;
  }
}

TEST(MakeContents, NormalNumbersHaveTheirMeanAndDeviation) {
  double sum = 0, squares = 0;
  for (const double value : Values("f64", 20000, Of(Fill::Kind::kNormal, 3, 2, 9))) {
    sum += value;
    squares += (value - 3) * (value - 3);
  }
  EXPECT_NEAR(sum / 20000, 3, 0.05);
  EXPECT_NEAR(std::sqrt(squares / 20000), 2, 0.05);
}

TEST(MakeContents, DataMustFitTheBuffer) {
  Fill fill = Of(Fill::Kind::kBytes);
  fill.bytes = "abcd";
  EXPECT_EQ(*MakeContents(Type("i16"), 2, fill), "abcd");
  EXPECT_EQ(MakeContents(Type("i16"), 3, fill).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MakeContents(Type("i16"), UINT64_MAX, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Compare, CountsWhatIsBeyondTheTolerance) {
  const std::string expected = Floats({1, 2, 100, 0}), actual = Floats({1, 2.5, 101, 0});
  const Comparison strict = Compare(Type("f32"), actual, expected, {});
  EXPECT_EQ(strict.wrong, 2u);
  EXPECT_EQ(strict.first_wrong, 1u);
  EXPECT_EQ(strict.largest_error, 1);
  EXPECT_EQ(Compare(Type("f32"), actual, expected, {0.5, 0}).wrong, 1u);
  EXPECT_EQ(Compare(Type("f32"), actual, expected, {0, 0.02}).first_wrong, 1u);
  EXPECT_EQ(Compare(Type("f32"), actual, expected, {0.48, 0.01}).wrong, 0u);
}

TEST(Compare, KnowsWhatIsNoNumber) {
  const std::string expected = Floats({NAN, HUGE_VAL, HUGE_VAL, 1, 0.0});
  EXPECT_EQ(Compare(Type("f32"), Floats({-NAN, HUGE_VAL, HUGE_VAL, 1, -0.0}), expected, {}).wrong, 0u);
  EXPECT_EQ(Compare(Type("f32"), Floats({0, -HUGE_VAL, 5, NAN, 0}), expected, {1e9, 1}).wrong, 4u);
}

TEST(Compare, LargeIntegersAreExact) {
  std::string expected(8, '\0'), actual(8, '\0');
  Type("i64").EncodeInteger((int64_t{1} << 60), expected.data());
  Type("i64").EncodeInteger((int64_t{1} << 60) + 1, actual.data());
  EXPECT_EQ(Compare(Type("i64"), actual, expected, {}).wrong, 1u);
  EXPECT_EQ(Compare(Type("i64"), actual, expected, {2, 0}).wrong, 0u);
}

}  // namespace
}  // namespace tritond::workers
