// SPDX-License-Identifier: Apache-2.0
// Devices of all GPU drivers. The contract runs on real ones of AMD and Intel, where they are present, and on libraries
// that fake the drivers. cuda_device_test has NVIDIA's. The fakes also play what no real device does on demand: faults,
// lost devices, a clock that is known.
#include "workers/device/gpu_device.h"

#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/support/device_contract.h"
#include "workers/device/devices.h"
#include "workers/device/intel_architecture.h"

namespace tritond::workers {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string ContractSpirv() { return ReadFile(TRITOND_CONTRACT_SPIRV); }

// For the architecture of hip:0.
std::string ContractHsaco() {
  const auto device = OpenDevice("hip:0");
  if (!device.ok()) return "";
  const std::string path = absl::StrCat(testing::TempDir(), "contract_kernels.hsaco");
  const std::string architecture = (*device)->Target().substr(4);
  const std::string command = absl::StrCat(TRITOND_COMPILE_HSACO, " --offload-arch=", architecture, " -o ", path);
  return std::system(command.c_str()) == 0 ? ReadFile(path) : "";
}

INSTANTIATE_TEST_SUITE_P(Real, DeviceContract,
                         testing::Values(DeviceMaker{"hip", [] { return OpenDevice("hip:0"); }, ContractHsaco,
                                                     "hip:gfx"},
                                         DeviceMaker{"ze", [] { return OpenDevice("ze:0"); }, ContractSpirv, "xpu:"},
                                         DeviceMaker{"cl", [] { return OpenDevice("cl:0"); }, ContractSpirv, "xpu:"}),
                         testing::PrintToStringParamName());

// What a fake takes for its kernels.
std::string HsacoHeader() {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = 224;
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header));
}
std::string SpirvHeader() { return std::string("\x03\x02\x23\x07\x00\x04\x01\x00", 8) + std::string(12, '\0'); }

struct Fake {
  std::string kind;
  std::string library;
  std::function<std::string()> kernels;
  std::string target, model, driver;
  uint32_t clock_mhz;

  absl::StatusOr<std::unique_ptr<Device>> Open(int index = 0) const { return OpenWith(library, index); }
  absl::StatusOr<std::unique_ptr<Device>> OpenWith(const std::string& path, int index = 0) const {
    DeviceOptions options;
    options.libraries[kind] = path;
    return OpenDevice(absl::StrCat(kind, ":", index), options);
  }
  friend std::ostream& operator<<(std::ostream& out, const Fake& fake) { return out << fake.kind; }
};

const Fake& CudaFake() {
  static const auto* fake =
      new Fake{"cuda", TRITOND_FAKE_CUDA, [] { return ".version 7.8"; }, "cuda:90", "Fake Hopper", "12.8", 1980};
  return *fake;
}
const Fake& HipFake() {
  static const auto* fake =
      new Fake{"hip", TRITOND_FAKE_HIP, HsacoHeader, "hip:gfx942", "Fake Instinct", "6.3.42134", 2100};
  return *fake;
}
const Fake& LevelZeroFake() {
  static const auto* fake =
      new Fake{"ze", TRITOND_FAKE_LEVEL_ZERO, SpirvHeader, "xpu:pvc", "Fake Ponte Vecchio", "1.3.24595", 1600};
  return *fake;
}
const Fake& OpenClFake() {
  static const auto* fake =
      new Fake{"cl", TRITOND_FAKE_OPENCL, SpirvHeader, "xpu:bmg", "Fake Battlemage", "25.18.33578", 2850};
  return *fake;
}

DeviceMaker MakerOf(const Fake& fake) {
  return {fake.kind, [&fake] { return fake.Open(); }, fake.kernels, fake.target};
}

INSTANTIATE_TEST_SUITE_P(Fake, DeviceContract,
                         testing::Values(MakerOf(CudaFake()), MakerOf(HipFake()), MakerOf(LevelZeroFake()),
                                         MakerOf(OpenClFake())),
                         testing::PrintToStringParamName());

