// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_DEVICE_CONTRACT_H_
#define TESTS_SUPPORT_DEVICE_CONTRACT_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "workers/device/device.h"

// What every Device promises, as tests. A device runs them with one line in its own test, and brings the kernels:
//
//   vector_add(a, b, out: pointers to f32, n: i32)   out[i] = a[i] + b[i] for i < n; 64 elements a program
//   count_programs(out: pointer to i32)              out[program] += program + 1, axis 0 fastest
//   store_scalars(out: pointer to f64, i8, i16, i32, i64, f32, f64)   out[0…5] = the scalars
//   use_scratch(out: pointer to i32)                 out[program] = 100 * program + 15, by way of 64 bytes of its
//   scratch
//   use_shared(out: pointer to i32)                  out[64 * program + i] = 100 * program + 63 - i for its threads i,
//   by way of 256 bytes of shared memory
//
// in one binary, each for 2 warps of 32 threads and with both scratch pointers after its parameters. Where the device
// is absent, `open` gives a status that is not Ok, and the tests are skipped with it.
namespace tritond::workers {

struct DeviceMaker {
  std::string name;  // for the tests' names
  std::function<absl::StatusOr<std::unique_ptr<Device>>()> open;
  std::function<std::string()> kernels;  // the binary
  std::string target;                    // what Target() begins with

