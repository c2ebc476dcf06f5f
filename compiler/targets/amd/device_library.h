// SPDX-License-Identifier: Apache-2.0
// What the AMD target borrows from a ROCm installation: the device libraries, as LLVM bitcode.
#ifndef COMPILER_TARGETS_AMD_DEVICE_LIBRARY_H_
#define COMPILER_TARGETS_AMD_DEVICE_LIBRARY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/targets/target.h"
#include "llvm/Support/MemoryBuffer.h"

namespace tritond::compiler::amd {

// Looks for each file when it is first needed and keeps it. The targets of a process that have equal configurations
// share one. Thread-safe.
class DeviceLibrary {
 public:
  static std::shared_ptr<DeviceLibrary> ForConfig(const TargetConfig& config);
  virtual ~DeviceLibrary() = default;

  // The bitcode of `name`, "ocml" or "ockl". FailedPrecondition: it is not there; the message says where it may be and
  // what to install.
  virtual absl::StatusOr<const llvm::MemoryBuffer*> Get(absl::string_view name) = 0;
  // "ocml <sha256>; ockl <sha256>", or "none" in place of what is missing.
  virtual std::string Id() = 0;
};

}  // namespace tritond::compiler::amd

#endif  // COMPILER_TARGETS_AMD_DEVICE_LIBRARY_H_