class FakeGpu : public testing::TestWithParam<Fake> {
 protected:
  void SetUp() override {
    lost_ = absl::StrCat(testing::TempDir(), "lost_", GetParam().kind);
    std::filesystem::remove(lost_);
    setenv("TRITOND_FAKE_GPU_LOST", lost_.c_str(), 1);
    library_ = dlopen(GetParam().library.c_str(), RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
    Call<void()>("FakeGpuReset")();
    auto device = GetParam().Open();
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
  }
  void TearDown() override {
    kernels_.clear();
    device_.reset();
    if (library_ != nullptr) EXPECT_EQ(Call<size_t()>("FakeGpuObjects")(), 0u) << "not released";
    std::filesystem::remove(lost_);
    unsetenv("TRITOND_FAKE_GPU_LOST");
  }

  template <typename Function>
  Function* Call(const char* name) {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }
  std::string TakeLog() { return Call<const char*()>("FakeGpuTakeLog")(); }

  static KernelInfo Info(const std::string& name) {
    KernelInfo info;
    info.name = name;
    info.num_warps = 2;
    return info;
  }
  const Kernel& Load(const KernelInfo& info) {
    auto kernel = device_->Load(GetParam().kernels(), info);
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    kernels_.push_back(*std::move(kernel));
    return *kernels_.back();
  }
  absl::Status Launch(const Kernel& kernel) {
    const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(64, 0));
    return device_->Launch(kernel, Grid{1}, {Argument::Pointer(out)});
  }

  std::string lost_;
  void* library_ = nullptr;
  std::unique_ptr<Device> device_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
};

INSTANTIATE_TEST_SUITE_P(All, FakeGpu, testing::Values(CudaFake(), HipFake(), LevelZeroFake(), OpenClFake()),
                         testing::PrintToStringParamName());

TEST_P(FakeGpu, TellsWhatItsDriverTells) {
  EXPECT_EQ(device_->Target(), GetParam().target);
  EXPECT_EQ(device_->Model(), GetParam().model);
  EXPECT_EQ(device_->Driver(), GetParam().driver);
  const DeviceFacts facts = device_->Facts();
  EXPECT_EQ(facts.memory_bytes, uint64_t{64} << 20);
  EXPECT_EQ(facts.clock_mhz, GetParam().clock_mhz);
  EXPECT_EQ(facts.threads_per_program, 1024u);
  EXPECT_EQ(facts.shared_bytes_per_program, 64u << 10);
}

TEST_P(FakeGpu, CopiesAndLaunchesRunInTheirOrderBeforeTheCallsReturn) {
  KernelInfo info = Info("use_shared");
  info.shared = 50 << 10;
  info.global_scratch_size = 48;
  const Kernel& kernel = Load(info);
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(400, 0));
  const std::string allocated = GetParam().kind == "cl" ? "1856" : "1600";  // OpenCL's memory has space for alignment
  const std::string scratch = GetParam().kind == "cl" ? "544" : "288";
  EXPECT_EQ(TakeLog(), absl::StrCat("allocate ", allocated, "\ncopy in 1600\n"));
  ASSERT_TRUE(device_->Launch(kernel, Grid{2, 3, 1}, {Argument::Pointer(out)}).ok());
  EXPECT_EQ(TakeLog(), absl::StrCat("allocate ", scratch, "\nrun use_shared 2x3x1 of 64 threads, shared 51200\nfree ",
                                    scratch, "\n"));
  EXPECT_THAT(ReadBuffer<int32_t>(*device_, out, 1), ElementsAre(63));
  EXPECT_EQ(TakeLog(), "copy out 4\n");
}

TEST_P(FakeGpu, ATimeIsTheKernelsAlone) {
  const Kernel& kernel = Load(Info("count_programs"));
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(1, 0));
  TakeLog();
  TimingOptions options;
  options.warmup = 1;
  options.samples = 2;
  options.flush_l2 = true;
  const auto times = device_->Time(kernel, Grid{1}, {Argument::Pointer(out)}, options);
  ASSERT_TRUE(times.ok()) << times.status();
  ASSERT_EQ(times->size(), 2u);
  for (const absl::Duration time : *times) EXPECT_NEAR(absl::ToDoubleMicroseconds(time), 5, 0.05);
  const std::string turn = "fill 8388608\nrun count_programs 1x1x1 of 64 threads, shared 0\n";
  EXPECT_THAT(TakeLog(), HasSubstr(absl::StrCat(turn, turn, turn)));
}

TEST_P(FakeGpu, TooMuchSharedMemoryIsRefusedAtLoad) {
  KernelInfo info = Info("use_shared");
  info.shared = (64 << 10) + 1;
  const absl::Status status = device_->Load(GetParam().kernels(), info).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("use_shared"), HasSubstr("65537"), HasSubstr("65536")));
}

