// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/place_buffers.h"

#include <algorithm>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace tritond::compiler {
namespace {

int64_t BusiestStep(const std::vector<TimedBuffer>& buffers) {
  int64_t most = 0;
  for (const TimedBuffer& at : buffers) {
    int64_t live = 0;
    for (const TimedBuffer& b : buffers) live += b.first <= at.first && at.first < b.last ? b.bytes : 0;
    most = std::max(most, live);
  }
  return most;
}

void ExpectValid(const std::vector<TimedBuffer>& buffers, int64_t total) {
  int64_t end = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const TimedBuffer& a = buffers[i];
    EXPECT_GE(a.offset, 0);
    EXPECT_EQ(a.offset % a.alignment, 0) << "buffer " << i;
    end = std::max(end, a.offset + a.bytes);
    for (size_t j = 0; j < i; ++j) {
      const TimedBuffer& b = buffers[j];
      bool same_time = a.first < b.last && b.first < a.last;
      bool same_place = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      EXPECT_FALSE(same_time && same_place) << "buffers " << i << " and " << j;
    }
  }
  EXPECT_EQ(total, end);
}

TEST(PlaceBuffers, NothingNeedsNoMemory) {
  std::vector<TimedBuffer> none;
  EXPECT_EQ(PlaceBuffers(absl::MakeSpan(none)), 0);
}

TEST(PlaceBuffers, BuffersThatNeverLiveTogetherShareTheirPlace) {
  std::vector<TimedBuffer> buffers{{512, 128, 0, 3}, {1024, 128, 3, 5}, {256, 128, 5, 6}};
  EXPECT_EQ(PlaceBuffers(absl::MakeSpan(buffers)), 1024);
  for (const TimedBuffer& buffer : buffers) EXPECT_EQ(buffer.offset, 0);
}

TEST(PlaceBuffers, BuffersThatLiveTogetherDoNotOverlap) {
  std::vector<TimedBuffer> buffers{{512, 128, 0, 4}, {1024, 128, 3, 5}};
  EXPECT_EQ(PlaceBuffers(absl::MakeSpan(buffers)), 1536);
  ExpectValid(buffers, 1536);
}

TEST(PlaceBuffers, OffsetsAreAligned) {
  std::vector<TimedBuffer> buffers{{100, 16, 0, 2}, {16, 16, 0, 2}, {1024, 128, 0, 2}, {1024, 1024, 0, 2}};
  ExpectValid(buffers, PlaceBuffers(absl::MakeSpan(buffers)));
  EXPECT_EQ(buffers[1].offset, 2160);  // 100 bytes after 2048, rounded up
}

TEST(PlaceBuffers, TheBestOfSeveralOrdersIsTaken) {
  // By size the short large buffers would leave a hole; the chain fits exactly when the long one goes first.
  std::vector<TimedBuffer> buffers{{64, 1, 0, 10}, {96, 1, 0, 3}, {96, 1, 3, 6}, {96, 1, 6, 10}};
  EXPECT_EQ(PlaceBuffers(absl::MakeSpan(buffers)), 160);
  ExpectValid(buffers, 160);
}

TEST(PlaceBuffers, RandomProgramsAreValidAndClose) {
  std::mt19937 random(7);
  auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  int64_t sum = 0, bounds = 0;
  for (int program = 0; program < 500; ++program) {
    std::vector<TimedBuffer> buffers(pick(1, 40));
    int steps = pick(1, 60);
    for (TimedBuffer& buffer : buffers) {
      buffer.first = pick(0, steps - 1);
      buffer.last = std::min(steps, buffer.first + pick(1, 12));
      buffer.alignment = int64_t{16} << pick(0, 4);
      buffer.bytes = pick(0, 1) ? int64_t{128} << pick(0, 7) : pick(1, 3000);
    }
    int64_t total = PlaceBuffers(absl::MakeSpan(buffers));
    ExpectValid(buffers, total);
    EXPECT_GE(total, BusiestStep(buffers));
    sum += total;
    bounds += BusiestStep(buffers);
  }
  EXPECT_LE(sum, bounds * 1.1);
}

}  // namespace
}  // namespace tritond::compiler
