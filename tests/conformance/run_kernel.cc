// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/run_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/driver/compile.h"
#include "compiler/targets/target.h"
#include "workers/device/devices.h"
#include "workers/device/element_type.h"

namespace tritond::conformance {
namespace {

// Arrays ask for each element, so that each name is parsed once. Mostly it is the name that was asked for last.
const workers::ElementType& TypeNamed(const std::string& name) {
  thread_local auto* types = new std::unordered_map<std::string, workers::ElementType>;
  thread_local const std::pair<const std::string, workers::ElementType>* last = nullptr;
  if (last && last->first == name) return last->second;
  auto it = types->find(name);
  if (it == types->end()) {
    auto type = workers::ElementType::Parse(name);
    if (!type.ok()) ADD_FAILURE() << type.status();
    it = types->emplace(name, *type).first;
  }
  last = &*it;
  return last->second;
}

// Devices and compilers stay warm for the whole program.
workers::Device* DeviceNamed(const std::string& name) {
  static auto* devices = new std::map<std::string, std::unique_ptr<workers::Device>>;
  std::unique_ptr<workers::Device>& device = (*devices)[name];
  if (!device) {
    workers::DeviceOptions options;
    options.launch_limit = absl::Seconds(60);
    absl::string_view plain = name;
    options.copies_need_fences = !absl::ConsumePrefix(&plain, "lenient ");
    auto opened = workers::OpenDevice(plain, options);
    if (opened.ok()) device = *std::move(opened);
  }
  return device.get();
}

compiler::Compiler& Warm() {
  static compiler::Compiler* compiler = compiler::Compiler::Create().release();
  return *compiler;
}

// Tests run a kernel with several inputs, and other tests of the same file run it again: it is compiled for the first.
const compiler::CompileResult& CompiledOnce(const compiler::CompileRequest& request) {
  constexpr size_t kMostBytes = 128 << 20;
  static auto* const results = new std::map<std::string, compiler::CompileResult>;
  static size_t bytes = 0;
  if (bytes > kMostBytes) {
    results->clear();
    bytes = 0;
  }
  const std::string key =
      absl::StrCat(request.target, "\n", StageName(request.input), " to ", StageName(request.outputs[0]), "\n",
                   request.options.dump(), "\n", request.abi.host_tensor_maps ? "maps\n" : "", request.ir);
  const auto [result, is_new] = results->try_emplace(key);
  if (!is_new) return result->second;
  result->second = Warm().Compile(request);
  bytes += key.size();
  for (const compiler::Artifact& artifact : result->second.artifacts) bytes += artifact.bytes.size();
  return result->second;
}

compiler::CompileResult Compile(const Machine& machine, const std::string& ir, compiler::Stage input,
                                const std::string& options, compiler::Stage output = compiler::Stage::kBinary,
                                bool host_tensor_maps = false) {
  compiler::CompileRequest request;
  request.abi.host_tensor_maps = host_tensor_maps;
  request.ir = ir;
  request.input = input;
  request.target = machine.target;
  request.options = nlohmann::json::parse(
      absl::StrCat("{\"num_warps\": ", machine.num_warps, options.empty() ? "" : ", ", options, "}"));
  request.outputs = {output};
  return CompiledOnce(request);
}

// A kernel that failed to compile says where; the text is part of the message then.
absl::Status WithDiagnostics(const compiler::CompileResult& result) {
  std::string message(result.status.message());
  for (const auto& diagnostic : result.diagnostics)
    absl::StrAppend(&message, "\n  ", diagnostic.line, ":", diagnostic.column, ": ", diagnostic.message);
  return absl::Status(result.status.code(), message);
}

double RandomFloat(std::mt19937_64& random, double scale) { return std::normal_distribution<double>(0, scale)(random); }

}  // namespace

std::string NameOf(const Machine& machine) {
  std::string target = machine.target;
  target.erase(std::remove(target.begin(), target.end(), ':'), target.end());
  target[0] = std::toupper(target[0]);
  return absl::StrCat(target, "With", machine.num_warps, "Warps");
}

void PrintTo(const Machine& machine, std::ostream* os) { *os << NameOf(machine); }

std::vector<Machine> Machines(const std::vector<int>& num_warps) {
  std::vector<Machine> machines;
  std::vector<std::string> names = workers::DeviceNames();
  // OpenCL's drivers take long to build kernels; opencl_test has some for them.
  names.erase(std::remove_if(names.begin(), names.end(), [](const auto& name) { return name.rfind("cl:", 0) == 0; }),
              names.end());
  // NAME,NAME…: these devices alone. Emulated ones are slow, so that they run only where they are asked for.
  if (const char* asked = std::getenv("TRITOND_CONFORMANCE_DEVICES")) names = absl::StrSplit(asked, ',');
  for (const std::string& name : names) {
    workers::Device* device = DeviceNamed(name);
    if (!device) continue;
    for (int warps : num_warps) machines.push_back({name, device->Target(), warps});
    // Warps of 64 lanes, as some GPUs have.
    if (device->Target() == "host") machines.push_back({name, "host:64", num_warps.front()});
  }
  return machines;
}

bool RunsOnOneDevice() { return std::getenv("TRITOND_CONFORMANCE_DEVICES") != nullptr; }

std::vector<Machine> MachinesOf32Lanes() {
  constexpr int kLanes = 32;
  const auto has_other_warps = [](const Machine& machine) {
    const auto target = compiler::FindTarget(machine.target, {});
    return !target.ok() || (*target)->Info().lanes != kLanes;
  };
  std::vector<Machine> machines = Machines({4});
  machines.erase(std::remove_if(machines.begin(), machines.end(), has_other_warps), machines.end());
  return machines;
}

Machine MachineFor(int turn) {
  static const auto* machines = new std::vector<Machine>(Machines({1, 2, 4, 8}));
  return (*machines)[turn % machines->size()];
}

Array::Array(std::string type_name, size_t size) : type(std::move(type_name)) {
  bytes.assign(size * TypeNamed(type).bytes(), static_cast<char>(0xAA));
}

Array Array::OfFloats(std::string type, const std::vector<double>& values) {
  Array array(std::move(type), values.size());
  for (size_t i = 0; i < values.size(); ++i) array.SetFloat(i, values[i]);
  return array;
}

Array Array::OfInts(std::string type, const std::vector<int64_t>& values) {
  Array array(std::move(type), values.size());
  for (size_t i = 0; i < values.size(); ++i) array.SetInt(i, values[i]);
  return array;
}

size_t Array::size() const { return bytes.size() / TypeNamed(type).bytes(); }
int Array::bits() const { return type == "i1" ? 1 : 8 * TypeNamed(type).bytes(); }
bool Array::is_float() const { return TypeNamed(type).is_float(); }
double Array::Float(size_t i) const { return TypeNamed(type).Decode(&bytes[i * TypeNamed(type).bytes()]); }
void Array::SetFloat(size_t i, double value) { TypeNamed(type).Encode(value, &bytes[i * TypeNamed(type).bytes()]); }

std::vector<double> Array::Numbers() const {
  const workers::ElementType& element = TypeNamed(type);
  std::vector<double> numbers(size());
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = element.Decode(&bytes[i * element.bytes()]);
  return numbers;
}

uint64_t Array::Unsigned(size_t i) const {
  uint64_t value = 0;
  size_t width = TypeNamed(type).bytes();
  std::memcpy(&value, &bytes[i * width], width);
  return value;
}

int64_t Array::Int(size_t i) const {
  int shift = 64 - 8 * TypeNamed(type).bytes();
  return static_cast<int64_t>(Unsigned(i) << shift) >> shift;
}

void Array::SetInt(size_t i, int64_t value) {
  if (type == "i1") value &= 1;
  size_t width = TypeNamed(type).bytes();
  std::memcpy(&bytes[i * width], &value, width);
}

Array Values(const std::string& type, size_t size, unsigned seed) {
  std::mt19937_64 random(seed);
  Array array(type, size);
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> floats = {0.0,    -0.0, 1.0,  -1.0,  inf,   -inf,   std::nan(""), 65504,
                                      -57344, 0.5,  1e-7, -6e-8, 1e-40, 3.4e38, 448,          -0.1};
  const int bits = array.bits();
  const int64_t smallest = bits == 64 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (bits - 1));
  const std::vector<int64_t> ints = {0, 1, -1, smallest, ~smallest, smallest + 1, 2, -2, 7, 100};
  for (size_t i = 0; i < size; ++i) {
    if (array.is_float()) {
      bool special = random() % 3 == 0;
      array.SetFloat(i, special ? floats[random() % floats.size()] : RandomFloat(random, 10));
    } else {
      bool special = random() % 3 == 0;
      array.SetInt(i, special ? ints[random() % ints.size()] : static_cast<int64_t>(random()));
    }
  }
  return array;
}

