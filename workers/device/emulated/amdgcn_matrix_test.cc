// SPDX-License-Identifier: Apache-2.0
// The layouts of AMD's matrix instructions as data, from the tables of the matrix instruction calculator and the RDNA
// manuals. For each instruction they say where lane l has element j of A, and register r of D. B has the same as A,
// with columns for rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "workers/device/emulated/amdgcn_test_wave.h"

namespace tritond::workers::emulated {
namespace {

struct At {
  int block, row, k;
};
struct To {
  int block, row, column;
};

struct Product {
  const char* name;  // "NAME ARCH RESULTS : A B C …"
  int m, n, k, blocks;
  int lanes;
  int per_lane;  // elements of A in a lane
  int results;   // of D in a lane
  const FloatFormat* a;
  const FloatFormat* b;  // null: integers, of `bits`
  At (*place)(int l, int j);
  To (*result)(int l, int r);
  int bits = 0;     // of an element that is no float
  int at_a = 0;     // operands in front of A and of B
  int between = 0;  // and of C
  int d_bits = 32;
  int after_c = 3;  // operands after C, all zero
  Slots before_a = {}, before_b = {};
};

// The halves of the lanes along K.
At Mfma32x8(int l, int j) { return {0, l % 32, 4 * (l / 32) + j}; }
At Mfma32x16(int l, int j) { return {0, l % 32, 8 * (l / 32) + j}; }
At Mfma32x4(int l, int j) { return {0, l % 32, 2 * (l / 32) + j}; }
At Mfma32x2(int l, int) { return {0, l % 32, l / 32}; }
At Mfma32x32(int l, int j) { return {0, l % 32, 16 * (l / 32) + j}; }
At Mfma16x16(int l, int j) { return {0, l % 16, 4 * (l / 16) + j}; }
At Mfma16x32(int l, int j) { return {0, l % 16, 8 * (l / 16) + j}; }
At Mfma16x8(int l, int j) { return {0, l % 16, 2 * (l / 16) + j}; }
At Mfma16x4(int l, int) { return {0, l % 16, l / 16}; }
At Mfma16x64(int l, int j) { return {0, l % 16, 16 * (l / 16) + j}; }
At Blocks32(int l, int j) { return {l / 32, l % 32, j}; }
At Blocks16(int l, int j) { return {l / 16, l % 16, j}; }
At Blocks4(int l, int j) { return {l / 4, l % 4, j}; }
At Doubles4(int l, int) { return {l / 4 % 4, l % 4, l / 16}; }
At Repeated(int l, int j) { return {0, l % 16, j}; }
At Halves(int l, int j) { return {0, l % 16, 8 * (l / 16) + j}; }
At Halves16(int l, int j) { return {0, l % 16, 16 * (l / 16) + j}; }
At Chunks(int l, int j) { return {0, l % 16, j / 8 * 16 + 8 * (l / 16) + j % 8}; }
At Pairs(int l, int j) { return {0, l % 16, 2 * (l / 16) + j}; }

To D32(int l, int r) { return {r / 16, 8 * (r % 16 / 4) + 4 * (l / 32) + r % 4, l % 32}; }
To D16(int l, int r) { return {0, 4 * (l / 16) + r, l % 16}; }
To D16Blocks(int l, int r) { return {r / 4, 4 * (l / 16) + r % 4, l % 16}; }
To D4(int l, int r) { return {l / 4, r, l % 4}; }
To Double16(int l, int r) { return {0, 4 * r + l / 16, l % 16}; }
To Double4(int l, int) { return {l / 4 % 4, l / 16, l % 4}; }
To Gfx11(int l, int r) { return {0, 2 * r + l / 16, l % 16}; }
To Gfx12(int l, int r) { return {0, 8 * (l / 16) + r, l % 16}; }

constexpr FloatFormat kF64 = {"f64", 11, 52, true};

const std::vector<Product>& Products() {
  static const auto* products = new std::vector<Product>{
      {"mfma.f32.32x32x8f16 gfx90a 16x32 : 4x16 4x16 16x32", 32, 32, 8, 1, 64, 4, 16, &kF16, &kF16, Mfma32x8, D32},
      {"mfma.f32.32x32x8bf16.1k gfx90a 16x32 : 4x16 4x16 16x32", 32, 32, 8, 1, 64, 4, 16, &kBf16, &kBf16, Mfma32x8,
       D32},
      {"mfma.f32.32x32x4bf16 gfx90a 16x32 : 2x16 2x16 16x32", 32, 32, 4, 1, 64, 2, 16, &kBf16, &kBf16, Mfma32x4, D32},
      {"mfma.f32.16x16x16f16 gfx942 4x32 : 4x16 4x16 4x32", 16, 16, 16, 1, 64, 4, 4, &kF16, &kF16, Mfma16x16, D16},
      {"mfma.f32.16x16x16bf16.1k gfx942 4x32 : 4x16 4x16 4x32", 16, 16, 16, 1, 64, 4, 4, &kBf16, &kBf16, Mfma16x16,
       D16},
      {"mfma.f32.16x16x8bf16 gfx90a 4x32 : 2x16 2x16 4x32", 16, 16, 8, 1, 64, 2, 4, &kBf16, &kBf16, Mfma16x8, D16},
      {"mfma.f32.32x32x4f16 gfx942 32x32 : 4x16 4x16 32x32", 32, 32, 4, 2, 64, 4, 32, &kF16, &kF16, Blocks32, D32},
      {"mfma.f32.16x16x4f16 gfx942 16x32 : 4x16 4x16 16x32", 16, 16, 4, 4, 64, 4, 16, &kF16, &kF16, Blocks16,
       D16Blocks},
      {"mfma.f32.4x4x4f16 gfx942 4x32 : 4x16 4x16 4x32", 4, 4, 4, 16, 64, 4, 4, &kF16, &kF16, Blocks4, D4},
      {"mfma.f32.4x4x4bf16.1k gfx942 4x32 : 4x16 4x16 4x32", 4, 4, 4, 16, 64, 4, 4, &kBf16, &kBf16, Blocks4, D4},
      {"mfma.f32.32x32x1f32 gfx942 32x32 : 1x32 1x32 32x32", 32, 32, 1, 2, 64, 1, 32, &kF32, &kF32, Blocks32, D32},
      {"mfma.f32.4x4x1f32 gfx942 4x32 : 1x32 1x32 4x32", 4, 4, 1, 16, 64, 1, 4, &kF32, &kF32, Blocks4, D4},
      {"mfma.f32.32x32x2f32 gfx942 16x32 : 1x32 1x32 16x32", 32, 32, 2, 1, 64, 1, 16, &kF32, &kF32, Mfma32x2, D32},
      {"mfma.f32.16x16x4f32 gfx942 4x32 : 1x32 1x32 4x32", 16, 16, 4, 1, 64, 1, 4, &kF32, &kF32, Mfma16x4, D16},
      {"mfma.f32.32x32x4.xf32 gfx942 16x32 : 2x32 2x32 16x32", 32, 32, 4, 1, 64, 2, 16, &kF32, &kF32, Mfma32x4, D32},
      {"mfma.f32.16x16x8.xf32 gfx942 4x32 : 2x32 2x32 4x32", 16, 16, 8, 1, 64, 2, 4, &kF32, &kF32, Mfma16x8, D16},
      {"mfma.f64.16x16x4f64 gfx90a 4x64 : 1x64 1x64 4x64", 16, 16, 4, 1, 64, 1, 4, &kF64, &kF64, Mfma16x4, Double16, 0,
       0, 0, 64},
      {"mfma.f64.4x4x4f64 gfx942 1x64 : 1x64 1x64 1x64", 4, 4, 4, 4, 64, 1, 1, &kF64, &kF64, Doubles4, Double4, 0, 0, 0,
       64},
      {"mfma.i32.32x32x8i8 gfx90a 16x32 : 1x32 1x32 16x32", 32, 32, 8, 1, 64, 4, 16, nullptr, nullptr, Mfma32x8, D32,
       8},
      {"mfma.i32.16x16x16i8 gfx90a 4x32 : 1x32 1x32 4x32", 16, 16, 16, 1, 64, 4, 4, nullptr, nullptr, Mfma16x16, D16,
       8},
      {"mfma.i32.4x4x4i8 gfx90a 4x32 : 1x32 1x32 4x32", 4, 4, 4, 16, 64, 4, 4, nullptr, nullptr, Blocks4, D4, 8},
      {"mfma.i32.32x32x16.i8 gfx942 16x32 : 1x64 1x64 16x32", 32, 32, 16, 1, 64, 8, 16, nullptr, nullptr, Mfma32x16,
       D32, 8},
      {"mfma.i32.16x16x32.i8 gfx942 4x32 : 1x64 1x64 4x32", 16, 16, 32, 1, 64, 8, 4, nullptr, nullptr, Mfma16x32, D16,
       8},
      {"mfma.i32.32x32x32.i8 gfx950 16x32 : 4x32 4x32 16x32", 32, 32, 32, 1, 64, 16, 16, nullptr, nullptr, Mfma32x32,
       D32, 8},
      {"mfma.i32.16x16x64.i8 gfx950 4x32 : 4x32 4x32 4x32", 16, 16, 64, 1, 64, 16, 4, nullptr, nullptr, Mfma16x64, D16,
       8},
      {"mfma.f32.32x32x16.fp8.fp8 gfx942 16x32 : 1x64 1x64 16x32", 32, 32, 16, 1, 64, 8, 16, &kE4m3Fnuz, &kE4m3Fnuz,
       Mfma32x16, D32},
      {"mfma.f32.16x16x32.bf8.fp8 gfx942 4x32 : 1x64 1x64 4x32", 16, 16, 32, 1, 64, 8, 4, &kE5m2Fnuz, &kE4m3Fnuz,
       Mfma16x32, D16},
      {"mfma.f32.16x16x32.fp8.bf8 gfx950 4x32 : 1x64 1x64 4x32", 16, 16, 32, 1, 64, 8, 4, &kE4m3, &kE5m2, Mfma16x32,
       D16},
      {"mfma.f32.32x32x16.f16 gfx950 16x32 : 8x16 8x16 16x32", 32, 32, 16, 1, 64, 8, 16, &kF16, &kF16, Mfma32x16, D32},
      {"mfma.f32.32x32x16.bf16 gfx950 16x32 : 8x16b 8x16b 16x32", 32, 32, 16, 1, 64, 8, 16, &kBf16, &kBf16, Mfma32x16,
       D32},
      {"mfma.f32.16x16x32.f16 gfx950 4x32 : 8x16 8x16 4x32", 16, 16, 32, 1, 64, 8, 4, &kF16, &kF16, Mfma16x32, D16},
      {"mfma.f32.16x16x32.bf16 gfx950 4x32 : 8x16b 8x16b 4x32", 16, 16, 32, 1, 64, 8, 4, &kBf16, &kBf16, Mfma16x32,
       D16},
      {"wmma.f32.16x16x16.f16 gfx1100 8x32 : 16x16 16x16 8x32", 16, 16, 16, 1, 32, 16, 8, &kF16, &kF16, Repeated, Gfx11,
       0, 0, 0, 32, 0},
      {"wmma.f32.16x16x16.bf16 gfx1100 8x32 : 16x16 16x16 8x32", 16, 16, 16, 1, 32, 16, 8, &kBf16, &kBf16, Repeated,
       Gfx11, 0, 0, 0, 32, 0},
      {"wmma.i32.16x16x16.iu8 gfx1100 8x32 : 1x1 4x32 1x1 4x32 8x32 1x1",
       16,
       16,
       16,
       1,
       32,
       16,
       8,
       nullptr,
       nullptr,
       Repeated,
       Gfx11,
       8,
       1,
       1,
       32,
       1,
       {1},
       {1}},
      {"wmma.i32.16x16x16.iu4 gfx1100 8x32 : 1x1 2x32 1x1 2x32 8x32 1x1",
       16,
       16,
       16,
       1,
       32,
       16,
       8,
       nullptr,
       nullptr,
       Repeated,
       Gfx11,
       4,
       1,
       1,
       32,
       1,
       {1},
       {1}},
      {"wmma.f32.16x16x16.f16 gfx1201 8x32 : 8x16 8x16 8x32", 16, 16, 16, 1, 32, 8, 8, &kF16, &kF16, Halves, Gfx12, 0,
       0, 0, 32, 0},
      {"wmma.f32.16x16x16.bf16 gfx1201 8x32 : 8x16 8x16 8x32", 16, 16, 16, 1, 32, 8, 8, &kBf16, &kBf16, Halves, Gfx12,
       0, 0, 0, 32, 0},
      {"wmma.f32.16x16x16.fp8.bf8 gfx1201 8x32 : 2x32 2x32 8x32", 16, 16, 16, 1, 32, 8, 8, &kE4m3, &kE5m2, Halves,
       Gfx12, 0, 0, 0, 32, 0},
      {"wmma.i32.16x16x16.iu8 gfx1201 8x32 : 1x1 2x32 1x1 2x32 8x32 1x1",
       16,
       16,
       16,
       1,
       32,
       8,
       8,
       nullptr,
       nullptr,
       Halves,
       Gfx12,
       8,
       1,
       1,
       32,
       1,
       {1},
       {1}},
      {"wmma.i32.16x16x32.iu4 gfx1201 8x32 : 1x1 2x32 1x1 2x32 8x32 1x1",
       16,
       16,
       32,
       1,
       32,
       16,
       8,
       nullptr,
       nullptr,
       Halves16,
       Gfx12,
       4,
       1,
       1,
       32,
       1,
       {1},
       {1}},
      {"wmma.f32.16x16x32.f16 gfx1250 8x32 : 1x1 16x16 1x1 16x16 1x16 8x32 1x1 1x1",
       16,
       16,
       32,
       1,
       32,
       16,
       8,
       &kF16,
       &kF16,
       Chunks,
       Gfx12,
       0,
       1,
       1,
       32,
       2,
       {0},
       {0}},
      {"wmma.f32.16x16x4.f32 gfx1250 8x32 : 1x1 2x32 1x1 2x32 1x16 8x32 1x1 1x1",
       16,
       16,
       4,
       1,
       32,
       2,
       8,
       &kF32,
       &kF32,
       Pairs,
       Gfx12,
       0,
       1,
       1,
       32,
       2,
       {0},
       {0}},
      {"wmma.f32.16x16x64.fp8.bf8 gfx1250 8x32 : 8x32 8x32 1x16 8x32 1x1 1x1", 16, 16, 64, 1, 32, 32, 8, &kE4m3, &kE5m2,
       Chunks, Gfx12, 0, 0, 0, 32, 2},
      {"wmma.i32.16x16x64.iu8 gfx1250 8x32 : 1x1 8x32 1x1 8x32 8x32 1x1 1x1 1x1",
       16,
       16,
       64,
       1,
       32,
       32,
       8,
       nullptr,
       nullptr,
       Chunks,
       Gfx12,
       8,
       1,
       1,
       32,
       3,
       {1},
       {1}},
  };
  return *products;
}

int A(int block, int m, int k) { return (m * 7 + k * 3 + block * 5) % 11 - 5; }
int B(int block, int k, int n) { return (k * 5 + n * 2 + block * 3) % 9 - 4; }

uint64_t Bits(int value, const FloatFormat* format, int bits) {
  if (format == &kF64) return BitsOfDouble(value);
  return format ? Encode(value, *format) : static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1);
}

uint64_t SumBits(const Product& p, double value) {
  if (!p.a) return static_cast<uint32_t>(static_cast<int32_t>(value));
  return p.d_bits == 64 ? BitsOfDouble(value) : F32(static_cast<float>(value));
}

// The operands of a name, after its colon.
std::vector<AmdOperand> OperandsOf(const Product& p, std::string* name) {
  *name = p.name;
  // cbsz, abid and blgp.
  if (name->compare(0, 4, "mfma") == 0) *name += " 1x32 1x32 1x32";
  return ParseAmdName(*name)->operands;
}

Slots OperandsOfLane(const Product& p, const std::vector<AmdOperand>& operands, int l) {
  Slots in(operands.back().first + operands.back().count, 0);
  size_t at = 0;
  for (uint64_t value : p.before_a) in[at++] = value;
  const AmdOperand& a = operands[p.before_a.size()];
  const AmdOperand& b = operands[p.before_a.size() + 1 + p.before_b.size()];
  if (!p.before_b.empty()) in[operands[p.before_a.size() + 1].first] = p.before_b[0];
  const int bits_a = p.a ? p.a->bits() : p.bits, bits_b = p.b ? p.b->bits() : p.bits;
  for (int j = 0; j < p.per_lane; ++j) {
    const At at_k = p.place(l, j);
    SetElement(in.data(), a, j, bits_a, Bits(A(at_k.block, at_k.row, at_k.k), p.a, bits_a));
    SetElement(in.data(), b, j, bits_b, Bits(B(at_k.block, at_k.k, at_k.row), p.b, bits_b));
  }
  // The accumulators come before the last operands.
  const AmdOperand& c = operands[operands.size() - 1 - p.after_c];
  for (int r = 0; r < p.results; ++r) in[c.first + r] = SumBits(p, 100 + r);
  return in;
}

TEST(AmdgcnMatrix, OperandsAndResultsLieAsTheManualsSay) {
  for (const Product& p : Products()) {
    std::string name;
    const std::vector<AmdOperand> operands = OperandsOf(p, &name);
    const auto out = RunWave(name, p.lanes, [&](int l) { return OperandsOfLane(p, operands, l); });
    int wrong = 0;
    for (int l = 0; l < p.lanes; ++l) {
      for (int r = 0; r < p.results; ++r) {
        const To to = p.result(l, r);
        double sum = 100 + r;
        for (int k = 0; k < p.k; ++k) sum += A(to.block, to.row, k) * B(to.block, k, to.column);
        wrong += out[l][r] != SumBits(p, sum);
      }
    }
    EXPECT_EQ(wrong, 0) << name;
  }
}

TEST(AmdgcnMatrix, ResultsOfHalfRegisters) {
  // gfx11: 16 elements, of which op_sel chooses the even or the odd ones; "tied" keeps the others.
  for (uint64_t half : {0, 1}) {
    for (const char* name : {"wmma.f16.16x16x16.f16", "wmma.f16.16x16x16.f16.tied"}) {
      const auto out = RunWave(std::string(name) + " gfx1100 16x16 : 16x16 16x16 16x16 1x1", 32, [&](int l) {
        Slots in;
        for (int k = 0; k < 16; ++k) in.push_back(Encode(A(0, l % 16, k), kF16));
        for (int k = 0; k < 16; ++k) in.push_back(Encode(B(0, k, l % 16), kF16));
        for (int r = 0; r < 16; ++r) in.push_back(Encode(r, kF16));
        in.push_back(half);
        return in;
      });
      for (int l = 0; l < 32; ++l) {
        for (int r = 0; r < 8; ++r) {
          double sum = 2 * r + half;
          for (int k = 0; k < 16; ++k) sum += A(0, 2 * r + l / 16, k) * B(0, k, l % 16);
          EXPECT_EQ(out[l][2 * r + half], Encode(sum, kF16));
          if (std::string(name).find("tied") != std::string::npos)
            EXPECT_EQ(out[l][2 * r + 1 - half], Encode(2 * r + 1 - half, kF16));
        }
      }
    }
  }
  const auto packed = RunWave("wmma.f16.16x16x16.f16 gfx1201 8x16 : 8x16 8x16 8x16 1x1", 32, [](int l) {
    Slots in;
    for (int j = 0; j < 8; ++j) in.push_back(Encode(A(0, l % 16, 8 * (l / 16) + j), kF16));
    for (int j = 0; j < 8; ++j) in.push_back(Encode(B(0, 8 * (l / 16) + j, l % 16), kF16));
    for (int r = 0; r < 8; ++r) in.push_back(Encode(r, kF16));
    in.push_back(0);
    return in;
  });
  for (int l = 0; l < 32; ++l) {
    for (int r = 0; r < 8; ++r) {
      double sum = r;
      for (int k = 0; k < 16; ++k) sum += A(0, 8 * (l / 16) + r, k) * B(0, k, l % 16);
      EXPECT_EQ(packed[l][r], Encode(sum, kF16));
    }
  }
}

// Where lane l has element j of an operand of mfma.scale, of 8 bits in runs of 16 and of 4 bits in one run.
int KOf8Bits(int l, int j, int m) { return 16 * (l / m) + j % 16 + j / 16 * (16 * 64 / m); }
int KOf4Bits(int l, int j, int m) { return 32 * (l / m) + j; }

// Scales differ from row to row and from group to group.
int ScaleA(int row, int group) { return 120 + (row + 3 * group) % 13; }
int ScaleB(int column, int group) { return 122 + (2 * column + group) % 11; }

void ExpectScaledProduct(const std::string& name, int m, int k_size, int results, To (*result)(int l, int r)) {
  const auto out = RunWave(name, 64, [m](int l) {
    const int results = m * m / 64;
    Slots in(8 + 4 + results + 6, 0);
    const AmdOperand a = {0, 8, 32}, b = {8, 4, 32};
    for (int j = 0; j < 32; ++j) {
      SetElement(in.data(), a, j, 8, Encode(A(0, l % m, KOf8Bits(l, j, m)), kE4m3));
      SetElement(in.data(), b, j, 4, Encode(B(0, KOf4Bits(l, j, m), l % m), kE2m1));
    }
    // A lane's own scale stands in the byte that op_sel chooses; others are not read.
    const uint64_t scale_a = uint64_t(ScaleA(l % m, l / m)) << 8 | 0xff0000ff, scale_b = ScaleB(l % m, l / m) | 0xff00;
    const Slots after_c = {0, 4, 1, scale_a, 0, scale_b};
    std::copy(after_c.begin(), after_c.end(), in.begin() + 12 + results);
    return in;
  });
  for (int l = 0; l < 64; ++l) {
    for (int r = 0; r < results; ++r) {
      const To at = result(l, r);
      double sum = 0;
      for (int k = 0; k < k_size; ++k)
        sum += A(0, at.row, k) * B(0, k, at.column) *
               std::ldexp(1, ScaleA(at.row, k / 32) + ScaleB(at.column, k / 32) - 2 * 127);
      EXPECT_EQ(out[l][r], F32(static_cast<float>(sum))) << name << " " << l << " " << r;
    }
  }
}

TEST(AmdgcnMatrix, ScalesMultiplyGroupsOfK) {
  ExpectScaledProduct("mfma.scale.f32.16x16x128.f8f6f4 gfx950 4x32 : 8x32 4x32 4x32 1x32 1x32 1x32 1x32 1x32 1x32", 16,
                      128, 4, D16);
  ExpectScaledProduct("mfma.scale.f32.32x32x64.f8f6f4 gfx950 16x32 : 8x32 4x32 16x32 1x32 1x32 1x32 1x32 1x32 1x32", 32,
                      64, 16, D32);
}

TEST(AmdgcnMatrix, SignsAndClamps) {
  const auto run = [](uint64_t sign_a, uint64_t sign_b, uint64_t clamp, uint64_t c) {
    return RunWave("wmma.i32.16x16x16.iu8 gfx1201 8x32 : 1x1 2x32 1x1 2x32 8x32 1x1", 32, [&](int) {
      Slots in = {sign_a, 0xffffffff, 0xffffffff, sign_b, 0xffffffff, 0xffffffff};
      for (int r = 0; r < 8; ++r) in.push_back(c);
      in.push_back(clamp);
      return in;
    })[0][0];
  };
  EXPECT_EQ(run(1, 1, 0, 0), 16u);
  EXPECT_EQ(run(0, 1, 0, 0), uint32_t(-255 * 16));
  EXPECT_EQ(run(0, 0, 0, 0x7fffffff), 0x7fffffffu + 255 * 255 * 16);
  EXPECT_EQ(run(0, 0, 1, 0x7fffffff), 0x7fffffffu);
}

struct Misuse {
  const char* name;
  int lanes;
  Slots (*in)(int l);
  uint64_t on = ~uint64_t{0};
};

TEST(AmdgcnMatrix, MisuseIsFound) {
  const char* const kMfma = "mfma.f32.16x16x16f16 gfx942 4x32 : 4x16 4x16 4x32 1x32 1x32 1x32";
  const Misuse kRows[] = {
      {kMfma, 32, [](int) { return Slots(15); }},
      {kMfma, 64, [](int) { return Slots(15); }, 0xffff},
      {kMfma, 64,
       [](int) {
         Slots in(15);
         in[14] = 1;
         return in;
       }},
      {"wmma.f32.16x16x16.f16 gfx1100 8x32 : 16x16 16x16 8x32", 64, [](int) { return Slots(40); }},
      {"wmma.f32.16x16x16.f16 gfx1100 8x32 : 16x16 16x16 8x32", 32, [](int l) { return Slots(40, l / 16); }},
      {"mfma.scale.f32.16x16x128.f8f6f4 gfx950 4x32 : 4x32 4x32 4x32 1x32 1x32 1x32 1x32 1x32 1x32", 64,
       [](int) { return Slots(18); }},
  };
  for (const Misuse& row : kRows) {
    Fault fault;
    WaveOptions options;
    options.on = row.on;
    options.fault = &fault;
    RunWave(row.name, row.lanes, row.in, options);
    EXPECT_TRUE(fault.has_value()) << row.name << " " << row.lanes;
  }
}

}  // namespace
}  // namespace tritond::workers::emulated
