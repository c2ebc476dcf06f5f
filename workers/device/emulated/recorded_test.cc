// SPDX-License-Identifier: Apache-2.0
// Instructions against an NVIDIA H200 (driver's own assembler, PTX 8.0 for sm_90a). The recording holds what each made
// of the same inputs, as a hash over the results of all lanes. Inputs of products are small integers, so that their
// sums are exact.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "workers/device/emulated/fake_machine.h"
#include "workers/device/emulated/narrow_float.h"
#include "workers/device/emulated/ptx_instruction.h"

namespace tritond::workers::emulated {
namespace {

// The input `i` of a lane in a case, as the recording made it.
uint32_t Random(uint64_t number, uint64_t lane, uint64_t i) {
  uint32_t x = static_cast<uint32_t>((number * 1000003 + lane * 131 + i * 7919 + 12345) * 2654435761u);
  x ^= x >> 15;
  x *= 2246822519u;
  return x ^ x >> 13;
}

// "u": any bits; "i16", "ib16", "i32": small integers as pairs of f16 and of bf16, as f32. "f": f32 around 1; "l": a
// lane; "m": all ones.
uint32_t Input(absl::string_view type, uint32_t x) {
  const auto pair = [&](const FloatFormat& format) {
    return static_cast<uint32_t>(Encode(static_cast<int>(x & 7) - 3, format) |
                                 Encode(static_cast<int>(x >> 8 & 7) - 3, format) << 16);
  };
  if (type == "i16") return pair(kF16);
  if (type == "ib16") return pair(kBf16);
  if (type == "i32") return static_cast<uint32_t>(Encode(static_cast<int>(x & 15) - 7, kF32));
  if (type == "f") return (x & 0x80ffffff) | 0x3f000000;
  if (type == "l") return x & 31;
  return type == "m" ? 0xffffffff : x;
}

uint64_t Hash(const std::vector<uint32_t>& words) {
  uint64_t hash = 0xcbf29ce484222325;
  for (uint32_t word : words) hash = (hash ^ word) * 0x100000001b3;
  return hash;
}

using Lanes = std::vector<std::vector<uint64_t>>;

// Runs one instruction on all lanes, together or one by one.
void RunAll(FakeMachine& machine, const std::string& name, const Lanes& in, Lanes& out, int first_thread = 0) {
  auto instruction = FindInstruction("ptx:" + name);
  ASSERT_TRUE(instruction.ok()) << instruction.status();
  std::vector<Lane> lanes;
  for (int l = 0; l < 32; ++l) lanes.push_back({first_thread + l, in[l].data(), out[l].data()});
  if (instruction->is_collective) {
    const Fault fault = instruction->run({machine, nullptr, lanes});
    ASSERT_FALSE(fault.has_value()) << *fault;
    return;
  }
  for (const Lane& lane : lanes) ASSERT_FALSE(instruction->run({machine, nullptr, {&lane, 1}}).has_value());
}

struct Row {
  int number;  // of the case, which its inputs depend on
  const char* types;
  int results;
  // "name sizes | inputs | results" for each instruction: i0 an input, o0 a result, "row" 16 times the lane, or a
  // number.
  std::vector<const char*> steps;
  uint64_t hash;
};

constexpr char kEight[] = "i16 i16 i16 i16 i16 i16 i32 i32 i32 i32";

const std::vector<Row>& Rows() {
  static const auto* rows = new std::vector<Row>{
      {0,
       kEight,
       4,
       {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 4 4 2 4 | i0 i1 i2 i3 i4 i5 i6 i7 i8 i9 | o0 o1 o2 o3"},
       0x7feffd4c9492ed25},
      {1,
       "i16 i16 i16 i32 i32 i32 i32",
       4,
       {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 4 2 1 4 | i0 i1 i2 i3 i4 i5 i6 | o0 o1 o2 o3"},
       0x03608864f46ced25},
      {2,
       "i16 i16 i16 i16 i16 i16 i16 i16",
       2,
       {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 2 4 2 2 | i0 i1 i2 i3 i4 i5 i6 i7 | o0 o1"},
       0xc4ed2d853fcebc45},
      {3,
       "ib16 ib16 ib16 ib16 ib16 ib16 i32 i32 i32 i32",
       4,
       {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 4 4 2 4 | i0 i1 i2 i3 i4 i5 i6 i7 i8 i9 | o0 o1 o2 o3"},
       0x20123949d668ed25},
      {4,
       "i32 i32 i32 i32 i32 i32 i32 i32 i32 i32",
       4,
       {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 4 4 2 4 | i0 i1 i2 i3 i4 i5 i6 i7 i8 i9 | o0 o1 o2 o3"},
       0xc0640f79b76aed25},
      {5,
       "i32 i32 i32 i32 i32 i32 i32",
       4,
       {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 4 2 1 4 | i0 i1 i2 i3 i4 i5 i6 | o0 o1 o2 o3"},
       0x35f2a0429f4ded25},
      {6,
       "u u u u u u l l l l",
       4,
       {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 4 4 2 4 | i0 i1 i2 i3 i4 i5 i6 i7 i8 i9 | o0 o1 o2 o3"},
       0x9c84d9a64fed2549},
      {7,
       "u u u l l l l",
       4,
       {"mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 4 2 1 4 | i0 i1 i2 i3 i4 i5 i6 | o0 o1 o2 o3"},
       0x882db70ee93bf5dd},
      {8,
       "u u u u u u l l l l",
       4,
       {"mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 4 4 2 4 | i0 i1 i2 i3 i4 i5 i6 i7 i8 i9 | o0 o1 o2 o3"},
       0xa895f6b1724480e8},
      {9, "u u u u", 4, {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 4 1 | row | o0 o1 o2 o3"}, 0x0190e938c746bca2},
      {10,
       "u u u u",
       4,
       {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 4 1 | row | o0 o1 o2 o3"},
       0x58f517552d597855},
      {11, "u l", 2, {"shfl.sync.up.b32 2 1 1 1 1 | i0 i1 0 -1 | o0 o1"}, 0xe1411e0c785eac36},
      {12, "u l", 2, {"shfl.sync.down.b32 2 1 1 1 1 | i0 i1 31 -1 | o0 o1"}, 0xbb6a683a03df8d71},
      {13, "u l", 2, {"shfl.sync.bfly.b32 2 1 1 1 1 | i0 i1 31 -1 | o0 o1"}, 0x38138fe7e951e98b},
      {14, "u l", 2, {"shfl.sync.idx.b32 2 1 1 1 1 | i0 i1 4127 -1 | o0 o1"}, 0xc58ac67261271a5f},
      {15, "u l", 2, {"shfl.sync.up.b32 2 1 1 1 1 | i0 i1 6144 -1 | o0 o1"}, 0xb73bb96d6058f2a8},
      {16, "u l", 2, {"shfl.sync.down.b32 2 1 1 1 1 | i0 i1 4119 -1 | o0 o1"}, 0xe3bc0ee35451cdc5},
      {17,
       "u",
       3,
       {"redux.sync.add.s32 1 1 1 | i0 -1 | o0", "redux.sync.min.s32 1 1 1 | i0 -1 | o1",
        "redux.sync.max.u32 1 1 1 | i0 -1 | o2"},
       0x1ccd4dec41483865},
      {18, "l", 1, {"match.any.sync.b32 1 1 1 | i0 -1 | o0"}, 0x64ef6455fe23c193},
      {19, "f", 2, {"cvt.rn.f16.f32 1 1 | i0 | o0", "cvt.rz.f16.f32 1 1 | i0 | o1"}, 0x70baa4e5fba904be},
      {20,
       "f f",
       2,
       {"cvt.rn.bf16x2.f32 1 1 1 | i0 i1 | o0", "cvt.rz.bf16x2.f32 1 1 1 | i0 i1 | o1"},
       0x3bfc931b73e49edd},
      {21, "f", 1, {"cvt.rna.tf32.f32 1 1 | i0 | o0"}, 0x6d2d4f2a79e0b5a5},
      {22,
       "f f",
       2,
       {"cvt.rn.satfinite.e4m3x2.f32 1 1 1 | i0 i1 | o0", "cvt.rn.satfinite.e5m2x2.f32 1 1 1 | i0 i1 | o1"},
       0x36330d9f837f3bc8},
      {23, "u", 2, {"cvt.rn.f16x2.e4m3x2 1 1 | i0 | o0", "cvt.rn.f16x2.e5m2x2 1 1 | i0 | o1"}, 0x617b6351eb37e0a5},
      {24,
       "u",
       4,
       {"cvt.rni.s32.f32 1 1 | i0 | o0", "cvt.rzi.u32.f32 1 1 | i0 | o1", "cvt.rn.f32.s32 1 1 | i0 | o2",
        "cvt.rz.f32.u32 1 1 | i0 | o3"},
       0xbe92e4feda1a0088},
      {25,
       "u u l l",
       4,
       {"prmt.b32 1 1 1 1 | i0 i1 i2 | o0", "lop3.b32 1 1 1 1 1 | i0 i1 i2 177 | o1", "bfe.s32 1 1 1 1 | i0 i2 i3 | o2",
        "bfi.b32 1 1 1 1 1 | i0 i1 i2 i3 | o3"},
       0xb34542b79b0bef81},
      {26,
       "u u u",
       4,
       {"shf.l.wrap.b32 1 1 1 1 | i0 i1 i2 | o0", "shf.r.clamp.b32 1 1 1 1 | i0 i1 i2 | o1",
        "mul.hi.s32 1 1 1 | i0 i1 | o2", "sad.u32 1 1 1 1 | i0 i1 i2 | o3"},
       0x2af368a74340c496},
      {27, "u u u", 1, {"prmt.b32 1 1 1 1 | i0 i1 i2 | o0"}, 0x54268781473d3679},
      {28,
       "f f",
       4,
       {"add.rz.f32 1 1 1 | i0 i1 | o0", "add.rm.f32 1 1 1 | i0 i1 | o1", "mul.rp.f32 1 1 1 | i0 i1 | o2",
        "div.rn.f32 1 1 1 | i0 i1 | o3"},
       0xd94f375d7d904418},
      {29,
       "u u",
       4,
       {"div.s32 1 1 1 | i0 i1 | o0", "rem.u32 1 1 1 | i0 i1 | o1", "min.s32 1 1 1 | i0 i1 | o2",
        "mul.lo.s32 1 1 1 | i0 i1 | o3"},
       0xb4035d5f0ab4f0f3},
  };
  return *rows;
}

std::vector<std::string> Words(absl::string_view text) { return absl::StrSplit(text, ' ', absl::SkipEmpty()); }

TEST(Recorded, InstructionsDoWhatTheDeviceDid) {
  for (const Row& row : Rows()) {
    FakeMachine machine;
    const std::vector<std::string> types = Words(row.types);
    std::vector<std::vector<uint32_t>> inputs(32, std::vector<uint32_t>(types.size()));
    std::vector<uint32_t> results(32 * row.results);
    for (int l = 0; l < 32; ++l)
      for (size_t i = 0; i < types.size(); ++i) {
        inputs[l][i] = Input(types[i], Random(row.number, l, i));
        if (i < 4) machine.Set<uint32_t>(16 * l + 4 * i, inputs[l][i]);
      }
    for (const char* step : row.steps) {
      const std::vector<std::string> parts = absl::StrSplit(step, " | ");
      Lanes in(32), out(32, std::vector<uint64_t>(8));
      for (int l = 0; l < 32; ++l)
        for (const std::string& word : Words(parts[1])) {
          int number = 0;
          const bool is_number = absl::SimpleAtoi(word[0] == 'i' ? word.substr(1) : word, &number);
          in[l].push_back(word[0] == 'i' ? inputs[l][number] : is_number ? static_cast<uint32_t>(number) : 16 * l);
        }
      RunAll(machine, parts[0], in, out);
      size_t next = 0;
      for (const std::string& word : Words(parts[2])) {
        for (int l = 0; l < 32; ++l) results[l * row.results + (word[1] - '0')] = static_cast<uint32_t>(out[l][next]);
        ++next;
      }
    }
    EXPECT_EQ(Hash(results), row.hash) << row.steps[0];
  }
}

// wgmma.m64n16k16 of f16 with both operands in shared memory.
TEST(Recorded, DescriptorsLeadWhereTheyLedOnTheDevice) {
  struct Descriptor {
    uint64_t swizzle, leading, stride, trans_a, trans_b, hash;
  };
  const Descriptor kDescriptors[] = {
      {0, 128, 256, 0, 0, 0x85cfff334f8a7325},   {1, 16, 1024, 0, 0, 0x5747aa6836c47325},
      {2, 16, 512, 0, 0, 0x899ffc3d9d947325},    {3, 16, 256, 0, 0, 0x2548ec81c8127325},
      {1, 2048, 1024, 1, 1, 0xdb2aa1c8d51e7325}, {1, 16, 1024, 0, 1, 0x534f403c84047325},
      {2, 2048, 512, 1, 1, 0x32795db11ba07325},  {3, 2048, 256, 1, 1, 0x209ebe08410c7325},
      {0, 256, 128, 1, 1, 0x9c0310f79a3c7325},
  };
  for (const Descriptor& d : kDescriptors) {
    FakeMachine machine;
    for (int t = 0; t < 128; ++t)
      for (int i = 0; i < 64; ++i) machine.Set<uint32_t>(256 * t + 4 * i, Input("i16", Random(500, t, i)));
    const uint64_t rest = d.leading >> 4 << 16 | d.stride >> 4 << 32 | d.swizzle << 62;
    std::vector<uint32_t> results;
    for (int warp = 0; warp < 4; ++warp) {
      Lanes none(32), out(32, std::vector<uint64_t>(8));
      const Lanes in(32, {0, 0, 0, 0, 0, 0, 0, 0, rest, rest | 1024, 1, 1, 1, d.trans_a, d.trans_b});
      RunAll(machine, "wgmma.fence.sync.aligned", none, out, 32 * warp);
      RunAll(machine, "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 8 1 1 1 1 1 1 1", in, out, 32 * warp);
      RunAll(machine, "wgmma.commit_group.sync.aligned", none, none, 32 * warp);
      Lanes waits(32);
      for (int l = 0; l < 32; ++l) {
        waits[l] = {0};
        waits[l].insert(waits[l].end(), out[l].begin(), out[l].end());
      }
      RunAll(machine, "wgmma.wait_group.sync.aligned 8 1 8", waits, out, 32 * warp);
      for (const auto& lane : out) results.insert(results.end(), lane.begin(), lane.end());
    }
    EXPECT_EQ(Hash(results), d.hash) << d.swizzle << " " << d.leading << " " << d.stride << " " << d.trans_a;
  }
}

// What lies below the 19 bits of a tf32 is cut off, not rounded: the first element of a times one.
TEST(Recorded, ProductsCutTf32Off) {
  FakeMachine machine;
  Lanes in(32, std::vector<uint64_t>(10)), out(32, std::vector<uint64_t>(4));
  for (int l = 0; l < 32; ++l) {
    if (l % 4 == 0) in[l][0] = Input("f", Random(30, l, 0));
    in[l][4] = 0x3f800000;
  }
  EXPECT_EQ(in[0][0], 0x3ff77872u);
  RunAll(machine, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 4 4 2 4", in, out);
  EXPECT_EQ(out[0][0], 0x3ff76000u);
}

}  // namespace
}  // namespace tritond::workers::emulated
