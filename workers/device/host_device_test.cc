// SPDX-License-Identifier: Apache-2.0
#include "workers/device/host_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "tests/support/device_contract.h"

namespace tritond::workers {
namespace {

using testing::HasSubstr;

std::string TestKernels() {
  std::ifstream file(TRITOND_TEST_KERNELS, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

INSTANTIATE_TEST_SUITE_P(Host, DeviceContract,
                         testing::Values(DeviceMaker{"host", [] { return OpenDevice("host"); }, TestKernels, "host"}));

DeviceOptions TwoSystemThreads() {
  DeviceOptions options;
  options.threads = 2;
  return options;
}

INSTANTIATE_TEST_SUITE_P(HostOnTwoThreads, DeviceContract,
                         testing::Values(DeviceMaker{"host2", [] { return OpenDevice("host", TwoSystemThreads()); },
                                                     TestKernels, "host"}));

class HostDevice : public testing::Test {
 protected:
  void Open(const DeviceOptions& options) { device_ = NewHostDevice(options); }
  void SetUp() override { Open({}); }

  std::unique_ptr<Kernel> Load(const std::string& name, int warps = 2, int shared = 256) {
    KernelInfo info;
    info.name = name;
    info.num_warps = warps;
    info.shared = shared;
    auto kernel = device_->Load(TestKernels(), info);
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    return *std::move(kernel);
  }
  // Runs the kernel with 64 threads and 256 bytes of shared memory.
  absl::Status Run(const std::string& name, const std::vector<Argument>& arguments = {}, Grid grid = {}) {
    return device_->Launch(*Load(name), grid, arguments);
  }
  // Every failure leaves the device as it was.
  void ExpectDeviceWorks() {
    const Buffer out = MakeBuffer<int32_t>(*device_, std::vector<int32_t>(2, 0));
    const absl::Status status = device_->Launch(*Load("reduce", 4), Grid{2}, {Argument::Pointer(out)});
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_THAT(ReadBuffer<int32_t>(*device_, out, 2), testing::Each(127 * 64));
  }
  void ExpectFails(const absl::Status& status, absl::StatusCode code, const std::vector<std::string>& words) {
    EXPECT_EQ(status.code(), code) << status;
    for (const std::string& word : words) EXPECT_THAT(std::string(status.message()), HasSubstr(word));
    ExpectDeviceWorks();
  }

  std::unique_ptr<Device> device_;
};

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST_F(HostDevice, ThreadsMeetAtBarriersAndShuffles) { ExpectDeviceWorks(); }

TEST_F(HostDevice, ProgramsOnSeveralSystemThreadsDoNotMeet) {
  Open(TwoSystemThreads());
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(100, 0));
  const absl::Status status = device_->Launch(*Load("reduce", 4), Grid{100}, {Argument::Pointer(out)});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(ReadBuffer<int32_t>(*device_, out, 100), testing::Each(127 * 64));
}

TEST_F(HostDevice, WarpBarriersOrderTheirWarp) {
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(64, 0));
  const absl::Status status = Run("reverse_in_warp", {Argument::Pointer(out), Argument::Scalar(int32_t{0})});
  ASSERT_TRUE(status.ok()) << status;
  const auto values = ReadBuffer<int32_t>(*device_, out, 64);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(values[i], i / 32 * 32 + 31 - i % 32);
}

TEST_F(HostDevice, WarpsMayKeepCopiesInOnePlace) {
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(64, 0));
  const absl::Status status = Run("reverse_in_warp", {Argument::Pointer(out), Argument::Scalar(int32_t{1})}, Grid{3});
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(HostDevice, AMissingBarrierIsARace) {
  const auto kernel = Load("missing_barrier", 4, 512);
  ExpectFails(device_->Launch(*kernel, Grid{1}, {}), kInvalid, {"race", "kernel.py:10:3 (kernel)", "kernel.py:11:3"});
}

TEST_F(HostDevice, AWarpBarrierDoesNotOrderTwoWarps) {
  ExpectFails(Run("weak_barrier"), kInvalid, {"race", "kernel.py:10", "kernel.py:12"});
}

TEST_F(HostDevice, DifferentValuesWrittenToOnePlaceAreARace) {
  ExpectFails(Run("race_of_writes", {Argument::Scalar(int32_t{0})}), kInvalid,
              {"race on byte 20", "thread 0 wrote", "thread 1 writes", "kernel.py:20"});
}

TEST_F(HostDevice, TheSameValueWrittenByAllIsNoRace) {
  EXPECT_TRUE(Run("race_of_writes", {Argument::Scalar(int32_t{1})}).ok());
}

TEST_F(HostDevice, OverwritingWhatOthersReadIsARace) {
  ExpectFails(Run("write_after_read"), kInvalid, {"race", "thread 5 writes", "kernel.py:31", "kernel.py:32"});
}

TEST_F(HostDevice, AtomicsOfAWarpDoNotRaceAfterItsBarrier) {
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(2, 0));
  const absl::Status status = Run("count_in_warps", {Argument::Pointer(out)});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(ReadBuffer<int32_t>(*device_, out, 2), testing::ElementsAre(32, 32));
}

TEST_F(HostDevice, AtomicsDoNotRaceWithEachOther) {
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(1, 0));
  const absl::Status status = Run("count_in_shared", {Argument::Pointer(out)});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(ReadBuffer<int32_t>(*device_, out, 1), testing::ElementsAre(64));
}