  friend std::ostream& operator<<(std::ostream& out, const DeviceMaker& maker) { return out << maker.name; }
};

template <typename T>
std::vector<T> ReadBuffer(Device& device, const Buffer& buffer, size_t count) {
  std::vector<T> values(count);
  EXPECT_TRUE(
      device.CopyOut(buffer, 0, absl::MakeSpan(reinterpret_cast<char*>(values.data()), count * sizeof(T))).ok());
  return values;
}

// A buffer with these values.
template <typename T>
Buffer MakeBuffer(Device& device, const std::vector<T>& values) {
  auto buffer = device.Allocate(values.size() * sizeof(T));
  EXPECT_TRUE(buffer.ok()) << buffer.status();
  if (!buffer.ok()) return Buffer();
  const auto bytes = absl::MakeSpan(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  EXPECT_TRUE(device.CopyIn(*buffer, 0, bytes).ok());
  return *std::move(buffer);
}

class DeviceContract : public testing::TestWithParam<DeviceMaker> {
 protected:
  void SetUp() override {
    auto device = GetParam().open();
    if (!device.ok()) GTEST_SKIP() << device.status();
    device_ = *std::move(device);
  }

  static KernelInfo Info(const std::string& name) {
    KernelInfo info;
    info.name = name;
    info.num_warps = 2;
    return info;
  }

  std::unique_ptr<Kernel> Load(const KernelInfo& info) {
    auto kernel = device_->Load(GetParam().kernels(), info);
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    return kernel.ok() ? *std::move(kernel) : nullptr;
  }
  std::unique_ptr<Kernel> Load(const std::string& name) { return Load(Info(name)); }

  std::unique_ptr<Device> device_;
};

TEST_P(DeviceContract, SaysWhatItIs) {
  EXPECT_THAT(device_->Name(), testing::MatchesRegex("[a-z_]+:[0-9]+"));
  EXPECT_THAT(device_->Target(), testing::StartsWith(GetParam().target));
  EXPECT_NE(device_->Model(), "");
  EXPECT_NE(device_->Driver(), "");
}

TEST_P(DeviceContract, CopiesToAndFromOffsets) {
  const Buffer buffer = MakeBuffer<char>(*device_, {'a', 'b', 'c', 'd'});
  ASSERT_TRUE(device_->CopyIn(buffer, 1, {'x', 'y'}).ok());
  EXPECT_THAT(ReadBuffer<char>(*device_, buffer, 4), testing::ElementsAre('a', 'x', 'y', 'd'));
  std::vector<char> last(2);
  ASSERT_TRUE(device_->CopyOut(buffer, 2, absl::MakeSpan(last)).ok());
  EXPECT_THAT(last, testing::ElementsAre('y', 'd'));
}

TEST_P(DeviceContract, CopiesOutsideABufferAreInvalid) {
  const Buffer buffer = MakeBuffer<char>(*device_, {'a', 'b', 'c', 'd'});
  std::vector<char> bytes(2);
  EXPECT_EQ(device_->CopyIn(buffer, 3, bytes).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(device_->CopyOut(buffer, UINT64_MAX, absl::MakeSpan(bytes)).code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(DeviceContract, PinnedBytesAreCopiedLikeOthers) {
  std::vector<char> bytes(size_t{2} << 20, 'a'), back(bytes.size(), 'b');
  const PinnedBytes in = device_->Pin(bytes);
  PinnedBytes out = device_->Pin(back);
  const PinnedBytes moved = std::move(out);
  auto buffer = device_->Allocate(bytes.size());
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  ASSERT_TRUE(device_->CopyIn(*buffer, 0, bytes).ok());
  ASSERT_TRUE(device_->CopyOut(*buffer, 0, absl::MakeSpan(back)).ok());
  EXPECT_EQ(bytes, back);
}

TEST_P(DeviceContract, BuffersAreAlignedAndMove) {
  Buffer buffer = MakeBuffer<char>(*device_, {'a'});
  EXPECT_EQ(buffer.address() % 256, 0u);
  EXPECT_EQ(buffer.size(), 1u);
  const uint64_t address = buffer.address();
  Buffer other = std::move(buffer);
  EXPECT_EQ(other.address(), address);
  EXPECT_THAT(ReadBuffer<char>(*device_, other, 1), testing::ElementsAre('a'));
}

TEST_P(DeviceContract, NoDeviceHasThatMuchMemory) {
  EXPECT_EQ(device_->Allocate(uint64_t{1} << 50).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_P(DeviceContract, RejectsWhatIsNoBinary) {
  for (const std::string& rubbish : {std::string(), std::string("rubbish"), std::string(4096, '\xff')}) {
    EXPECT_EQ(device_->Load(rubbish, Info("vector_add")).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_P(DeviceContract, NamesTheKernelThatABinaryLacks) {
  const auto kernel = device_->Load(GetParam().kernels(), Info("no_such_kernel"));
  EXPECT_EQ(kernel.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(kernel.status().message(), testing::HasSubstr("no_such_kernel"));
}

TEST_P(DeviceContract, RunsAKernel) {
  const auto kernel = Load("vector_add");
  ASSERT_NE(kernel, nullptr);
  std::vector<float> a(100), b(100);
  for (int i = 0; i < 100; ++i) a[i] = i, b[i] = 1000;
  const Buffer in_a = MakeBuffer(*device_, a), in_b = MakeBuffer(*device_, b);
  const Buffer out = MakeBuffer(*device_, std::vector<float>(100, -1));
  const std::vector<Argument> arguments = {Argument::Pointer(in_a), Argument::Pointer(in_b), Argument::Pointer(out),
                                           Argument::Scalar<int32_t>(99)};
  const absl::Status launched = device_->Launch(*kernel, Grid{2}, arguments);
  ASSERT_TRUE(launched.ok()) << launched;
  const std::vector<float> sums = ReadBuffer<float>(*device_, out, 100);
  for (int i = 0; i < 99; ++i) ASSERT_EQ(sums[i], i + 1000) << i;
  EXPECT_EQ(sums[99], -1);
}

TEST_P(DeviceContract, RunsEveryProgramOfAGridOnce) {
  const auto kernel = Load("count_programs");
  ASSERT_NE(kernel, nullptr);
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(31, 0));
  const absl::Status launched = device_->Launch(*kernel, Grid{2, 3, 5}, {Argument::Pointer(out)});
  ASSERT_TRUE(launched.ok()) << launched;
  const std::vector<int32_t> counts = ReadBuffer<int32_t>(*device_, out, 31);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(counts[i], i + 1);
  EXPECT_EQ(counts[30], 0);
}

TEST_P(DeviceContract, PointersMayPointInsideBuffers) {
  const auto kernel = Load("count_programs");
  ASSERT_NE(kernel, nullptr);
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(4, 7));
  ASSERT_TRUE(device_->Launch(*kernel, Grid{2}, {Argument::Pointer(out, 8)}).ok());
  EXPECT_THAT(ReadBuffer<int32_t>(*device_, out, 4), testing::ElementsAre(7, 7, 8, 9));
}

TEST_P(DeviceContract, ScalarsArriveAsTheyWereGiven) {
  const auto kernel = Load("store_scalars");
  ASSERT_NE(kernel, nullptr);
  const Buffer out = MakeBuffer(*device_, std::vector<double>(6, 0));
  const absl::Status launched =
      device_->Launch(*kernel, Grid{1},
                      {Argument::Pointer(out), Argument::Scalar<int8_t>(-5), Argument::Scalar<int16_t>(-300),
                       Argument::Scalar<int32_t>(-70000), Argument::Scalar<int64_t>(int64_t{1} << 40),
                       Argument::Scalar(1.5f), Argument::Scalar(2.25)});
  ASSERT_TRUE(launched.ok()) << launched;
  EXPECT_THAT(ReadBuffer<double>(*device_, out, 6), testing::ElementsAre(-5, -300, -70000, 1099511627776.0, 1.5, 2.25));
}

TEST_P(DeviceContract, EveryProgramHasScratchOfItsOwn) {
  KernelInfo info = Info("use_scratch");
  info.global_scratch_size = 64;
  info.global_scratch_align = 16;
  const auto kernel = Load(info);
  ASSERT_NE(kernel, nullptr);
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(3, 0));
  const absl::Status launched = device_->Launch(*kernel, Grid{3}, {Argument::Pointer(out)});
  ASSERT_TRUE(launched.ok()) << launched;
  EXPECT_THAT(ReadBuffer<int32_t>(*device_, out, 3), testing::ElementsAre(15, 115, 215));
}

TEST_P(DeviceContract, EveryProgramHasSharedMemoryOfItsOwn) {
  KernelInfo info = Info("use_shared");
  info.shared = 256;
  const auto kernel = Load(info);
  ASSERT_NE(kernel, nullptr);
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(128, 0));
  const absl::Status launched = device_->Launch(*kernel, Grid{2}, {Argument::Pointer(out)});
  ASSERT_TRUE(launched.ok()) << launched;
  const std::vector<int32_t> values = ReadBuffer<int32_t>(*device_, out, 128);
  for (int i = 0; i < 128; ++i) EXPECT_EQ(values[i], i / 64 * 100 + 63 - i % 64) << i;
}

TEST_P(DeviceContract, AnEmptyGridIsInvalid) {
  const auto kernel = Load("count_programs");
  ASSERT_NE(kernel, nullptr);
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(1, 0));
  EXPECT_EQ(device_->Launch(*kernel, Grid{1, 0, 1}, {Argument::Pointer(out)}).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(DeviceContract, ArgumentsMustMatchTheKernelsParameters) {
  KernelInfo info = Info("count_programs");
  info.parameter_bytes = {8};
  const auto kernel = Load(info);
  ASSERT_NE(kernel, nullptr);
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(1, 0));
  EXPECT_EQ(device_->Launch(*kernel, Grid{1}, {}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(device_->Launch(*kernel, Grid{1}, {Argument::Scalar(int32_t{1})}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(device_->Launch(*kernel, Grid{1}, {Argument::Pointer(out)}).ok());
}

TEST_P(DeviceContract, TimesEachCountedLaunch) {
  const auto kernel = Load("count_programs");
  ASSERT_NE(kernel, nullptr);
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(1, 0));
  TimingOptions options;
  options.warmup = 2;
  options.samples = 3;
  options.flush_l2 = true;
  const auto times = device_->Time(*kernel, Grid{1}, {Argument::Pointer(out)}, options);
  ASSERT_TRUE(times.ok()) << times.status();
  EXPECT_EQ(times->size(), 3u);
  for (const absl::Duration time : *times) EXPECT_GT(time, absl::ZeroDuration());
  EXPECT_THAT(ReadBuffer<int32_t>(*device_, out, 1), testing::ElementsAre(5));
}

TEST_P(DeviceContract, RefusesAKernelOfAnotherDevice) {
  const auto kernel = Load("count_programs");
  ASSERT_NE(kernel, nullptr);
  auto other = GetParam().open();
  ASSERT_TRUE(other.ok());
  const Buffer out = MakeBuffer(**other, std::vector<int32_t>(1, 0));
  EXPECT_EQ((*other)->Launch(*kernel, Grid{1}, {Argument::Pointer(out)}).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace tritond::workers

#endif  // TESTS_SUPPORT_DEVICE_CONTRACT_H_