Array Moderate(const std::string& type, size_t size, unsigned seed) {
  std::mt19937_64 random(seed);
  Array array(type, size);
  for (size_t i = 0; i < size; ++i) {
    if (array.is_float()) {
      array.SetFloat(i, RandomFloat(random, 2));
    } else {
      array.SetInt(i, type == "i1" ? random() % 2 : static_cast<int64_t>(random() % 201) - 100);
    }
  }
  return array;
}

namespace {

// What a launcher passes for a descriptor, `map` being the metadata's entry for it.
absl::Status AddDescriptor(workers::Device& device, const workers::Buffer& buffer, const Described& described,
                           const nlohmann::json& map, std::vector<workers::Argument>& arguments) {
  if (map.is_object()) {
    workers::MappedTensor tensor{buffer.address(), described.shape,  described.strides, described.has_nans,
                                 map["swizzle"],   map["elem_size"], map["elem_type"],  map["block_size"]};
    absl::StatusOr<workers::Argument> made = device.MapTensor(tensor);
    if (!made.ok()) return made.status();
    arguments.push_back(*made);
  } else {
    arguments.push_back(workers::Argument::Pointer(buffer));
    for (const auto& numbers : {described.shape, described.strides})
      for (int64_t number : numbers) arguments.push_back(workers::Argument::Scalar(number));
    arguments.push_back(workers::Argument::Scalar(static_cast<uint8_t>(described.has_nans)));
  }
  for (int64_t size : described.shape) arguments.push_back(workers::Argument::Scalar(static_cast<int32_t>(size)));
  for (int64_t stride : described.strides) arguments.push_back(workers::Argument::Scalar(stride));
  return absl::OkStatus();
}

absl::Status Run(const Machine& machine, const std::string& ir, compiler::Stage input, workers::Grid grid,
                 const std::vector<Parameter>& parameters, const std::string& options, bool host_tensor_maps = false) {
  workers::Device* device = DeviceNamed(machine.device);
  if (!device) return absl::FailedPreconditionError("no device " + machine.device);
  compiler::CompileResult compiled = Compile(machine, ir, input, options, compiler::Stage::kBinary, host_tensor_maps);
  if (!compiled.status.ok()) return WithDiagnostics(compiled);
  auto info = workers::ParseKernelInfo(compiled.metadata.dump());
  if (!info.ok()) return info.status();
  auto kernel = device->Load(compiled.artifacts[0].bytes, *info);
  if (!kernel.ok()) return kernel.status();
  std::vector<workers::Buffer> buffers;
  std::vector<workers::Argument> arguments;
  const nlohmann::json& maps = compiled.metadata["tensordesc_meta"];
  size_t descriptors = 0;
  for (const Parameter& parameter : parameters) {
    if (!parameter.array()) {
      arguments.push_back(parameter.scalar());
      continue;
    }
    auto buffer = device->Allocate(parameter.array()->bytes.size());
    if (!buffer.ok()) return buffer.status();
    if (absl::Status status = device->CopyIn(*buffer, 0, parameter.array()->bytes); !status.ok()) return status;
    if (parameter.described().has_value()) {
      const nlohmann::json map = maps.empty() ? nlohmann::json() : maps.at(descriptors++);
      absl::Status status = AddDescriptor(*device, *buffer, *parameter.described(), map, arguments);
      if (!status.ok()) return status;
    } else {
      arguments.push_back(workers::Argument::Pointer(*buffer));
    }
    buffers.push_back(*std::move(buffer));
  }
  if (absl::Status status = device->Launch(**kernel, grid, arguments); !status.ok()) return status;
  size_t next = 0;
  for (const Parameter& parameter : parameters) {
    if (!parameter.array()) continue;
    std::string& bytes = parameter.array()->bytes;
    absl::Status status = device->CopyOut(buffers[next++], 0, absl::MakeSpan(&bytes[0], bytes.size()));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunKernel(const Machine& machine, const std::string& ir, workers::Grid grid,
                       const std::vector<Parameter>& parameters, const std::string& options) {
  return Run(machine, ir, compiler::Stage::kTtir, grid, parameters, options);
}

absl::Status RunWithHostMaps(const Machine& machine, const std::string& ir, workers::Grid grid,
                             const std::vector<Parameter>& parameters, const std::string& options) {
  return Run(machine, ir, compiler::Stage::kTtir, grid, parameters, options, /*host_tensor_maps=*/true);
}

absl::StatusOr<std::string> HostMapsOf(const Machine& machine, const std::string& ir, const std::string& options) {
  compiler::CompileResult result = Compile(machine, ir, compiler::Stage::kTtir, options, compiler::Stage::kBinary,
                                           /*host_tensor_maps=*/true);
  if (!result.status.ok()) return WithDiagnostics(result);
  return result.metadata["tensordesc_meta"].dump();
}

namespace {

absl::Status CompileOnly(const std::string& target, const std::string& ir, compiler::Stage input,
                         const std::string& options) {
  compiler::CompileRequest request;
  request.ir = ir;
  request.input = input;
  request.target = target;
  request.options = nlohmann::json::parse(absl::StrCat("{", options, "}"));
  request.outputs = {compiler::Stage::kAsm};
  for (const auto& known : Warm().Targets())
    if (known.name == target && known.binary_available) request.outputs = {compiler::Stage::kBinary};
  compiler::CompileResult result = Warm().Compile(request);
  return result.status.ok() ? result.status : WithDiagnostics(result);
}

}  // namespace

absl::Status CompileKernel(const std::string& target, const std::string& ir, const std::string& options) {
  return CompileOnly(target, ir, compiler::Stage::kTtir, options);
}

absl::Status CompileTtgirKernel(const std::string& target, const std::string& ir) {
  return CompileOnly(target, ir, compiler::Stage::kTtgir, "");
}

absl::Status CompileForGpuOf(const Machine& machine, const std::string& ir, const std::string& options) {
  absl::string_view gpu = machine.target;
  if (!absl::ConsumePrefix(&gpu, "emulated:")) return absl::OkStatus();
  const std::string all = absl::StrCat("\"num_warps\": ", machine.num_warps, options.empty() ? "" : ", ", options);
  return CompileKernel(std::string(gpu), ir, all);
}

absl::StatusOr<std::string> CompileToTtgir(const Machine& machine, const std::string& ir, const std::string& options) {
  compiler::CompileResult result = Compile(machine, ir, compiler::Stage::kTtir, options, compiler::Stage::kTtgir);
  if (!result.status.ok()) return WithDiagnostics(result);
  return result.artifacts[0].bytes;
}

absl::Status RunTtgir(const Machine& machine, const std::string& ir, workers::Grid grid,
                      const std::vector<Parameter>& parameters) {
  return Run(machine, ir, compiler::Stage::kTtgir, grid, parameters, "");
}

namespace {

absl::StatusOr<LlirKernel> LlirOf(const compiler::CompileResult& result) {
  if (!result.status.ok()) return WithDiagnostics(result);
  return LlirKernel{result.artifacts[0].bytes, result.metadata["shared"].get<int>(),
                    result.metadata["global_scratch_size"].get<int>(), result.metadata["num_ctas"].get<int>()};
}

}  // namespace

absl::StatusOr<LlirKernel> CompileToLlir(const Machine& machine, const std::string& ir, const std::string& options) {
  return LlirOf(Compile(machine, ir, compiler::Stage::kTtir, options, compiler::Stage::kLlir));
}

absl::StatusOr<LlirKernel> CompileTtgirToLlir(const Machine& machine, const std::string& ir) {
  return LlirOf(Compile(machine, ir, compiler::Stage::kTtgir, "", compiler::Stage::kLlir));
}

absl::Status RunLlir(const Machine& machine, const LlirKernel& kernel, workers::Grid grid,
                     const std::vector<Parameter>& parameters) {
  return Run(machine, kernel.text, compiler::Stage::kLlir, grid, parameters,
             absl::StrCat("\"shared\": ", kernel.shared, ", \"global_scratch_size\": ", kernel.global_scratch,
                          ", \"global_scratch_align\": 128, \"num_ctas\": ", kernel.blocks));
}

CorpusKernel ReadCorpusKernel(const std::string& name) {
  auto read = [&](const char* extension) {
    std::ostringstream text;
    text << std::ifstream("../shared/corpus/dev/" + name + extension).rdbuf();
    return text.str();
  };
  CorpusKernel kernel;
  kernel.ir = read(".ttir");
  if (kernel.ir.empty()) return kernel;
  nlohmann::json options = nlohmann::json::parse(read(".json"))["options"];
  kernel.num_warps = options["num_warps"];
  kernel.options = absl::StrCat("\"num_stages\": ", options["num_stages"].get<int>());
  return kernel;
}

testing::AssertionResult Agree(const Array& actual, const Array& expected, double tolerance) {
  if (actual.type != expected.type || actual.size() != expected.size())
    return testing::AssertionFailure() << "arrays of " << actual.type << " and " << expected.type;
  if (actual.bytes == expected.bytes) return testing::AssertionSuccess();
  for (size_t i = 0; i < actual.size(); ++i) {
    if (actual.Unsigned(i) == expected.Unsigned(i)) continue;
    if (actual.is_float()) {
      double a = actual.Float(i), e = expected.Float(i);
      if (std::isnan(a) && std::isnan(e)) continue;
      if (tolerance > 0 && std::isfinite(e) && std::abs(a - e) <= tolerance * std::max(1.0, std::abs(e))) continue;
      if (tolerance > 0 && a == e) continue;
      return testing::AssertionFailure() << "element " << i << ": " << a << ", expected " << e;
    }
    return testing::AssertionFailure() << "element " << i << ": " << actual.Int(i) << ", expected " << expected.Int(i);
  }
  return testing::AssertionSuccess();
}

std::string Substitute(std::string text, std::vector<std::pair<std::string, std::string>> values) {
  std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  // Values may name other values.
  for (int iteration = 0; iteration < 2; ++iteration)
    for (const auto& [name, value] : values) absl::StrReplaceAll({{absl::StrCat("$", name), value}}, &text);
  return text;
}

}  // namespace tritond::conformance