TEST_F(HostDevice, AnAtomicRacesWithAPlainWrite) {
  ExpectFails(Run("atomic_and_plain"), kInvalid, {"race", "kernel.py:40", "kernel.py:41"});
}

TEST_F(HostDevice, CopiesArriveWithTheWaitForTheirGroup) {
  std::vector<int32_t> values(128);
  for (int i = 0; i < 128; ++i) values[i] = 100 + i;
  const Buffer in = MakeBuffer(*device_, values), out = MakeBuffer(*device_, std::vector<int32_t>(128, 0));
  const auto kernel = Load("copy_to_shared", 2, 512);
  for (int num : {0, 1}) {
    const absl::Status status = device_->Launch(
        *kernel, Grid{1},
        {Argument::Pointer(in), Argument::Pointer(out), Argument::Scalar(int32_t{num}), Argument::Scalar(int32_t{1})});
    ASSERT_TRUE(status.ok()) << status;
    const auto result = ReadBuffer<int32_t>(*device_, out, 128);
    for (int i = 0; i < 64; ++i) {
      EXPECT_EQ(result[i], 100 + 63 - i);
      // A group that nobody has waited for has not arrived, and leaves nothing of what was there before.
      EXPECT_EQ(result[64 + i], num == 1 ? 0x5A5A5A5A : i % 2 ? 0 : 164 + i);
    }
  }
}

TEST_F(HostDevice, LanesThatControlFlowKeepsAwayAreNotWaitedFor) {
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(4 * 64, 0));
  const absl::Status status = Run("divergent_lanes", {Argument::Pointer(out)});
  ASSERT_TRUE(status.ok()) << status;
  const auto result = ReadBuffer<int32_t>(*device_, out, 4 * 64);
  for (int i = 0; i < 64; ++i) {
    const int first = i / 32 * 32, eighth = i % 32 / 8;
    EXPECT_THAT(std::vector<int32_t>(result.begin() + 4 * i, result.begin() + 4 * i + 4),
                testing::ElementsAre(eighth == 1 ? first + 8 : -1, eighth, first, first))
        << i;
  }
}

TEST_F(HostDevice, SomeInstructionsNeedAllLanes) {
  ExpectFails(Run("matrix_of_some_lanes"), kInvalid, {"lane 5 does not take part", "wmma", "kernel.py:106"});
}

TEST_F(HostDevice, LoadsToSharedMemoryArriveWithTheWaitOfTheirWave) {
  std::vector<int32_t> values(128);
  for (int i = 0; i < 128; ++i) values[i] = 100 + i;
  const Buffer in = MakeBuffer(*device_, values), out = MakeBuffer(*device_, std::vector<int32_t>(128, 0));
  const auto kernel = Load("load_to_shared", 2, 512);
  for (int num : {0, 1}) {
    const absl::Status status = device_->Launch(
        *kernel, Grid{1}, {Argument::Pointer(in), Argument::Pointer(out), Argument::Scalar(int32_t{num})});
    ASSERT_TRUE(status.ok()) << status;
    const auto result = ReadBuffer<int32_t>(*device_, out, 128);
    for (int i = 0; i < 64; ++i) {
      EXPECT_EQ(result[i], 100 + (i ^ 1)) << num;
      if (i % 2) EXPECT_EQ(result[64 + i], num == 1 ? 0x5A5A5A5A : 164 + (i ^ 1));
    }
  }
}

