// SPDX-License-Identifier: Apache-2.0
#include "workers/measure/kernel_process.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "workers/device/devices.h"
#include "workers/measure/launch_buffers.h"
#include "workers/measure/message_pipe.h"

namespace tritond::workers {
namespace {

// Outputs that are kept to compare others with. Who agrees with none of them gets a number of its own.
constexpr size_t kMostGroups = 8;

void SetStatus(const absl::Status& status, v1::DeviceReply* reply) {
  reply->set_code(static_cast<int>(status.code()));
  reply->set_message(std::string(status.message()));
}

struct LoadedKernel {
  std::unique_ptr<Kernel> kernel;
  Grid grid;
};

class KernelServer final {
 public:
  explicit KernelServer(Device& device) : device_(device) {}

  v1::DeviceReply Answer(const v1::DeviceCommand& command) {
    v1::DeviceReply reply;
    switch (command.command_case()) {
      case v1::DeviceCommand::kPrepare:
        SetStatus(Prepare(command.prepare()), &reply);
        break;
      case v1::DeviceCommand::kLoad:
        SetStatus(Load(command.load(), &reply), &reply);
        break;
      case v1::DeviceCommand::kCheck:
        SetStatus(Check(command.check(), &reply), &reply);
        break;
      case v1::DeviceCommand::kTime:
        SetStatus(Time(command.time(), &reply), &reply);
        break;
      case v1::DeviceCommand::kTellState:
        TellState(reply.mutable_state());
        break;
      case v1::DeviceCommand::COMMAND_NOT_SET:
        SetStatus(absl::UnimplementedError("a command that this process does not know"), &reply);
    }
    return reply;
  }

 private:
  absl::Status Prepare(const v1::Launch& launch) {
    kernels_.clear();
    groups_.clear();
    next_group_ = 1;
    buffers_.reset();  // Before the next ones are allocated.
    absl::StatusOr<std::unique_ptr<LaunchBuffers>> buffers = LaunchBuffers::Make(device_, launch);
    if (!buffers.ok()) return buffers.status();
    buffers_ = *std::move(buffers);
    return buffers_->FillAll();
  }

  absl::Status Load(const v1::MeasureJob::Candidate& candidate, v1::DeviceReply* reply) {
    absl::StatusOr<KernelInfo> info = ParseKernelInfo(candidate.metadata_json());
    if (!info.ok()) return info.status();
    const v1::LaunchAbi& abi = candidate.abi();
    info->has_global_scratch = !abi.has_global_scratch() || abi.global_scratch();
    info->has_profile_scratch = !abi.has_profile_scratch() || abi.profile_scratch();
    absl::StatusOr<std::unique_ptr<Kernel>> kernel = device_.Load(candidate.binary(), *info);
    if (!kernel.ok()) return kernel.status();
    const KernelFacts facts = device_.FactsOf(**kernel);
    reply->mutable_facts()->set_registers(facts.registers);
    reply->mutable_facts()->set_spill_bytes(facts.spill_bytes);
    reply->mutable_facts()->set_shared_bytes(facts.shared_bytes);
    reply->mutable_facts()->set_programs_at_once(facts.programs_at_once);
    const v1::Grid& grid = candidate.grid();
    kernels_[candidate.index()] = {*std::move(kernel), {grid.x(), grid.y(), grid.z()}};
    return absl::OkStatus();
  }

  absl::StatusOr<LoadedKernel*> Find(uint32_t index) {
    auto it = kernels_.find(index);
    if (it == kernels_.end() || buffers_ == nullptr)
      return absl::FailedPreconditionError(absl::StrCat("candidate ", index, " is not loaded"));
    return &it->second;
  }

  absl::Status Check(uint32_t index, v1::DeviceReply* reply) {
    const absl::StatusOr<LoadedKernel*> loaded = Find(index);
    if (!loaded.ok()) return loaded.status();
    if (absl::Status status = buffers_->FillAll(); !status.ok()) return status;
    const absl::Status ran = device_.Launch(*(*loaded)->kernel, (*loaded)->grid, buffers_->arguments());
    if (!ran.ok()) return ran;
    const absl::StatusOr<absl::Span<const std::string>> outputs = buffers_->ReadOutputs();
    if (!outputs.ok()) return outputs.status();
    std::string difference = buffers_->DifferenceFromReferences(*outputs);
    if (difference.empty() && !buffers_->HasAllReferences() && LaunchBuffers::IsPoison(*outputs))
      difference = "it wrote nothing into its outputs";
    if (!difference.empty()) {
      reply->set_wrong(true);
      return absl::InvalidArgumentError(difference);
    }
    reply->set_output_group(buffers_->HasAllReferences() ? 1 : GroupOf(*outputs));
    return absl::OkStatus();
  }

