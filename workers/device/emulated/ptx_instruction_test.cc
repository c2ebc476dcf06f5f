// SPDX-License-Identifier: Apache-2.0
// The semantics of PTX instructions against the manual's tables.
#include "workers/device/emulated/ptx_instruction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "workers/device/emulated/fake_machine.h"

namespace tritond::workers::emulated {
namespace {

using testing::HasSubstr;

using Slots = std::vector<uint64_t>;

// One lane's results.
Slots RunLane(const std::string& name, const Slots& in, FakeMachine* machine = nullptr) {
  FakeMachine own;
  auto instruction = FindInstruction("ptx:" + name);
  EXPECT_TRUE(instruction.ok()) << instruction.status();
  if (!instruction.ok()) return {0, 0};
  Slots out(4, 0);
  const Lane lane{0, in.data(), out.data()};
  const Fault fault = instruction->run({machine ? *machine : own, nullptr, {&lane, 1}});
  EXPECT_FALSE(fault.has_value()) << *fault;
  return out;
}
uint64_t Run1(const std::string& name, const Slots& in) { return RunLane(name, in)[0]; }

// A warp's: `in(lane)`.
std::vector<Slots> RunWarp(const std::string& name, const std::function<Slots(int)>& in, FakeMachine& machine,
                           Fault* fault = nullptr) {
  std::vector<Slots> inputs, outputs(32, Slots(128, 0));
  for (int l = 0; l < 32; ++l) inputs.push_back(in(l));
  std::vector<Lane> lanes;
  for (int l = 0; l < 32; ++l) lanes.push_back({l, inputs[l].empty() ? nullptr : inputs[l].data(), outputs[l].data()});
  auto instruction = FindInstruction("ptx:" + name);
  EXPECT_TRUE(instruction.ok()) << instruction.status();
  if (!instruction.ok()) return outputs;
  EXPECT_TRUE(instruction->is_collective);
  const Fault found = instruction->run({machine, nullptr, lanes});
  if (fault) {
    *fault = found;
  } else {
    EXPECT_FALSE(found.has_value()) << *found;
  }
  return outputs;
}
std::vector<Slots> RunWarp(const std::string& name, const std::function<Slots(int)>& in) {
  FakeMachine machine;
  return RunWarp(name, in, machine);
}

uint64_t F32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
uint64_t F64(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, 8);
  return bits;
}

TEST(PtxScalar, FollowsTheManual) {
  struct Row {
    const char* name;
    Slots in;
    uint64_t out;
  };
  const Row kRows[] = {
      {"add.u32 1 1 1", {0xffffffff, 2}, 1},
      {"sub.s16 1 1 1", {1, 2}, 0xffff},
      {"mul.hi.s32 1 1 1", {0xffffffff, 2}, 0xffffffff},
      {"mul.hi.u32 1 1 1", {0xffffffff, 2}, 1},
      {"mul.wide.u32 1 1 1", {0xffffffff, 2}, 0x1fffffffe},
      {"mul.lo.s32 1 1 1", {7, 0xfffffffe}, 0xfffffff2},
      {"mad.lo.s32 1 1 1 1", {7, 3, 1}, 22},
      {"div.s32 1 1 1", {0xfffffff9, 2}, 0xfffffffd},
      {"rem.s32 1 1 1", {0xfffffff9, 2}, 0xffffffff},
      {"min.s32 1 1 1", {0xffffffff, 1}, 0xffffffff},
      {"min.u32 1 1 1", {0xffffffff, 1}, 1},
      {"shl.b32 1 1 1", {1, 32}, 0},
      {"shr.s32 1 1 1", {0x80000000, 40}, 0xffffffff},
      {"shr.u32 1 1 1", {0x80000000, 31}, 1},
      {"prmt.b32 1 1 1 1", {0x03020100, 0x07060504, 0x7531}, 0x07050301},
      {"prmt.b32 1 1 1 1", {0x80, 0, 0x8888}, 0xffffffff},
      {"lop3.b32 1 1 1 1 1", {0xf0, 0xcc, 0xaa, 0x80}, 0x80},
      {"bfe.u32 1 1 1 1", {0xabcd, 4, 8}, 0xbc},
      {"bfe.s32 1 1 1 1", {0xabcd, 12, 4}, 0xfffffffa},
      {"bfi.b32 1 1 1 1 1", {0xf, 0, 4, 4}, 0xf0},
      {"shf.l.wrap.b32 1 1 1 1", {0x80000000, 1, 1}, 3},
      {"popc.b32 1 1", {0xf0f}, 8},
      {"clz.b32 1 1", {1}, 31},
      {"brev.b32 1 1", {1}, 0x80000000},
      {"setp.lt.s32 1 1 1", {0xffffffff, 0}, 1},
      {"setp.lt.u32 1 1 1", {0xffffffff, 0}, 0},
      {"setp.neu.f32 1 1 1", {0x7fc00000, 0}, 1},
      {"setp.eq.f32 1 1 1", {0x80000000, 0}, 1},
      {"selp.b32 1 1 1 1", {5, 6, 0}, 6},
      {"add.f32 1 1 1", {F32(1.5f), F32(2)}, F32(3.5f)},
      {"add.rz.f32 1 1 1", {F32(1), F32(0x1p-24f)}, F32(1)},
      {"add.rp.f32 1 1 1", {F32(1), F32(0x1p-30f)}, F32(1 + 0x1p-23f)},
      {"fma.rn.f32 1 1 1 1", {F32(3), F32(4), F32(5)}, F32(17)},
      {"mul.ftz.f32 1 1 1", {F32(0x1p-100f), F32(0x1p-40f)}, 0},
      {"min.f32 1 1 1", {F32(0.0f), F32(-0.0f)}, F32(-0.0f)},
      {"max.f32 1 1 1", {0x7fc00000, F32(2)}, F32(2)},
      {"ex2.approx.ftz.f32 1 1", {F32(3)}, F32(8)},
      {"add.f16x2 1 1 1", {0x3c003c00, 0x40003c00}, 0x42004000},
      {"cvt.rn.f16.f32 1 1", {F32(1 + 0x1p-11f)}, 0x3c00},
      {"cvt.rz.bf16x2.f32 1 1 1", {F32(2), F32(1)}, 0x40003f80},
      {"cvt.rna.tf32.f32 1 1", {F32(1 + 0x1p-11f)}, F32(1 + 0x1p-10f)},
      {"cvt.rzi.s32.f32 1 1", {F32(-1.9f)}, 0xffffffff},
      {"cvt.rni.s32.f32 1 1", {F32(2.5f)}, 2},
      {"cvt.rzi.u32.f32 1 1", {F32(-1)}, 0},
      {"cvt.rzi.s32.f32 1 1", {F32(1e20f)}, 0x7fffffff},
      {"cvt.rn.satfinite.e4m3x2.f32 1 1 1", {F32(1000), F32(-1)}, 0x7eb8},
      {"cvt.rn.f16x2.e5m2x2 1 1", {0xbc3c}, 0xbc003c00},
      {"cvt.s64.s32 1 1", {0xffffffff}, ~uint64_t{0}},
      {"cvt.rn.f32.u64 1 1", {0x8000008000000001}, F32(0x1.000002p63f)},
  };
  for (const Row& row : kRows) EXPECT_EQ(Run1(row.name, row.in), row.out) << row.name;
}

TEST(PtxScalar, CarriesGoThroughTheConditionCode) {
  EXPECT_EQ(RunLane("add.cc.u32 1 1 1", {0xffffffff, 1})[1], 1u);
  EXPECT_EQ(RunLane("addc.u32 1 1 1", {1, 2, 1})[0], 4u);
  EXPECT_EQ(RunLane("sub.cc.u32 1 1 1", {0, 1})[1], 1u);
  EXPECT_EQ(RunLane("madc.hi.u32 1 1 1 1", {0x80000000, 4, 1, 1})[0], 4u);
}

TEST(PtxScalar, PrintsWithPackedArguments) {
  FakeMachine machine;
  const char* format = "%d %f %s%%\n";
  struct {
    int32_t i = -3;
    double d = 0.5;
    const char* s = "x";
  } arguments;
  RunLane("vprintf 1 1 1", {reinterpret_cast<uint64_t>(format), reinterpret_cast<uint64_t>(&arguments)}, &machine);
  EXPECT_EQ(machine.printed, "-3 0.500000 x%\n");
}

TEST(NarrowFloat, EveryNumberIsItself) {
  for (const FloatFormat* format : {&kF16, &kBf16, &kTf32, &kE4m3, &kE5m2}) {
    for (uint64_t bits = 0; bits < uint64_t{1} << format->bits(); ++bits) {
      const double value = Decode(bits, *format);
      if (std::isnan(value)) continue;
      ASSERT_EQ(Encode(value, *format), bits) << format->name;
    }
  }
}

TEST(NarrowFloat, RoundsAndSaturates) {
  EXPECT_EQ(Encode(1 + 0x1p-11, kF16), 0x3c00u);  // a tie: to even
  EXPECT_EQ(Encode(1 + 3 * 0x1p-11, kF16), 0x3c02u);
  EXPECT_EQ(Encode(65520, kF16), 0x7c00u);  // infinity
  EXPECT_EQ(Encode(65520, kF16, Rounding::kZero), 0x7bffu);
  EXPECT_EQ(Encode(464, kE4m3), 0x7eu);  // a tie with what would be 480
  EXPECT_EQ(Encode(465, kE4m3), 0x7fu);  // NaN: there is no infinity
  EXPECT_EQ(Encode(1e9, kE4m3, Rounding::kNearestEven, true), 0x7eu);
  EXPECT_EQ(Encode(-1e9, kE5m2, Rounding::kNearestEven, true), 0xfbu);
  EXPECT_EQ(Encode(0x1p-25, kF16), 0u);
  EXPECT_EQ(Encode(0x1p-25, kF16, Rounding::kUp), 1u);
}

TEST(PtxWarp, ShufflesByAllModes) {
  const auto in = [](int distance, int clamp) {
    return [=](int l) { return Slots{uint64_t(100 + l), uint64_t(distance), uint64_t(clamp), 0xffffffff}; };
  };
  auto bfly = RunWarp("shfl.sync.bfly.b32 1 1 1 1 1", in(5, 31)),
       idx = RunWarp("shfl.sync.idx.b32 1 1 1 1 1", in(7, 31));
  auto up = RunWarp("shfl.sync.up.b32 2 1 1 1 1", in(2, 0)), down = RunWarp("shfl.sync.down.b32 2 1 1 1 1", in(2, 31));
  auto halves = RunWarp("shfl.sync.idx.b32 1 1 1 1 1", in(3, 0x101f));  // segments of 16 lanes
  for (int l = 0; l < 32; ++l) {
    EXPECT_EQ(bfly[l][0], 100u + (l ^ 5));
    EXPECT_EQ(idx[l][0], 107u);
    EXPECT_EQ(up[l][0], 100u + (l < 2 ? l : l - 2));
    EXPECT_EQ(up[l][1], uint64_t(l >= 2));
    EXPECT_EQ(down[l][0], 100u + (l > 29 ? l : l + 2));
    EXPECT_EQ(halves[l][0], 100u + (l & 16) + 3);
  }
}

TEST(PtxWarp, VotesReducesMatches) {
  const auto odd = [](int l) { return Slots{uint64_t(l & 1), 0xffffffff}; };
  EXPECT_EQ(RunWarp("vote.sync.ballot.b32 1 1 1", odd)[3][0], 0xaaaaaaaau);
  EXPECT_EQ(RunWarp("vote.sync.any.pred 1 1 1", odd)[0][0], 1u);
  EXPECT_EQ(RunWarp("vote.sync.all.pred 1 1 1", odd)[0][0], 0u);
  const auto numbers = [](int l) { return Slots{uint32_t(l - 16), 0xffffffff}; };
  EXPECT_EQ(RunWarp("redux.sync.add.s32 1 1 1", numbers)[9][0], uint32_t(-16));
  EXPECT_EQ(RunWarp("redux.sync.min.s32 1 1 1", numbers)[9][0], uint32_t(-16));
  EXPECT_EQ(RunWarp("redux.sync.min.u32 1 1 1", numbers)[9][0], 0u);
  EXPECT_EQ(RunWarp("match.any.sync.b32 1 1 1", odd)[2][0], 0x55555555u);
}

TEST(PtxWarp, RefusesMasksOfOtherLanesThanTakePart) {
  FakeMachine machine;
  Fault fault;
  RunWarp(
      "redux.sync.add.s32 1 1 1",
      [](int) {
        return Slots{1, 0xffff};
      },
      machine, &fault);
  ASSERT_TRUE(fault.has_value());
  EXPECT_THAT(*fault, HasSubstr("member mask 0xffff by the lanes 0xffffffff"));
}

// Lanes 4 to 11 alone; lanes that take no part have no slots.
TEST(PtxWarp, ExecutesForSomeLanes) {
  constexpr uint64_t kMask = 0xff0;
  const auto of = [](std::function<Slots(int)> in) { return [in](int l) { return kMask >> l & 1 ? in(l) : Slots(); }; };
  const auto numbers = of([](int l) { return Slots{uint64_t(l), kMask}; });
  const auto odd = of([](int l) { return Slots{uint64_t(l & 1), kMask}; });
  const auto shuffle = of([](int l) { return Slots{uint64_t(l), 3, 31, kMask}; });
  EXPECT_EQ(RunWarp("redux.sync.add.u32 1 1 1", numbers)[9][0], 60u);
  EXPECT_EQ(RunWarp("redux.sync.min.u32 1 1 1", numbers)[9][0], 4u);
  EXPECT_EQ(RunWarp("redux.sync.and.b32 1 1 1", odd)[4][0], 0u);
  EXPECT_EQ(RunWarp("vote.sync.ballot.b32 1 1 1", odd)[4][0], 0xaa0u);
  EXPECT_EQ(RunWarp("vote.sync.all.pred 1 1 1", of([](int) { return Slots{1, kMask}; }))[4][0], 1u);
  EXPECT_EQ(RunWarp("match.any.sync.b32 1 1 1", odd)[4][0], 0x550u);
  const auto elected = RunWarp("elect.sync 2 1", of([](int) { return Slots{kMask}; }));
  for (int l = 4; l < 12; ++l) EXPECT_EQ(elected[l][0] * 2 + elected[l][1], 8u + (l == 4)) << l;
  EXPECT_EQ(RunWarp("shfl.sync.bfly.b32 1 1 1 1 1", shuffle)[9][0], 10u);
  EXPECT_EQ(RunWarp("shfl.sync.bfly.b32 1 1 1 1 1", shuffle)[20][0], 0u);

  FakeMachine machine;
  Fault fault;
  RunWarp("shfl.sync.idx.b32 1 1 1 1 1", shuffle, machine, &fault);
  ASSERT_TRUE(fault.has_value());
  EXPECT_THAT(*fault, HasSubstr("lane 4 reads lane 3, which takes no part"));
}

// "Matrix Fragments for mma.m16n8k16 with floating point type": a[m][k] = m + k / 64, b picks one k for each n.
TEST(PtxMatrix, MmaHasTheManualsFragments) {
  const auto f16 = [](double value) { return Encode(value, kF16); };
  const auto a = [](int m, int k) { return m + k / 64.0; };
  const auto out = RunWarp("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 4 4 2 4", [&](int l) {
    const int g = l / 4, t = l % 4;
    Slots in;
    for (int i = 0; i < 4; ++i) {
      const int m = g + 8 * (i % 2), k = 2 * t + 8 * (i / 2);
      in.push_back(f16(a(m, k)) | f16(a(m, k + 1)) << 16);
    }
    for (int i = 0; i < 2; ++i) {
      const int k = 2 * t + 8 * i;  // column g of b is one at k = 2 g + 1
      in.push_back(f16(k == 2 * g + 1) | f16(k + 1 == 2 * g + 1) << 16);
    }
    for (int i = 0; i < 4; ++i) in.push_back(F32(1000));
    return in;
  });
  for (int l = 0; l < 32; ++l)
    for (int i = 0; i < 4; ++i) {
      const int m = l / 4 + 8 * (i / 2), n = 2 * (l % 4) + i % 2;
      EXPECT_EQ(out[l][i], F32(1000 + a(m, 2 * n + 1))) << l << " " << i;
    }
}

// ".satfinite": sums of integers stay at the ends of s32. Without it they wrap.
TEST(PtxMatrix, MmaOfBytesSaturatesWhereAsked) {
  const auto run = [](const std::string& satfinite, uint32_t sum) {
    return RunWarp("mma.sync.aligned.m16n8k32.row.col." + satfinite + "s32.s8.s8.s32 4 4 2 4", [&](int) {
      Slots in(6, 0x01010101);  // 32 products of 1
      in.insert(in.end(), 4, sum);
      return in;
    });
  };
  EXPECT_EQ(run("satfinite.", 0x7fffffdf)[0][0], 0x7fffffffu);
  EXPECT_EQ(run("satfinite.", 0x7ffffff0)[0][0], 0x7fffffffu);
  EXPECT_EQ(run("satfinite.", 0xffffffff)[5][3], 31u);
  EXPECT_EQ(run("", 0x7ffffff0)[0][0], 0x80000010u);
}

// "Matrix Fragments for mma.m16n8k16 with .f64": rows g and g + 8 in turn, columns t, t + 4, t + 8 and t + 12.
TEST(PtxMatrix, MmaOfDoublesTakesFourFourthsOfK) {
  const auto a = [](int m, int k) { return m + k / 64.0; };
  const auto out = RunWarp("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 4 8 4 4", [&](int l) {
    const int g = l / 4, t = l % 4;
    Slots in;
    for (int i = 0; i < 8; ++i) in.push_back(F64(a(g + 8 * (i % 2), t + 4 * (i / 2))));
    for (int i = 0; i < 4; ++i) in.push_back(F64(t + 4 * i == 2 * g + 1 ? 1.0 : 0.0));
    for (int i = 0; i < 4; ++i) in.push_back(F64(1000.0));
    return in;
  });
  for (int l = 0; l < 32; ++l)
    for (int i = 0; i < 4; ++i) {
      const int m = l / 4 + 8 * (i / 2), n = 2 * (l % 4) + i % 2;
      EXPECT_EQ(out[l][i], F64(1000 + a(m, 2 * n + 1))) << l << " " << i;
    }
}

// Slots of mma with one scale for K = 32: all elements of a are 1 (e4m3), of b 2 (e2m1, in bits 2 to 5). The scale of
// row m is 2 ^ (m - 8), in byte 2 of its lane; that of column n is 2 ^ n, in byte 1.
Slots ScaledOperands(int l, int thread_a, int thread_b) {
  constexpr uint64_t kOnes = 0x38383838, kTwos = 0x10101010;
  const int g = l / 4, t = l % 4;
  const bool gives_a = t / 2 == thread_a, gives_b = t == thread_b;
  Slots in = {kOnes, kOnes, kOnes, kOnes, kTwos, kTwos};
  for (int i = 0; i < 4; ++i) in.push_back(F32(1));
  const uint64_t row = gives_a ? 127 + g + 8 * (t % 2) - 8 : 255, column = gives_b ? 127 + g : 255;
  for (uint64_t slot : {row << 16, uint64_t{2}, static_cast<uint64_t>(thread_a), column << 8, uint64_t{1},
                        static_cast<uint64_t>(thread_b)})
    in.push_back(slot);
  return in;
}

constexpr char kScaledMma[] =
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0 "
    "4 4 2 4 1 2 1 2";

// "Block scaling for mma.sync".
TEST(PtxMatrix, MmaMultipliesWithTheScalesOfTheSelectedLanes) {
  for (int thread_a = 0; thread_a < 2; ++thread_a)
    for (int thread_b = 0; thread_b < 4; ++thread_b) {
      const auto out = RunWarp(kScaledMma, [&](int l) { return ScaledOperands(l, thread_a, thread_b); });
      for (int l = 0; l < 32; ++l)
        for (int i = 0; i < 4; ++i) {
          const int m = l / 4 + 8 * (i / 2), n = 2 * (l % 4) + i % 2;
          EXPECT_EQ(out[l][i], F32(1 + 64 * std::ldexp(1.0, m - 8 + n))) << l << " " << i;
        }
    }
}

TEST(PtxMatrix, MmaWithScalesOfFourBits) {
  // K = 64: two e2m1 a byte, a 1 and b 0.5. A row has four scales of e4m3: 1, 2, 4 and 8. Those of a column are 1.
  const auto out = RunWarp(
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 "
      "4 4 2 4 1 2 1 2",
      [](int) {
        Slots in(4, 0x22222222);
        in.insert(in.end(), 2, 0x11111111);
        in.insert(in.end(), 4, F32(0));
        for (uint64_t slot : {0x50484038, 0, 0, 0x38383838, 0, 0}) in.push_back(slot);
        return in;
      });
  for (int l = 0; l < 32; ++l)
    for (int i = 0; i < 4; ++i) EXPECT_EQ(out[l][i], F32(16 * 0.5 * (1 + 2 + 4 + 8))) << l << " " << i;
}

TEST(PtxMatrix, MmaWithScalesNamesMistakes) {
  const auto fault_of = [](size_t slot, uint64_t value, int lanes) {
    FakeMachine machine;
    Fault fault;
    RunWarp(
        kScaledMma,
        [&](int l) {
          Slots in = ScaledOperands(l, 0, 0);
          if (l < lanes) in[slot] = value;
          return in;
        },
        machine, &fault);
    return fault.value_or("none");
  };
  EXPECT_THAT(fault_of(4, 0x10101011, 1), HasSubstr("lane 0 has bits beside its e2m1: 0x10101011"));
  EXPECT_THAT(fault_of(11, 3, 5), HasSubstr("not the same in all lanes"));
  EXPECT_THAT(fault_of(11, 4, 32), HasSubstr("no scales begin at byte 4"));
  EXPECT_THAT(fault_of(12, 2, 32), HasSubstr("no thread 2 gives scales"));
}

TEST(PtxMatrix, LoadsAndStoresMatrices) {
  FakeMachine machine;
  for (int i = 0; i < 4; ++i)
    for (int r = 0; r < 8; ++r)
      for (int c = 0; c < 8; ++c) machine.Set<uint16_t>(i * 128 + r * 16 + c * 2, i << 8 | r << 4 | c);
  const auto rows = [](int l) { return Slots{uint64_t(16 * l)}; };
  const auto plain = RunWarp("ldmatrix.sync.aligned.m8n8.x4.shared.b16 4 1", rows, machine);
  const auto turned = RunWarp("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 4 1", rows, machine);
  for (int l = 0; l < 32; ++l)
    for (uint64_t i = 0; i < 4; ++i) {
      const uint64_t a = l / 4, b = 2 * (l % 4);
      EXPECT_EQ(plain[l][i], (i << 8 | a << 4 | b) | (i << 8 | a << 4 | (b + 1)) << 16);
      EXPECT_EQ(turned[l][i], (i << 8 | b << 4 | a) | (i << 8 | (b + 1) << 4 | a) << 16);
    }
  const auto before = machine.memory;
  RunWarp(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 1 4",
      [&](int l) {
        return Slots{uint64_t(1024 + 16 * l), plain[l][0], plain[l][1], plain[l][2], plain[l][3]};
      },
      machine);
  EXPECT_EQ(std::memcmp(&machine.memory[1024], before.data(), 512), 0);
  Fault fault;
  RunWarp(
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 1 1", [](int l) { return Slots{uint64_t(16 * l + 8)}; }, machine,
      &fault);
  EXPECT_TRUE(fault.has_value());
}

constexpr char kWgmma[] = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 4 1 1 1 1 1 1 1";
Slots Descriptors(uint64_t a, uint64_t b) {
  // No swizzle: core matrices of 128 bytes, 128 apart along K and 256 along the other dimension.
  const uint64_t rest = uint64_t{128 / 16} << 16 | uint64_t{256 / 16} << 32;
  return {F32(1), F32(1), F32(1), F32(1), a >> 4 | rest, b >> 4 | rest, 1, 1, 1, 0, 0};
}

TEST(PtxWgmma, ReadsSharedMemoryAtItsWait) {
  FakeMachine machine;
  Fault fault;
  RunWarp(
      kWgmma, [](int) { return Descriptors(0, 4096); }, machine, &fault);
  ASSERT_TRUE(fault.has_value());
  EXPECT_THAT(*fault, HasSubstr("without a wgmma.fence"));
  RunWarp(
      "wgmma.fence.sync.aligned", [](int) { return Slots{}; }, machine);
  const auto tags = RunWarp(
      kWgmma, [](int) { return Descriptors(0, 4096); }, machine);
  RunWarp(
      "wgmma.commit_group.sync.aligned", [](int) { return Slots{}; }, machine);
  for (int l = 0; l < 32; ++l) EXPECT_TRUE(std::isnan(FloatOf(tags[l][0], ParsePtxType("f32"))));
  // Only now: a (m, k) = m for k = 0, b (k, n) = n for k = 0.
  for (int m = 0; m < 64; ++m) machine.Set<uint16_t>(m / 8 * 256 + m % 8 * 16, Encode(m, kF16));
  for (int n = 0; n < 8; ++n) machine.Set<uint16_t>(4096 + n * 16, Encode(n, kF16));
  const auto out = RunWarp(
      "wgmma.wait_group.sync.aligned 4 1 4",
      [&](int l) {
        return Slots{0, tags[l][0], tags[l][1], tags[l][2], tags[l][3]};
      },
      machine);
  for (int l = 0; l < 32; ++l)
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(out[l][i], F32(1 + (l / 4 + 8 * (i / 2)) * (2 * (l % 4) + i % 2))) << l << " " << i;
}

TEST(PtxWgmma, KeepsTwoAccumulatorsOfF16InARegister) {
  FakeMachine machine;
  const auto f16 = [](double value) { return Encode(value, kF16); };
  for (int m = 0; m < 64; ++m) machine.Set<uint16_t>(m / 8 * 256 + m % 8 * 16, f16(m));
  for (int n = 0; n < 8; ++n) machine.Set<uint16_t>(4096 + n * 16, f16(n));
  RunWarp(
      "wgmma.fence.sync.aligned", [](int) { return Slots{}; }, machine);
  const auto tags = RunWarp(
      "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 2 1 1 1 1 1 1 1",
      [&](int) {
        Slots in = Descriptors(0, 4096);
        in.erase(in.begin(), in.begin() + 4);
        in.insert(in.begin(), 2, f16(1) | f16(2) << 16);
        return in;
      },
      machine);
  RunWarp(
      "wgmma.commit_group.sync.aligned", [](int) { return Slots{}; }, machine);
  const auto out = RunWarp(
      "wgmma.wait_group.sync.aligned 2 1 2",
      [&](int l) {
        return Slots{0, tags[l][0], tags[l][1]};
      },
      machine);
  for (int l = 0; l < 32; ++l)
    for (int i = 0; i < 2; ++i) {
      const int m = l / 4 + 8 * i, n = 2 * (l % 4);
      EXPECT_EQ(out[l][i], f16(1 + m * n) | f16(2 + m * (n + 1)) << 16) << l << " " << i;
    }
}

TEST(PtxWgmma, WaitsForGroupsInOrder) {
  FakeMachine machine;
  RunWarp(
      "wgmma.fence.sync.aligned", [](int) { return Slots{}; }, machine);
  const auto first = RunWarp(
      kWgmma, [](int) { return Descriptors(0, 4096); }, machine);
  RunWarp(
      "wgmma.commit_group.sync.aligned", [](int) { return Slots{}; }, machine);
  // Adds to the first one's accumulators, which are still in flight.
  const auto second = RunWarp(
      kWgmma,
      [&](int l) {
        Slots in = Descriptors(0, 4096);
        for (int i = 0; i < 4; ++i) in[i] = first[l][i];
        return in;
      },
      machine);
  RunWarp(
      "wgmma.commit_group.sync.aligned", [](int) { return Slots{}; }, machine);
  machine.Set<uint16_t>(0, Encode(3, kF16));
  machine.Set<uint16_t>(4096, Encode(5, kF16));
  const auto pending = RunWarp(
      "wgmma.wait_group.sync.aligned 1 1 1",
      [&](int l) {
        return Slots{1, second[l][0]};
      },
      machine);
  EXPECT_EQ(pending[0][0], second[0][0]);
  const auto done = RunWarp(
      "wgmma.wait_group.sync.aligned 1 1 1",
      [&](int l) {
        return Slots{0, second[l][0]};
      },
      machine);
  EXPECT_EQ(done[0][0], F32(1 + 2 * 15));
}

// The arrival comes when the copies that the thread had started are over; without "noinc" it is one more.
TEST(PtxBulk, ArrivesAfterTheCopies) {
  for (const bool increments : {false, true}) {
    FakeMachine machine;
    machine.copies.Init(64, 1);
    machine.pending.resize(3);
    RunLane(
        increments ? "cp.async.mbarrier.arrive.shared::cta.b64 1" : "cp.async.mbarrier.arrive.noinc.shared::cta.b64 1",
        {64}, &machine);
    const auto is_over = [&] {
      return RunLane("mbarrier.try_wait.parity.shared::cta.b64 1 1 1", {64, 0}, &machine)[0] == 1;
    };
    EXPECT_FALSE(is_over());
    ASSERT_TRUE(machine.copies.HasLoads());
    EXPECT_FALSE(machine.copies.FinishLoad().has_value());
    EXPECT_EQ(machine.finished, 3u);
    EXPECT_EQ(is_over(), !increments);
  }
}

TEST(PtxWarp, AsksForRegisters) {
  FakeMachine machine;
  RunWarp(
      "setmaxnreg.inc.sync.aligned.u32 1", [](int) { return Slots{232}; }, machine);
  EXPECT_EQ(machine.registers_of_warp[0], 232u);
}

TEST(FindInstruction, NamesWhatItDoesNotKnow) {
  for (const char* name :
       {"ptx:tcgen05.mma.cta_group::1 1", "ptx:mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32 2 1 1 2",
        "ptx:mma.sync.aligned.m16n8k64.row.col.f32.e2m1.e2m1.f32 4 4 2 4", "ptx:cvt.rn.e4m3x2.f32 1 1 1",
        "ptx:shfl.sync.sideways.b32 1 1 1 1 1", "vax:polyf 1"}) {
    const auto found = FindInstruction(name);
    ASSERT_FALSE(found.ok()) << name;
    const std::string text = name;
    const size_t begin = text[0] == 'p' ? 4 : 0;
    EXPECT_THAT(std::string(found.status().message()), HasSubstr(text.substr(begin, text.find(' ') - begin)));
  }
}

}  // namespace
}  // namespace tritond::workers::emulated