TEST_F(HostDevice, ReadingTheCopiesOfOthersWithoutABarrierIsARace) {
  const Buffer in = MakeBuffer(*device_, std::vector<int32_t>(128, 7)),
               out = MakeBuffer(*device_, std::vector<int32_t>(128, 0));
  ExpectFails(device_->Launch(*Load("copy_to_shared", 2, 512), Grid{1},
                              {Argument::Pointer(in), Argument::Pointer(out), Argument::Scalar(int32_t{0}),
                               Argument::Scalar(int32_t{0})}),
              kInvalid, {"race", "kernel.py:80", "kernel.py:86"});
}

TEST_F(HostDevice, CopyingOverWhatOthersReadIsARace) {
  const Buffer in = MakeBuffer(*device_, std::vector<int32_t>(1, 1));
  ExpectFails(Run("copy_over_read", {Argument::Pointer(in)}), kInvalid, {"race", "thread 5 writes", "kernel.py:93"});
}

TEST_F(HostDevice, CopiesMustStayInBounds) {
  const Buffer in = MakeBuffer(*device_, std::vector<int32_t>(16, 1)),
               out = MakeBuffer(*device_, std::vector<int32_t>(128, 0));
  ExpectFails(device_->Launch(*Load("copy_to_shared", 2, 512), Grid{1},
                              {Argument::Pointer(in), Argument::Pointer(out), Argument::Scalar(int32_t{0}),
                               Argument::Scalar(int32_t{1})}),
              kInvalid, {"out of bounds", "kernel.py:81"});
}

TEST_F(HostDevice, SharedMemoryStartsAsAPattern) {
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(64, 0));
  ASSERT_TRUE(Run("read_unwritten", {Argument::Pointer(out)}).ok());
  EXPECT_THAT(ReadBuffer<int32_t>(*device_, out, 64), testing::Each(static_cast<int32_t>(0xA5A5A5A5)));
}

TEST_F(HostDevice, ReadingUnwrittenSharedMemoryIsAnErrorOnRequest) {
  DeviceOptions options;
  options.check_uninitialized = true;
  Open(options);
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(64, 0));
  ExpectFails(Run("read_unwritten", {Argument::Pointer(out)}), kInvalid, {"has not written", "kernel.py:51"});
}

TEST_F(HostDevice, SharedMemoryEndsWhereTheKernelSays) {
  ExpectFails(Run("outside_shared"), kInvalid, {"at byte 256 of the program's 256", "kernel.py:60"});
}

TEST_F(HostDevice, AccessesStayInsideBuffers) {
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(65, 0));
  EXPECT_TRUE(Run("store_at", {Argument::Pointer(out), Argument::Scalar(int64_t{1})}).ok());
  ExpectFails(Run("store_at", {Argument::Pointer(out), Argument::Scalar(int64_t{5})}), kInvalid,
              {"out of bounds", "writes 4 bytes 0 bytes past the end of the buffer of argument 0 (260 bytes)",
               "thread 60", "program (0, 0, 0)", "kernel.py:70"});
  ExpectFails(Run("store_at", {Argument::Pointer(out), Argument::Scalar(int64_t{-3})}), kInvalid,
              {"12 bytes before the start of the buffer of argument 0"});
  ExpectFails(Run("store_at", {Argument::Pointer(out, 2), Argument::Scalar(int64_t{64})}), kInvalid,
              {"from byte 258 of the buffer of argument 0", "across its end"});
  ExpectFails(Run("store_at", {Argument::NullPointer(), Argument::Scalar(int64_t{3})}), kInvalid, {"null pointer"});
}

TEST_F(HostDevice, FreedBuffersAreOutOfBounds) {
  Argument dangling = Argument::NullPointer();
  {
    const Buffer gone = MakeBuffer(*device_, std::vector<int32_t>(64, 0));
    dangling = Argument::Pointer(gone);
  }
  ExpectFails(Run("store_at", {dangling, Argument::Scalar(int64_t{0})}), kInvalid, {"out of bounds"});
}

TEST_F(HostDevice, AnEndedThreadIsMissedAtABarrier) {
  ExpectFails(Run("early_exit"), kInvalid, {"diverge", "a barrier at kernel.py:80", "thread 40 has ended"});
}

TEST_F(HostDevice, ThreadsMustMeetAtOneBarrier) {
  ExpectFails(Run("two_barriers"), kInvalid, {"diverge", "kernel.py:81", "kernel.py:82"});
}

