// SPDX-License-Identifier: Apache-2.0
// tt.print: what it writes to the host device's output, which is standard output.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

// The lines that a kernel of %x: i32 and %f: f32 (scalars) prints, sorted: threads come in any order.
std::vector<std::string> Printed(const std::string& body, int32_t x, float f, workers::Grid grid = {}) {
  Machine machine;
  for (const Machine& one : Machines({1}))
    if (one.target == "host") machine = one;
  std::string ir =
      absl::StrCat("module {\n  tt.func public @kernel(%x: i32, %f: f32) {\n", body, "\n    tt.return\n  }\n}\n");
  testing::internal::CaptureStdout();
  absl::Status status = RunKernel(machine, ir, grid, {x, f});
  fflush(stdout);
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(status.ok()) << status << "\n" << ir;
  std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  std::sort(lines.begin(), lines.end());
  return lines;
}

using Lines = std::vector<std::string>;

// A scalar is printed by every thread that holds it.
Lines Times(int count, const std::string& line) { return Lines(count, line); }

TEST(Print, SignedAndUnsignedNumbers) {
  EXPECT_EQ(Printed(R"(    tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %x : i32)", -5, 0),
            Times(32, "pid (0, 0, 0) idx () x: -5"));
  EXPECT_EQ(Printed(R"(    tt.print " x: " {hex = false, isSigned = array<i32: 0>} : %x : i32)", -5, 0),
            Times(32, "pid (0, 0, 0) idx () x: 4294967291"));
}

TEST(Print, NarrowNumbersAndBits) {
  EXPECT_EQ(Printed(R"(    %b = arith.trunci %x : i32 to i8
    tt.print " b: " {hex = false, isSigned = array<i32: 1>} : %b : i8)",
                    200, 0),
            Times(32, "pid (0, 0, 0) idx () b: -56"));
  EXPECT_EQ(Printed(R"(    %b = arith.trunci %x : i32 to i1
    tt.print " b: " {hex = false, isSigned = array<i32: 0>} : %b : i1)",
                    3, 0),
            Times(32, "pid (0, 0, 0) idx () b: 1"));
  EXPECT_EQ(Printed(R"(    %w = arith.extsi %x : i32 to i64
    tt.print " w: " {hex = false, isSigned = array<i32: 1>} : %w : i64)",
                    -7, 0),
            Times(32, "pid (0, 0, 0) idx () w: -7"));
}

TEST(Print, FloatsOfEveryWidth) {
  EXPECT_EQ(Printed(R"(    tt.print " f: " {hex = false, isSigned = array<i32: 0>} : %f : f32)", 0, 1.5f),
            Times(32, "pid (0, 0, 0) idx () f: 1.500000"));
  for (const char* type : {"f16", "bf16"})
    EXPECT_EQ(Printed(absl::StrCat("    %h = arith.truncf %f : f32 to ", type,
                                   "\n    tt.print \" h: \" {hex = false, isSigned = array<i32: 0>} : %h : ", type),
                      0, -0.25f),
              Times(32, "pid (0, 0, 0) idx () h: -0.250000"));
  EXPECT_EQ(Printed(R"(    %d = arith.extf %f : f32 to f64
    tt.print " d: " {hex = false, isSigned = array<i32: 0>} : %d : f64)",
                    0, 4.0f),
            Times(32, "pid (0, 0, 0) idx () d: 4.000000"));
}

TEST(Print, EightBitFloatsAsNumbers) {
  EXPECT_EQ(Printed(R"(    %e = tt.fp_to_fp %f, rounding = rtne : f32 -> f8E4M3FN
    tt.print " e: " {hex = false, isSigned = array<i32: 0>} : %e : f8E4M3FN)",
                    0, 3.5f),
            Times(32, "pid (0, 0, 0) idx () e: 3.500000"));
}

TEST(Print, Hexadecimals) {
  EXPECT_EQ(Printed(R"(    tt.print " x: " {hex = true, isSigned = array<i32: 1>} : %x : i32)", 0xbeef, 0),
            Times(32, "pid (0, 0, 0) idx () x: 0x0000beef"));
  EXPECT_EQ(Printed(R"(    tt.print " f: " {hex = true, isSigned = array<i32: 0>} : %f : f32)", 0, 1.0f),
            Times(32, "pid (0, 0, 0) idx () f: 0x3f800000"));
}

TEST(Print, NothingButItsPrefixFromEveryProgram) {
  Lines lines = Printed(R"(    tt.print " 100%: done" {hex = false, isSigned = array<i32>})", 0, 0, {2, 1, 3});
  EXPECT_EQ(lines.size(), 32u * 6);
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  EXPECT_EQ(lines, (Lines{"pid (0, 0, 0) 100%: done", "pid (0, 0, 1) 100%: done", "pid (0, 0, 2) 100%: done",
                          "pid (1, 0, 0) 100%: done", "pid (1, 0, 1) 100%: done", "pid (1, 0, 2) 100%: done"}));
}

TEST(Print, TensorsElementByElement) {
  Lines lines = Printed(R"(    %i = tt.make_range {start = 7 : i32, end = 39 : i32} : tensor<32xi32>
    %t = tt.reshape %i : tensor<32xi32> -> tensor<4x8xi32>
    %s = tt.splat %x : i32 -> tensor<4x8xi32>
    tt.print " t: " {hex = false, isSigned = array<i32: 1, 1>} : %t, %s : tensor<4x8xi32>, tensor<4x8xi32>)",
                        -1, 0);
  Lines expected;
  for (int i = 0; i < 32; ++i)
    for (int operand : {0, 1})
      expected.push_back(absl::StrCat("pid (0, 0, 0) idx (", i / 8, ", ", i % 8, ") t: (operand ", operand, ") ",
                                      operand == 0 ? i + 7 : -1));
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(lines, expected);
}

TEST(Print, IndicesAsWideAsTheGreatest) {
  Lines lines = Printed(R"(    %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %t = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    tt.print " t: " {hex = false, isSigned = array<i32: 1>} : %t : tensor<1x32xi32>)",
                        0, 0);
  ASSERT_EQ(lines.size(), 32u);
  EXPECT_EQ(lines[3], "pid (0, 0, 0) idx (0,  3) t: 3");
  EXPECT_EQ(lines[31], "pid (0, 0, 0) idx (0, 31) t: 31");
}

}  // namespace
}  // namespace tritond::conformance
