// SPDX-License-Identifier: Apache-2.0
// tcgen05 against plain loops, and the mistakes that it finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "workers/device/emulated/fake_machine.h"
#include "workers/device/emulated/matrix_descriptor.h"

namespace tritond::workers::emulated {
namespace {

using testing::HasSubstr;
using Slots = std::vector<uint64_t>;

constexpr char kAlloc[] = "ptx:tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 1 1";
constexpr char kDealloc[] = "ptx:tcgen05.dealloc.cta_group::1.sync.aligned.b32 1 1";
constexpr char kRelinquish[] = "ptx:tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned";
constexpr char kCommit[] = "ptx:tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 1";
constexpr char kLoad[] = "ptx:tcgen05.ld.sync.aligned.16x256b.x1.b32 4 1";
constexpr char kStore[] = "ptx:tcgen05.st.sync.aligned.16x256b.x1.b32 1 4";
constexpr char kWaitLoad[] = "ptx:tcgen05.wait::ld.sync.aligned", kWaitStore[] = "ptx:tcgen05.wait::st.sync.aligned";
constexpr char kBefore[] = "ptx:tcgen05.fence::before_thread_sync", kAfter[] = "ptx:tcgen05.fence::after_thread_sync";
constexpr uint64_t kSlot = 64, kBarrier = 128, kA = 4096, kB = 65536;

// A block of four warps, one instruction at a time.
class Block {
 public:
  // By `threads` threads from `first` on, each with the same operands.
  Fault Run(const std::string& name, const Slots& in = {}, int first = 0, int threads = 32) {
    auto instruction = FindInstruction(name);
    EXPECT_TRUE(instruction.ok()) << instruction.status();
    if (!instruction.ok()) return std::string("unknown");
    EXPECT_EQ(instruction->is_collective, threads == 32) << name;
    out.assign(32, Slots(128, 0));
    std::vector<Lane> lanes;
    for (int l = 0; l < threads; ++l) lanes.push_back({first + l, in.data(), out[l].data()});
    return instruction->run({machine, nullptr, lanes});
  }
  Fault RunThread(const std::string& name, const Slots& in = {}, int thread = 0) { return Run(name, in, thread, 1); }
  // Fences of all threads, and a barrier between them.
  void Synchronize() {
    for (int t = 0; t < 128; ++t) EXPECT_FALSE(RunThread(kBefore, {}, t));
    Meet();
    for (int t = 0; t < 128; ++t) EXPECT_FALSE(RunThread(kAfter, {}, t));
  }
  void Meet() {
    ++machine.epoch;
    machine.tensors.MeetAll();
  }
  uint64_t Allocate(uint64_t columns) {
    EXPECT_FALSE(Run(kAlloc, {kSlot, columns}));
    uint32_t address = 0;
    std::memcpy(&address, &machine.memory[kSlot], 4);
    machine.copies.Init(kBarrier, 1);
    return address;
  }
  // The mbarrier's phase is over.
  Fault Wait() {
    const Fault fault = machine.copies.HasLoads() ? machine.copies.FinishLoad() : absl::nullopt;
    Meet();
    return fault;
  }
  void FenceAfter() {
    for (int t = 0; t < 128; ++t) EXPECT_FALSE(RunThread(kAfter, {}, t));
  }