TEST_F(HostDevice, ThreadsThatWaitForEachOtherAreNamed) {
  ExpectFails(Run("warp_against_all"), kInvalid,
              {"diverge", "a barrier of its warp at kernel.py:83", "a barrier at kernel.py:84"});
}

TEST_F(HostDevice, ShufflesStayInTheirWarp) {
  EXPECT_TRUE(Run("shuffle_from", {Argument::Scalar(uint32_t{31})}).ok());
  ExpectFails(Run("shuffle_from", {Argument::Scalar(uint32_t{32})}), kInvalid,
              {"shuffle from lane 32 of a warp of 32", "kernel.py:85"});
}

TEST_F(HostDevice, ALaunchThatNeverEndsIsEnded) {
  for (const int threads : {1, 2}) {
    DeviceOptions options;
    options.launch_limit = absl::Milliseconds(50);
    options.threads = threads;
    Open(options);
    const Buffer flag = MakeBuffer(*device_, std::vector<int32_t>(1, 0));
    EXPECT_EQ(Run("wait_forever", {Argument::Pointer(flag)}, Grid{4}).code(), absl::StatusCode::kDeadlineExceeded);
  }
}

TEST_F(HostDevice, AFailedAssertionEndsTheLaunch) {
  ExpectFails(Run("fail_in_program_3", {}, Grid{2, 4}), absl::StatusCode::kAborted,
              {"program (1, 1, 0), thread 2", "index out of range", "kernel.py:92"});
  Open(TwoSystemThreads());
  ExpectFails(Run("fail_in_program_3", {}, Grid{2, 4}), absl::StatusCode::kAborted, {"index out of range"});
}

TEST_F(HostDevice, PrintsToItsSink) {
  std::string printed;
  DeviceOptions options;
  options.print = [&](absl::string_view text) { absl::StrAppend(&printed, text); };
  Open(options);
  ASSERT_TRUE(Run("print_thread").ok());
  EXPECT_TRUE(absl::StartsWith(printed, "thread 0 says hi 0.50\nthread 1 says hi 0.50\n")) << printed;
}

TEST_F(HostDevice, ThreadsHaveRoomForLargeFrames) {
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(1, 0));
  ASSERT_TRUE(Run("use_stack", {Argument::Pointer(out)}).ok());
  EXPECT_THAT(ReadBuffer<int32_t>(*device_, out, 1), testing::ElementsAre(32767));
}

TEST_F(HostDevice, LoadSaysWhyAKernelCannotRun) {
  KernelInfo info;
  info.name = "reduce";
  info.num_warps = 64;
  EXPECT_EQ(device_->Load(TestKernels(), info).status().code(), kInvalid);
  info.num_warps = 4;
  info.shared = 1 << 20;
  EXPECT_EQ(device_->Load(TestKernels(), info).status().code(), absl::StatusCode::kResourceExhausted);
  info.shared = 0;
  const std::string kernels = TestKernels();
  EXPECT_THAT(std::string(device_->Load(kernels.substr(0, 2000), info).status().message()), HasSubstr("truncated"));
}

TEST_F(HostDevice, AnObjectOfAnotherOriginIsNamed) {
  std::ifstream file(TRITOND_FOREIGN_OBJECT, std::ios::binary);
  const std::string foreign(std::istreambuf_iterator<char>(file), {});
  KernelInfo info;
  info.name = "reduce";
  EXPECT_THAT(std::string(device_->Load(foreign, info).status().message()), HasSubstr("not made by the host target"));
}

// The loader tells libraries apart by their paths, and files in memory may get the same path again.
TEST_F(HostDevice, KernelsLoadedInTurnAreNotMixedUp) {
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(128, 0));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(Run("count_in_shared", {Argument::Pointer(out)}).ok());
    const auto first = Load("reduce", 4), second = Load("count_programs");
    EXPECT_TRUE(device_->Launch(*second, Grid{1}, {Argument::Pointer(out)}).ok());
    EXPECT_TRUE(device_->Launch(*first, Grid{1}, {Argument::Pointer(out)}).ok());
    EXPECT_EQ(ReadBuffer<int32_t>(*device_, out, 1)[0], 127 * 64);
  }
}

TEST(OpenDevice, NamesWhatItDoesNotKnow) {
  EXPECT_EQ(OpenDevice("abacus:0").status().code(), kInvalid);
  EXPECT_THAT(DeviceNames(), testing::Contains("host:0"));
}

}  // namespace
}  // namespace tritond::workers