TEST_P(FakeGpu, AFullMemoryIsResourceExhaustedAndLosesNothing) {
  auto most = device_->Allocate(uint64_t{50} << 20);
  ASSERT_TRUE(most.ok()) << most.status();
  const auto more = device_->Allocate(uint64_t{50} << 20);
  EXPECT_EQ(more.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(more.status().message()), HasSubstr(device_->Name()));
  *most = Buffer();
  EXPECT_TRUE(device_->Allocate(uint64_t{50} << 20).ok());
}

TEST_P(FakeGpu, AKernelThatFaultsFailsByNameAndTakesItsProcessAlong) {
  const Kernel& kernel = Load(Info("fault"));
  const Kernel& other = Load(Info("count_programs"));
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(1, 0));
  const absl::Status failed = device_->Launch(kernel, Grid{1}, {Argument::Pointer(out)});
  EXPECT_FALSE(failed.ok());
  EXPECT_NE(failed.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(failed.message()), HasSubstr("run fault"));
  EXPECT_FALSE(device_->Launch(other, Grid{1}, {Argument::Pointer(out)}).ok());
  EXPECT_FALSE(device_->Time(other, Grid{1}, {Argument::Pointer(out)}, TimingOptions()).ok());
}

TEST_P(FakeGpu, ALostDeviceSaysSoAndDoesNotOpenAgain) {
  const absl::Status failed = Launch(Load(Info("lose_device")));
  EXPECT_EQ(failed.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(failed.message()), HasSubstr("the device is lost"));
  EXPECT_EQ(GetParam().Open().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_P(FakeGpu, CooperativeLaunchesRunWhereTheDriverHasThem) {
  KernelInfo info = Info("count_programs");
  info.launch_cooperative_grid = true;
  const absl::Status launched = Launch(Load(info));
  if (GetParam().kind != "cl") EXPECT_TRUE(launched.ok()) << launched;
  if (GetParam().kind == "cl") EXPECT_EQ(launched.code(), absl::StatusCode::kFailedPrecondition);
}

TEST_P(FakeGpu, TensorMapsAreMadeByTheDriver) {
  MappedTensor tensor{0x1000,
                      {100, 60},
                      {72, 1},
                      /*has_nans=*/true,
                      /*swizzle=*/3,
                      /*element_bytes=*/2,
                      /*element_type=*/10,
                      {32, 64}};
  const absl::StatusOr<Argument> map = device_->MapTensor(tensor);
  if (GetParam().kind != std::string("cuda")) {
    EXPECT_EQ(map.status().code(), absl::StatusCode::kUnimplemented);
    return;
  }
  ASSERT_TRUE(map.ok()) << map.status();
  ASSERT_EQ(map->size(), 128);
  uint32_t words[9];
  std::memcpy(words, map->data(), sizeof(words));
  // bf16, as the driver counts; the innermost dimension first.
  EXPECT_THAT(words, testing::ElementsAre(9, 2, 60, 144, 64, 32, 3, 2, 1));
  tensor.box.pop_back();
  EXPECT_EQ(device_->MapTensor(tensor).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(FakeGpu, AMapIsNotPassedForAPointer) {
  KernelInfo info = Info("count_programs");
  info.parameter_bytes = {128};
  const absl::Status status = Launch(Load(info));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("parameter 0 has 128 bytes, its argument 8"));
}

TEST_P(FakeGpu, CallsMayComeFromAnotherThread) {
  std::thread([&] { EXPECT_EQ(Launch(Load(Info("count_programs"))), absl::OkStatus()); }).join();
}

TEST_P(FakeGpu, TheNextIndexIsNotFound) { EXPECT_EQ(GetParam().Open(1).status().code(), absl::StatusCode::kNotFound); }

TEST_P(FakeGpu, WithoutItsLibraryThereIsNoDevice) {
  const auto absent = GetParam().OpenWith("libno_such_driver.so.1");
  EXPECT_EQ(absent.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(absent.status().message()),
              AllOf(HasSubstr("libno_such_driver.so.1"), HasSubstr("--device-library")));
  const auto wrong = GetParam().OpenWith("libm.so.6");
  EXPECT_EQ(wrong.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(wrong.status().message()), HasSubstr("libm.so.6 is too old: it has no "));
}

// What Level Zero and OpenCL can tell of a kernel, and CUDA and HIP cannot.
class FakeIntelGpu : public FakeGpu {};

INSTANTIATE_TEST_SUITE_P(All, FakeIntelGpu, testing::Values(LevelZeroFake(), OpenClFake()),
                         testing::PrintToStringParamName());

TEST_P(FakeIntelGpu, NativeModulesLoad) { EXPECT_TRUE(device_->Load("\x7f\x45\x4c\x46", Info("count_programs")).ok()); }

TEST_P(FakeIntelGpu, AFailedBuildSaysWhatItsLogSays) {
  const std::string of_another_version = SpirvHeader().replace(6, 1, "\x02");
  const absl::Status status = device_->Load(of_another_version, Info("count_programs")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the fake's build log"));
}

TEST_P(FakeIntelGpu, ArgumentsMustMatchTheBinarysParameters) {
  const Buffer out = MakeBuffer(*device_, std::vector<int32_t>(1, 0));
  const absl::Status too_many =
      device_->Launch(Load(Info("count_programs")), Grid{1}, {Argument::Pointer(out), Argument::Pointer(out)});
  EXPECT_EQ(too_many.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(too_many.message()),
              HasSubstr("count_programs has 3 parameters; the launch has 4 arguments"));
  const absl::Status wrong_size = device_->Launch(
      Load(Info("vector_add")), Grid{1},
      {Argument::Pointer(out), Argument::Pointer(out), Argument::Pointer(out), Argument::Scalar(int64_t{1})});
  EXPECT_EQ(wrong_size.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(wrong_size.message()), HasSubstr("vector_add: argument 3"));
}

TEST_P(FakeIntelGpu, TellsTheSpillsOfAThread) {
  EXPECT_EQ(device_->FactsOf(Load(Info("count_programs"))).spill_bytes, 64u);
}

// A kernel that spills is built once more, with twice the registers, and stays so where that helps.
TEST_P(FakeIntelGpu, RegistersAreAsTheKernelNeedsThem) {
  if (GetParam().kind != std::string("ze")) GTEST_SKIP() << "Level Zero alone builds modules with flags";
  const auto spills = [&](const char* name, const char* mode) {
    KernelInfo info = Info(name);
    info.grf_mode = mode;
    return device_->FactsOf(Load(info)).spill_bytes;
  };
  EXPECT_EQ(spills("vector_add", "default"), 16u);
  EXPECT_EQ(spills("vector_add", "256"), 16u);
  EXPECT_EQ(spills("vector_add", "128"), 64u);
  EXPECT_EQ(spills("vector_add", "auto"), 64u);
  EXPECT_EQ(spills("count_programs", "default"), 64u);
}

TEST(HipDevice, RefusesAnHsacoThatIsCutOff) {
  const auto device = HipFake().Open();
  ASSERT_TRUE(device.ok()) << device.status();
  std::string binary = HsacoHeader();
  auto* header = reinterpret_cast<Elf64_Ehdr*>(binary.data());
  header->e_shoff = 4096;
  header->e_shnum = 8;
  header->e_shentsize = 64;
  KernelInfo info;
  info.name = "count_programs";
  EXPECT_EQ((*device)->Load(binary, info).status().code(), absl::StatusCode::kInvalidArgument);
  header->e_shoff = 0;
  header->e_shnum = 0;
  header->e_machine = EM_X86_64;
  EXPECT_EQ((*device)->Load(binary, info).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(IntelArchitecture, OneThatTheCompilerDoesNotHaveGetsCodeThatRunsEverywhere) {
  EXPECT_EQ(TargetOfIntelDevice(0x0bd5), "xpu:pvc");
  EXPECT_EQ(TargetOfIntelDevice(0x56a0), "xpu:dg2");
  EXPECT_EQ(TargetOfIntelDevice(0xe20b), "xpu:bmg");
  EXPECT_EQ(TargetOfIntelDevice(0x64a0), "xpu:lnl");
  EXPECT_EQ(TargetOfIntelDevice(0xb080), "xpu:ptl");
  EXPECT_EQ(TargetOfIntelDevice(0x9a49), "xpu:dg2");
  EXPECT_EQ(TargetOfIntelDevice(0), "xpu:dg2");
}

TEST(AddDeviceLibrary, TakesKnownKindsOnce) {
  std::map<std::string, std::string> libraries;
  EXPECT_TRUE(AddDeviceLibrary("hip=/opt/rocm/lib/libamdhip64.so.7", &libraries).ok());
  EXPECT_EQ(libraries["hip"], "/opt/rocm/lib/libamdhip64.so.7");
  for (const char* wrong : {"hip=/other.so", "abacus=/a.so", "ze=", "ze", "", "=/a.so"})
    EXPECT_EQ(AddDeviceLibrary(wrong, &libraries).code(), absl::StatusCode::kInvalidArgument) << wrong;
  EXPECT_EQ(libraries.size(), 1u);
}

}  // namespace
}  // namespace tritond::workers