  FakeMachine machine;
  std::vector<Slots> out;
};

struct Kind {
  const char* kind;
  const char* operand;
  uint32_t number, accumulator;
};

struct Case {
  Kind kind;
  int m, n;
  int width;  // of the swizzle
  bool a_along_k, b_along_k;
};

uint64_t DescriptorBits(uint64_t address, int width, int rows) {
  const uint64_t swizzle = width == 128 ? 2 : width == 64 ? 4 : 6;
  return address >> 4 | static_cast<uint64_t>(rows * width >> 4 & 0x3fff) << 16 |
         static_cast<uint64_t>(8 * width >> 4) << 32 | uint64_t{1} << 46 | swizzle << 61;
}

uint32_t InstructionBits(const Case& c) {
  return c.kind.accumulator << 4 | c.kind.number << 7 | c.kind.number << 10 | (c.a_along_k ? 0u : 1u) << 15 |
         (c.b_along_k ? 0u : 1u) << 16 | static_cast<uint32_t>(c.n >> 3) << 17 | static_cast<uint32_t>(c.m >> 4) << 24;
}

// Small whole numbers, so that no sum is rounded, where the unit finds element (row, k).
std::vector<double> Fill(Block& block, uint64_t address, int width, int rows, int k, bool along_k, const PtxType& type,
                         int seed) {
  std::vector<double> numbers(rows * k);
  const int bytes = type.bits / 8, columns_per = width / bytes;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < k; ++c) {
      const int value = (r * 7 + c * 3 + seed) % 9 - (type.kind == 'u' ? 0 : 4);
      numbers[r * k + c] = value;
      const uint64_t bits = type.kind == 'f' ? SlotOf(value, type) : static_cast<uint8_t>(value);
      // Rows of `width` bytes, in columns of all rows; groups of 16 bytes exchanged by the row's number.
      const int row = along_k ? r : c, inner = along_k ? c : r;
      const int lines = along_k ? rows : k;
      uint64_t at = address + inner / columns_per * (lines * width) + row * width + inner % columns_per * bytes;
      at ^= (at >> 7 & (width / 16 - 1)) << 4;
      std::memcpy(&block.machine.memory[at], &bits, bytes);
    }
  }
  return numbers;
}

class Tcgen05 : public testing::TestWithParam<Case> {};

TEST_P(Tcgen05, MultipliesAsPlainLoops) {
  const Case& c = GetParam();
  const PtxType type = ParsePtxType(c.kind.operand);
  const int k = 256 / type.bits;
  Block block;
  const uint64_t d = block.Allocate(256);
  const std::vector<double> a = Fill(block, kA, c.width, c.m, k, c.a_along_k, type, 1);
  const std::vector<double> b = Fill(block, kB, c.width, c.n, k, c.b_along_k, type, 5);
  const uint64_t of_a = DescriptorBits(kA, c.width, c.a_along_k ? c.m : k),
                 of_b = DescriptorBits(kB, c.width, c.b_along_k ? c.n : k);
  const std::string mma = std::string("ptx:tcgen05.mma.cta_group::1.") + c.kind.kind + " 1 1 1 1 1";
  for (uint64_t adds : {0, 1})
    ASSERT_EQ(block.RunThread(mma, {d, of_a, of_b, InstructionBits(c), adds}), absl::nullopt);
  ASSERT_FALSE(block.RunThread(kCommit, {kBarrier}));
  ASSERT_FALSE(block.Wait());
  block.FenceAfter();
  for (int row0 = 0; row0 < c.m; row0 += 16) {
    const int lane0 = c.m == 128 ? row0 : 2 * row0;
    for (int col0 = 0; col0 < c.n; col0 += 8) {
      ASSERT_EQ(block.Run(kLoad, {d + (static_cast<uint64_t>(lane0) << 16) + col0}, lane0 / 32 * 32), absl::nullopt);
      for (int l = 0; l < 32; ++l) {
        for (int i = 0; i < 4; ++i) {
          const int row = row0 + l / 4 + 8 * (i / 2), col = col0 + l % 4 * 2 + i % 2;
          double sum = 0;
          for (int x = 0; x < k; ++x) sum += 2 * a[row * k + x] * b[col * k + x];
          const PtxType d_type = ParsePtxType(c.kind.accumulator == 2 ? "s32" : "f32");
          const uint64_t expected =
              d_type.kind == 'f' ? SlotOf(sum, d_type) : static_cast<uint32_t>(static_cast<int32_t>(sum));
          ASSERT_EQ(block.out[l][i], expected) << row << ", " << col;
        }
      }
    }
  }
}

constexpr Kind kF16Kind = {"kind::f16", "f16", 0, 1}, kBf16Kind = {"kind::f16", "bf16", 1, 1},
               kTf32Kind = {"kind::tf32", "tf32", 2, 1}, kE4m3Kind = {"kind::f8f6f4", "e4m3", 0, 1},
               kE5m2Kind = {"kind::f8f6f4", "e5m2", 1, 1}, kS8Kind = {"kind::i8", "s8", 1, 2},
               kU8Kind = {"kind::i8", "u8", 0, 2};