  uint32_t GroupOf(absl::Span<const std::string> outputs) {
    for (const auto& [number, expected] : groups_) {
      if (buffers_->Difference(outputs, expected).empty()) return number;
    }
    if (groups_.size() < kMostGroups)
      groups_.emplace_back(next_group_, std::vector<std::string>(outputs.begin(), outputs.end()));
    return next_group_++;
  }

  void TellState(v1::DeviceState* to) const {
    const DeviceState state = device_.State();
    to->set_clock_mhz(state.clock_mhz);
    to->set_memory_clock_mhz(state.memory_clock_mhz);
    to->set_temperature_celsius(state.temperature_celsius);
    to->set_power_watts(state.power_watts);
  }

  absl::Status Time(const v1::DeviceCommand::Time& command, v1::DeviceReply* reply) {
    const absl::StatusOr<LoadedKernel*> loaded = Find(command.index());
    if (!loaded.ok()) return loaded.status();
    if (absl::Status status = buffers_->FillInOut(); !status.ok()) return status;
    const auto sample = [&](uint32_t warmup, uint32_t samples) -> absl::Status {
      TimingOptions options;
      options.warmup = static_cast<int>(warmup);
      options.samples = static_cast<int>(samples);
      options.flush_l2 = command.flush_l2();
      const auto times = device_.Time(*(*loaded)->kernel, (*loaded)->grid, buffers_->arguments(), options);
      if (!times.ok()) return times.status();
      for (const absl::Duration time : *times) reply->add_samples_us(absl::ToDoubleMicroseconds(time));
      return absl::OkStatus();
    };
    if (absl::Status status = sample(command.warmup(), 1); !status.ok()) return status;
    const bool hopeless = command.stop_above_us() > 0 && reply->samples_us(0) > command.stop_above_us();
    if (hopeless || command.samples() <= 1) return absl::OkStatus();
    return sample(0, command.samples() - 1);
  }

  Device& device_;
  std::map<uint32_t, LoadedKernel> kernels_;
  std::unique_ptr<LaunchBuffers> buffers_;
  std::vector<std::pair<uint32_t, std::vector<std::string>>> groups_;
  uint32_t next_group_ = 1;
};

}  // namespace

v1::Hello::Device DescribeDevice(const Device& device) {
  v1::Hello::Device description;
  description.set_name(device.Name());
  description.set_model(device.Model());
  description.set_target(device.Target());
  description.set_driver(device.Driver());
  const DeviceFacts facts = device.Facts();
  description.set_memory_bytes(facts.memory_bytes);
  description.set_clock_mhz(facts.clock_mhz);
  description.set_memory_clock_mhz(facts.memory_clock_mhz);
  v1::DeviceLimits& limits = *description.mutable_limits();
  limits.set_threads_per_program(facts.threads_per_program);
  limits.set_programs_per_cluster(facts.programs_per_cluster);
  limits.set_shared_bytes_per_program(facts.shared_bytes_per_program);
  limits.set_registers_per_thread(facts.registers_per_thread);
  limits.set_threads(facts.threads);
  limits.set_programs(facts.programs);
  limits.set_shared_bytes(facts.shared_bytes);
  limits.set_registers(facts.registers);
  return description;
}

int RunKernelProcess(absl::Span<char* const> arguments) {
  constexpr int kWrongArguments = 2;
  int descriptor = -1;
  if (arguments.size() < 2 || !absl::SimpleAtoi(arguments.back(), &descriptor)) return kWrongArguments;
  arguments.remove_suffix(1);
  DeviceOptions options;
  for (const char* library : arguments.first(arguments.size() - 1)) {
    if (!AddDeviceLibrary(library, &options.libraries).ok()) return kWrongArguments;
  }
  MessagePipe pipe(descriptor);
  absl::StatusOr<std::unique_ptr<Device>> device = OpenDevice(arguments.back(), options);
  v1::DeviceReply greeting;
  SetStatus(device.status(), &greeting);
  if (device.ok()) *greeting.mutable_device() = DescribeDevice(**device);
  if (!pipe.Send(greeting, absl::InfiniteDuration()).ok() || !device.ok()) return 1;
  KernelServer server(**device);
  v1::DeviceCommand command;
  while (pipe.Receive(&command, absl::InfiniteDuration()).ok()) {
    if (!pipe.Send(server.Answer(command), absl::InfiniteDuration()).ok()) break;
  }
  return 0;
}

}  // namespace tritond::workers
