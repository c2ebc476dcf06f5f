// SPDX-License-Identifier: Apache-2.0
#include "workers/device/gpu_device.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::workers {

std::vector<void*> PointersTo(absl::Span<const Argument> arguments) {
  std::vector<void*> pointers;
  for (const Argument& argument : arguments) pointers.push_back(const_cast<void*>(argument.data()));
  return pointers;
}

absl::StatusOr<Buffer> GpuDevice::Allocate(uint64_t bytes) {
  if (absl::Status status = Enter(); !status.ok()) return status;
  // Drivers have no empty allocations.
  const absl::StatusOr<uint64_t> address = AllocateBytes(std::max<uint64_t>(bytes, 1));
  if (!address.ok()) return address.status();
  return Buffer(this, *address, bytes);
}

absl::Status GpuDevice::CopyIn(const Buffer& buffer, uint64_t offset, absl::Span<const char> bytes) {
  if (absl::Status status = CheckCopy(buffer, offset, bytes.size()); !status.ok() || bytes.empty()) return status;
  if (absl::Status status = Enter(); !status.ok()) return status;
  return CopyToDevice(buffer.address() + offset, bytes);
}

absl::Status GpuDevice::CopyOut(const Buffer& buffer, uint64_t offset, absl::Span<char> bytes) {
  if (absl::Status status = CheckCopy(buffer, offset, bytes.size()); !status.ok() || bytes.empty()) return status;
  if (absl::Status status = Enter(); !status.ok()) return status;
  return CopyFromDevice(bytes, buffer.address() + offset);
}

absl::Status GpuDevice::CheckShared(const KernelInfo& info, uint64_t declared, uint64_t most) const {
  const uint64_t bytes = info.shared + declared;
  if (bytes <= most) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(info.name, ": ", bytes, " bytes of shared memory; ", Name(), " has ", most));
}

absl::StatusOr<GpuDevice::Prepared> GpuDevice::Prepare(const Kernel& kernel, const Grid& grid,
                                                       absl::Span<const Argument> arguments) {
  const KernelInfo& info = kernel.info();
  Prepared made;
  made.kernel = dynamic_cast<const GpuKernel*>(&kernel);
  if (made.kernel == nullptr || made.kernel->device() != this)
    return absl::InvalidArgumentError(absl::StrCat(info.name, " was loaded on another device"));
  if (absl::Status status = CheckLaunch(info, grid, arguments); !status.ok()) return status;
  const uint64_t blocks = uint64_t{grid.x} * info.num_ctas;
  if (blocks > INT32_MAX) return absl::InvalidArgumentError(absl::StrCat("a grid of ", blocks, " blocks in x"));
  made.blocks = {static_cast<uint32_t>(blocks), grid.y, grid.z};
  if (absl::Status status = Enter(); !status.ok()) return status;
  made.arguments.assign(arguments.begin(), arguments.end());
  const uint64_t bytes[2] = {info.global_scratch_size, info.profile_scratch_size};
  const bool is_passed[2] = {info.has_global_scratch, info.has_profile_scratch};
  for (int i = 0; i < 2; ++i) {
    if (bytes[i] > 0) {
      auto buffer = Allocate(bytes[i] * made.blocks.Programs());
      if (!buffer.ok()) return buffer.status();
      made.scratch[i] = *std::move(buffer);
    }
    if (is_passed[i]) made.arguments.push_back(Argument::Pointer(made.scratch[i]));
  }
  return made;
}

absl::Status GpuDevice::Launch(const Kernel& kernel, const Grid& grid, absl::Span<const Argument> arguments) {
  const auto prepared = Prepare(kernel, grid, arguments);
  if (!prepared.ok()) return prepared.status();
  return Run(*prepared->kernel, prepared->blocks, prepared->arguments, nullptr);
}

absl::StatusOr<std::vector<absl::Duration>> GpuDevice::Time(const Kernel& kernel, const Grid& grid,
                                                            absl::Span<const Argument> arguments,
                                                            const TimingOptions& options) {
  const auto prepared = Prepare(kernel, grid, arguments);
  if (!prepared.ok()) return prepared.status();
  Buffer flush;
  if (options.flush_l2 && CacheBytes() > 0) {
    auto buffer = Allocate(2 * CacheBytes());
    if (!buffer.ok()) return buffer.status();
    flush = *std::move(buffer);
  }
  std::vector<absl::Duration> samples;
  for (int i = 0; i < options.warmup + options.samples; ++i) {
    absl::Status status;
    if (flush.size() > 0) status = Fill(flush.address(), static_cast<unsigned char>(i), flush.size());
    absl::Duration time;
    if (status.ok()) status = Run(*prepared->kernel, prepared->blocks, prepared->arguments, &time);
    if (!status.ok()) return status;
    if (i >= options.warmup) samples.push_back(time);
  }
  return samples;
}

}  // namespace tritond::workers