INSTANTIATE_TEST_SUITE_P(
    Shapes, Tcgen05,
    testing::Values(Case{kF16Kind, 128, 256, 128, true, true}, Case{kF16Kind, 64, 64, 128, true, true},
                    Case{kF16Kind, 128, 64, 64, true, false}, Case{kF16Kind, 128, 64, 128, false, false},
                    Case{kBf16Kind, 64, 32, 32, false, true}, Case{kBf16Kind, 128, 16, 32, true, true},
                    Case{kTf32Kind, 128, 128, 128, true, true}, Case{kE4m3Kind, 64, 128, 64, true, true},
                    Case{kE5m2Kind, 128, 32, 32, true, true}, Case{kS8Kind, 128, 64, 128, true, true},
                    Case{kU8Kind, 64, 8, 32, true, true}));

class Tcgen05Mistakes : public testing::Test {
 protected:
  // A product of zeros.
  Fault Multiply(uint64_t adds, int thread = 0) {
    const Case c = {kF16Kind, 128, 64, 128, true, true};
    return block_.RunThread("ptx:tcgen05.mma.cta_group::1.kind::f16 1 1 1 1 1",
                            {d_, DescriptorBits(kA, 128, 128), DescriptorBits(kB, 128, 64), InstructionBits(c), adds},
                            thread);
  }
  static std::string Text(const Fault& fault) { return fault.value_or("no fault"); }

  Block block_;
  uint64_t d_ = block_.Allocate(64);
};

TEST_F(Tcgen05Mistakes, ReadBeforeTheMbarrier) {
  ASSERT_FALSE(Multiply(0));
  ASSERT_FALSE(block_.RunThread(kCommit, {kBarrier}));
  EXPECT_THAT(Text(block_.Run(kLoad, {d_})), HasSubstr("nothing has waited for it"));
}

TEST_F(Tcgen05Mistakes, ReadWithoutAFenceAfterTheMbarrier) {
  ASSERT_FALSE(Multiply(0));
  ASSERT_FALSE(block_.RunThread(kCommit, {kBarrier}));
  ASSERT_FALSE(block_.Wait());
  EXPECT_THAT(Text(block_.Run(kLoad, {d_})), HasSubstr("fence::after_thread_sync"));
  block_.FenceAfter();
  EXPECT_FALSE(block_.Run(kLoad, {d_}));
}

TEST_F(Tcgen05Mistakes, ProductAfterAWriteOfAnotherWarp) {
  ASSERT_FALSE(block_.Run(kStore, {d_ + (32 << 16), 1, 2, 3, 4}, 32));
  EXPECT_THAT(Text(Multiply(1)), HasSubstr("no tcgen05.wait has ended"));
}

TEST_F(Tcgen05Mistakes, ProductAfterAnEndedWriteTakesAFence) {
  ASSERT_FALSE(block_.Run(kStore, {d_ + (32 << 16), 1, 2, 3, 4}, 32));
  ASSERT_FALSE(block_.Run(kWaitStore, {}, 32));
  EXPECT_THAT(Text(Multiply(1)), HasSubstr("fence::before_thread_sync"));
}

TEST_F(Tcgen05Mistakes, ProductAfterAPublishedWriteTakesABarrier) {
  ASSERT_FALSE(block_.Run(kStore, {d_ + (32 << 16), 1, 2, 3, 4}, 32));
  ASSERT_FALSE(block_.Run(kWaitStore, {}, 32));
  ASSERT_FALSE(block_.RunThread(kBefore, {}, 32));
  EXPECT_THAT(Text(Multiply(1)), HasSubstr("nothing that orders"));
}

TEST_F(Tcgen05Mistakes, ProductAfterABarrierTakesAFence) {
  ASSERT_FALSE(block_.Run(kStore, {d_ + (32 << 16), 1, 2, 3, 4}, 32));
  ASSERT_FALSE(block_.Run(kWaitStore, {}, 32));
  ASSERT_FALSE(block_.RunThread(kBefore, {}, 32));
  block_.Meet();
  EXPECT_THAT(Text(Multiply(1)), HasSubstr("fence::after_thread_sync"));
}

