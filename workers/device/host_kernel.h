// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_HOST_KERNEL_H_
#define WORKERS_DEVICE_HOST_KERNEL_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "workers/device/device.h"
#include "workers/device/memory_map.h"

namespace tritond::workers {

// A shared object of the host target (host_abi.h), loaded into this process from memory.
class HostKernel final : public Kernel {
 public:
  using Entry = void (*)(void* const*);

  // InvalidArgument: no such object, of another ABI, or without the kernel. FailedPrecondition: this processor lacks
  // what the code uses, or the system cannot load it.
  static absl::StatusOr<std::unique_ptr<HostKernel>> Load(absl::string_view object, const KernelInfo& info,
                                                          const Device* device);
  ~HostKernel() override;
  HostKernel(const HostKernel&) = delete;
  HostKernel& operator=(const HostKernel&) = delete;

  const Device* device() const { return device_; }
  Entry entry() const { return entry_; }
  // The object's constants, which its code may read as global memory.
  const std::vector<MemoryRange>& constants() const { return constants_; }

 private:
  HostKernel(KernelInfo info, const Device* device, int file, void* library, Entry entry);

  const Device* const device_;
  const int file_;  // in memory; open as long as the library, so that its path names no other
  void* const library_;
  const Entry entry_;
  std::vector<MemoryRange> constants_;
};

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_HOST_KERNEL_H_
