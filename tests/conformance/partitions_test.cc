// SPDX-License-Identifier: Apache-2.0
// Warp-specialised kernels. They always run on the emulated GPU, and on GPUs that have their instructions. They run on
// the host where they have none of a GPU.
#include "absl/strings/match.h"
#include "tests/conformance/fault_kernels.h"

namespace tritond::conformance {
namespace {

std::vector<Machine> MachinesFor(const FaultKernel& kernel) {
  std::vector<Machine> machines = {{"emulated:cuda:90", "emulated:cuda:90", 4}};
  if (!absl::StrContains(kernel.ir, "ttng.")) machines.push_back({"host", "host", 4});
  for (const Machine& machine : MachinesOf32Lanes())
    if (absl::StartsWith(machine.device, "cuda:") && absl::StartsWith(machine.target, "cuda:90"))
      machines.push_back(machine);
  return machines;
}

class Partitions : public testing::TestWithParam<FaultKernel> {};

TEST_P(Partitions, AreRight) {
  for (const Machine& machine : MachinesFor(GetParam())) {
    std::vector<Array> arrays = GetParam().arrays;
    const absl::Status status =
        RunTtgir(machine, GetParam().ir, GetParam().grid, std::vector<Parameter>(arrays.begin(), arrays.end()));
    ASSERT_TRUE(status.ok()) << machine.device << ": " << status;
    EXPECT_TRUE(Agree(arrays.back(), GetParam().expected, GetParam().tolerance)) << machine.device;
  }
}

// ptxas takes what is emitted.
TEST_P(Partitions, CompileForTheGpu) {
  const absl::Status status = CompileTtgirKernel("cuda:90", GetParam().ir);
  EXPECT_TRUE(status.ok()) << status;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Partitions, testing::ValuesIn(PartitionKernels()),
                         [](const auto& info) { return info.param.name; });

// A target without barriers of some warps says so, at the operation.
TEST(PartitionsElsewhere, AreRefused) {
  std::vector<Array> arrays = PartitionKernels()[0].arrays;
  for (const char* target : {"emulated:hip:gfx1100", "emulated:xpu:pvc:32"}) {
    const absl::Status status = RunTtgir({target, target, 4}, PartitionKernels()[0].ir, {},
                                         std::vector<Parameter>(arrays.begin(), arrays.end()));
    EXPECT_TRUE(absl::IsUnimplemented(status)) << target << ": " << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "barriers of some warps")) << status;
  }
}

}  // namespace
}  // namespace tritond::conformance
