// SPDX-License-Identifier: Apache-2.0
// Compiles a kernel for a device of this machine, runs it, and compares what it wrote with what it should have.
#ifndef TESTS_CONFORMANCE_RUN_KERNEL_H_
#define TESTS_CONFORMANCE_RUN_KERNEL_H_

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "workers/device/device.h"

namespace tritond::conformance {

// Where and with how many warps a kernel runs.
struct Machine {
  std::string device;  // "host", "cuda:0"; "lenient emulated:cuda:90": its DeviceOptions::copies_need_fences is off
  std::string target;  // "host", "host:64", "cuda:90"
  int num_warps = 4;
};
// For test names: "Host4Warps".
std::string NameOf(const Machine& machine);

void PrintTo(const Machine& machine, std::ostream* os);

// The devices that are present, each with every number of warps given. Of OpenCL's, those that are asked for.
std::vector<Machine> Machines(const std::vector<int>& num_warps);
// Those with four warps of 32 lanes, for kernels that fix their layouts.
std::vector<Machine> MachinesOf32Lanes();
// One of all machines with 1, 2, 4 and 8 warps, another for each `turn`: spreads cases evenly without multiplying them.
Machine MachineFor(int turn);

// Elements of a type as they lie in memory. Types are named as in Triton IR ("i1", "f16", "f8E4M3FN"); i1 takes a byte.
struct Array {
  std::string type;
  std::string bytes;

  Array() = default;
  Array(std::string type, size_t size);  // all bytes 0xAA, so that what nobody writes is seen
  // From numbers; floats are rounded to nearest even, integers wrap.
  static Array OfFloats(std::string type, const std::vector<double>& values);
  static Array OfInts(std::string type, const std::vector<int64_t>& values);

  size_t size() const;
  int bits() const;
  bool is_float() const;
  double Float(size_t i) const;
  // Sign-extended; of a float type, its bits. Unsigned: zero-extended.
  int64_t Int(size_t i) const;
  uint64_t Unsigned(size_t i) const;
  // All elements, floats and sign-extended integers alike: for loops that read each of them often.
  std::vector<double> Numbers() const;
  void SetFloat(size_t i, double value);
  void SetInt(size_t i, int64_t value);
};

// Interesting and random values of a type: zeros of both signs, extremes, subnormals, infinities and NaN among floats.
Array Values(const std::string& type, size_t size, unsigned seed);
// Floats without infinities and NaN, of moderate size; integers from -100 to 100 (0 to 100 for i1: 0 or 1).
Array Moderate(const std::string& type, size_t size, unsigned seed);

// A tensor that begins where the array does. Strides are in elements; the last one is 1.
struct Described {
  std::vector<int64_t> shape, strides;
  bool has_nans = false;  // outside; else zeros
};

// A kernel parameter: an array, which the launch may change, a scalar, or a tensor descriptor. This is one parameter of
// the kernel, and those that frontends put after it: the sizes as i32 and the strides as i64.
class Parameter {
 public:
  Parameter(Array& array) : array_(&array) {}  // NOLINT: implicit on purpose
  Parameter(Array& array, Described described) : array_(&array), described_(std::move(described)) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic<T>::value>>
  Parameter(T scalar) : scalar_(workers::Argument::Scalar(scalar)) {}  // NOLINT

  Array* array() const { return array_; }
  const workers::Argument& scalar() const { return scalar_; }
  const absl::optional<Described>& described() const { return described_; }

 private:
  Array* array_ = nullptr;
  absl::optional<Described> described_;
  workers::Argument scalar_;
};

// Options beside num_warps, as JSON members: "\"num_stages\": 2".
absl::Status RunKernel(const Machine& machine, const std::string& ir, workers::Grid grid,
                       const std::vector<Parameter>& parameters, const std::string& options = "");

// The same as a launcher does that makes tensor maps where the compiler wants them.
absl::Status RunWithHostMaps(const Machine& machine, const std::string& ir, workers::Grid grid,
                             const std::vector<Parameter>& parameters, const std::string& options = "");
// What the metadata says then of the kernel's descriptors, as JSON.
absl::StatusOr<std::string> HostMapsOf(const Machine& machine, const std::string& ir, const std::string& options = "");

// Whether the devices are those that TRITOND_CONFORMANCE_DEVICES names. What only compiles does not depend on them: the
// run without that variable compiles it, and these runs need not.
bool RunsOnOneDevice();

// Compiles only, to the binary where the target has its assembler here: for targets whose devices are elsewhere.
absl::Status CompileKernel(const std::string& target, const std::string& ir, const std::string& options = "");

absl::Status CompileTtgirKernel(const std::string& target, const std::string& ir);

// The same for the GPU that an emulated device stands for; ok for other devices.
absl::Status CompileForGpuOf(const Machine& machine, const std::string& ir, const std::string& options = "");

// The module as it goes into lowering, for tests that want to see that a pass has acted.
absl::StatusOr<std::string> CompileToTtgir(const Machine& machine, const std::string& ir,
                                           const std::string& options = "");

// The same as RunKernel for TTGIR, which says itself how many warps it is for: machine.num_warps.
absl::Status RunTtgir(const Machine& machine, const std::string& ir, workers::Grid grid,
                      const std::vector<Parameter>& parameters);

// A kernel's LLVM IR as its target has optimised it, and running such: for tests that change it in between.
struct LlirKernel {
  std::string text;
  int shared = 0;          // bytes
  int global_scratch = 0;  // bytes of each block
  int blocks = 1;          // of a program
};
absl::StatusOr<LlirKernel> CompileToLlir(const Machine& machine, const std::string& ir,
                                         const std::string& options = "");
absl::StatusOr<LlirKernel> CompileTtgirToLlir(const Machine& machine, const std::string& ir);
absl::Status RunLlir(const Machine& machine, const LlirKernel& kernel, workers::Grid grid,
                     const std::vector<Parameter>& parameters);

// The text and options of a kernel of ../shared/corpus/dev; empty where the corpus is missing.
struct CorpusKernel {
  std::string ir, options;
  int num_warps = 4;
};
CorpusKernel ReadCorpusKernel(const std::string& name);

// Success when all elements agree. With a tolerance of 0 they must agree bit by bit (any NaN is as good as another).
// Otherwise they must be within `tolerance` times the larger of 1 and the expected value.
testing::AssertionResult Agree(const Array& actual, const Array& expected, double tolerance = 0);

// `text` with every "$NAME" replaced by its value; longer names first.
std::string Substitute(std::string text, std::vector<std::pair<std::string, std::string>> values);

}  // namespace tritond::conformance

#endif  // TESTS_CONFORMANCE_RUN_KERNEL_H_
