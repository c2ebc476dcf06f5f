// SPDX-License-Identifier: Apache-2.0
// Kernels that PyTorch's compiler wrote (../shared/corpus/inductor). Their authors' inputs are not known, so buffers
// hold random numbers. What the host device computes of them is what every other device has to write. Each kernel is
// also compiled for the GPU itself, to its binary.
// TRITOND_CONFORMANCE_TABLE=FILE appends to FILE what became of each on each device, as docs/targets.md has it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "tests/conformance/outcome_table.h"
#include "tests/conformance/run_kernel.h"

namespace tritond::conformance {
namespace {

constexpr char kFolder[] = "../shared/corpus/inductor";
constexpr char kHost[] = "host";
// Elements of a buffer: the first that holds all that one program touches.
constexpr size_t kSizes[] = {size_t{1} << 16, size_t{1} << 20, size_t{1} << 24, size_t{1} << 26};
// Sizes of problems, which kernels take as i32 and may have been told to be multiples of 16.
constexpr int32_t kExtent = 4096;
// Where no devices are asked for, one of so many kernels runs.
constexpr size_t kStep = 8;
constexpr double kTolerance = 2e-2;  // of sums of bf16 in another order

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

struct Kernel {
  std::string ir, options;
  std::vector<std::string> types;  // of the parameters: "f32" where it is a pointer to such, "" of an i32
  int num_warps = 4;
};

Kernel ReadKernel(const std::string& name) {
  Kernel kernel;
  kernel.ir = ReadFile(absl::StrCat(kFolder, "/", name, ".ttir"));
  const nlohmann::json options = nlohmann::json::parse(ReadFile(absl::StrCat(kFolder, "/", name, ".json")));
  kernel.num_warps = options["num_warps"];
  kernel.options = absl::StrCat("\"num_stages\": ", options["num_stages"].get<int>());
  const size_t begin = kernel.ir.find("tt.func public"), end = kernel.ir.find(" attributes", begin);
  for (size_t at = begin; (at = kernel.ir.find(": ", at + 1)) < end;) {
    const absl::string_view rest = absl::string_view(kernel.ir).substr(at + 2);
    if (absl::StartsWith(rest, "!tt.ptr<"))
      kernel.types.emplace_back(rest.substr(8, rest.find('>') - 8));
    else if (absl::StartsWith(rest, "i32 loc") || absl::StartsWith(rest, "i32 {"))
      kernel.types.emplace_back();
  }
  return kernel;
}

// Integers are small: kernels use them as indices.
Array Input(const std::string& type, size_t size) {
  static auto* known = new std::map<std::pair<std::string, size_t>, Array>;
  Array& input = (*known)[{type, size}];
  if (input.bytes.empty()) {
    input = Moderate(type, size, 7);
    for (size_t i = 0; i < size && !input.is_float() && type != "i1"; ++i) input.SetInt(i, static_cast<int64_t>(i % 8));
  }
  return input;
}

// What the kernel makes of its buffers, with the status of the run.
absl::Status RunOn(const Machine& machine, const Kernel& kernel, size_t size, std::vector<Array>* arrays) {
  arrays->clear();
  for (const std::string& type : kernel.types)
    if (!type.empty()) arrays->push_back(Input(type, size));
  std::vector<Parameter> parameters;
  size_t next = 0;
  for (const std::string& type : kernel.types)
    parameters.push_back(type.empty() ? Parameter(kExtent) : Parameter((*arrays)[next++]));
  return RunKernel(machine, kernel.ir, {1}, parameters, kernel.options);
}

struct Reference {
  absl::Status status;
  size_t size = 0;
  std::vector<Array> arrays;
};

// Of the host device. One at a time is kept: the tests of a kernel follow each other.
const Reference& ReferenceOf(const std::string& name, const Kernel& kernel) {
  static auto* known = new std::pair<std::string, Reference>;
  if (known->first == name) return known->second;
  *known = {name, {}};
  Reference& reference = known->second;
  for (size_t size : kSizes) {
    reference.size = size;
    reference.status = RunOn({kHost, kHost, kernel.num_warps}, kernel, size, &reference.arrays);
    if (!absl::StrContains(reference.status.message(), "out of bounds")) break;
  }
  return reference;
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder, missing))
    if (entry.path().extension() == ".ttir") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  if (std::getenv("TRITOND_CONFORMANCE_DEVICES") != nullptr) return names;
  std::vector<std::string> some;
  for (size_t i = 0; i < names.size(); i += kStep) some.push_back(names[i]);
  return some;
}

// The host device runs them with warps of 64 lanes.
std::vector<Machine> Devices() {
  std::vector<Machine> devices;
  for (const Machine& machine : Machines({4})) {
    if (machine.target != kHost) devices.push_back(machine);
  }
  return devices;
}

using Case = std::tuple<std::string, Machine>;

class Inductor : public testing::TestWithParam<Case> {
 protected:
  static void TearDownTestSuite() { Table().Write(); }

  static OutcomeTable& Table() {
    static auto* table = new OutcomeTable;
    return *table;
  }

  void TearDown() override {
    const auto& [name, machine] = GetParam();
    const Outcome outcome = HasFailure() ? Outcome::kWrong : Outcome::kRight;
    Table().Add("kernels of corpus/inductor", name, machine.target, outcome);
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Inductor);

TEST_P(Inductor, WritesWhatTheHostDoes) {
  auto [name, machine] = GetParam();
  const Kernel kernel = ReadKernel(name);
  machine.num_warps = kernel.num_warps;
  const absl::Status compiled = CompileForGpuOf(machine, kernel.ir, kernel.options);
  EXPECT_TRUE(compiled.ok()) << compiled;
  const Reference& reference = ReferenceOf(name, kernel);
  ASSERT_TRUE(reference.status.ok()) << reference.status;
  std::vector<Array> arrays;
  const absl::Status status = RunOn(machine, kernel, reference.size, &arrays);
  ASSERT_TRUE(status.ok()) << status;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].bytes != reference.arrays[i].bytes)
      EXPECT_TRUE(Agree(arrays[i], reference.arrays[i], kTolerance)) << "buffer " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Inductor, testing::Combine(testing::ValuesIn(Names()), testing::ValuesIn(Devices())),
                         [](const auto& info) {
                           return absl::StrReplaceAll(
                               absl::StrCat(std::get<0>(info.param), "_", NameOf(std::get<1>(info.param))),
                               {{"-", "_"}});
                         });

}  // namespace
}  // namespace tritond::conformance