TEST_F(Tcgen05Mistakes, OrderedProductIsRight) {
  ASSERT_FALSE(block_.Run(kStore, {d_ + (32 << 16), 1, 2, 3, 4}, 32));
  ASSERT_FALSE(block_.Run(kWaitStore, {}, 32));
  block_.Synchronize();
  EXPECT_FALSE(Multiply(1));
}

TEST_F(Tcgen05Mistakes, ProductBeforeALoadHasEnded) {
  ASSERT_FALSE(block_.Run(kStore, {d_, 1, 2, 3, 4}));
  ASSERT_FALSE(block_.Run(kWaitStore));
  ASSERT_FALSE(block_.Run(kLoad, {d_}));
  EXPECT_THAT(Text(Multiply(0)), HasSubstr("no tcgen05.wait has ended"));
}

TEST_F(Tcgen05Mistakes, LanesOfAnotherWarp) {
  EXPECT_THAT(Text(block_.Run(kLoad, {d_ + (32 << 16)})), HasSubstr("cannot access"));
}

TEST_F(Tcgen05Mistakes, ColumnsThatAreNotAllocated) {
  EXPECT_THAT(Text(block_.Run(kLoad, {d_ - 8})), HasSubstr("not all allocated"));
}

TEST_F(Tcgen05Mistakes, Allocations) {
  EXPECT_THAT(Text(block_.Run(kAlloc, {kSlot, 48})), HasSubstr("no power of two"));
  EXPECT_THAT(Text(block_.Run(kAlloc, {kSlot, 512})), HasSubstr("wait forever"));
  EXPECT_THAT(Text(block_.Run(kDealloc, {d_, 32})), HasSubstr("no 32 columns"));
  ASSERT_FALSE(block_.Run(kRelinquish));
  EXPECT_THAT(Text(block_.Run(kAlloc, {kSlot, 32})), HasSubstr("relinquished"));
  EXPECT_FALSE(block_.machine.tensors.Clear());  // 64 columns are left
}

TEST_F(Tcgen05Mistakes, GivenBackDuringAProduct) {
  ASSERT_FALSE(Multiply(0));
  EXPECT_THAT(Text(block_.Run(kDealloc, {d_, 64})), HasSubstr("while it is accessed"));
}

TEST_F(Tcgen05Mistakes, LeavesNothingWhenGivenBack) {
  ASSERT_FALSE(block_.Run(kDealloc, {d_, 64}));
  EXPECT_TRUE(block_.machine.tensors.Clear());
}

TEST_F(Tcgen05Mistakes, DescriptorsOfWgmma) {
  const Case c = {kF16Kind, 128, 64, 128, true, true};
  const uint64_t wgmma = uint64_t{1} << 62 | uint64_t{64} << 32 | kA >> 4;
  EXPECT_THAT(Text(block_.RunThread("ptx:tcgen05.mma.cta_group::1.kind::f16 1 1 1 1 1",
                                    {d_, wgmma, wgmma, InstructionBits(c), 0})),
              HasSubstr("matrix descriptor"));
  EXPECT_THAT(
      Text(block_.RunThread("ptx:tcgen05.mma.cta_group::1.kind::i8 1 1 1 1 1",
                            {d_, DescriptorBits(kA, 128, 128), DescriptorBits(kB, 128, 64), InstructionBits(c), 0})),
      HasSubstr("instruction descriptor"));
}

// It reads what is there when somebody waits for it.
TEST_F(Tcgen05Mistakes, OperandChangedTooEarly) {
  Fill(block_, kA, 128, 128, 16, true, ParsePtxType("f16"), 1);
  const std::vector<double> b = Fill(block_, kB, 128, 64, 16, true, ParsePtxType("f16"), 5);
  ASSERT_FALSE(Multiply(0));
  ASSERT_FALSE(block_.RunThread(kCommit, {kBarrier}));
  std::memset(&block_.machine.memory[kA], 0, 128 * 128);
  ASSERT_FALSE(block_.Wait());
  block_.FenceAfter();
  ASSERT_FALSE(block_.Run(kLoad, {d_}));
  EXPECT_EQ(block_.out[1][0], 0u);
  EXPECT_FALSE(block_.Run(kWaitLoad));
}

}  // namespace
}  // namespace tritond::workers::emulated
