// SPDX-License-Identifier: Apache-2.0
// What the NVIDIA target borrows from a CUDA toolkit: an assembler, libdevice and a disassembler.
#ifndef COMPILER_TARGETS_NVIDIA_TOOLCHAIN_H_
#define COMPILER_TARGETS_NVIDIA_TOOLCHAIN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/targets/nvidia/assembler.h"
#include "compiler/targets/nvidia/disassembler.h"
#include "compiler/targets/target.h"
#include "llvm/Support/MemoryBuffer.h"

namespace tritond::compiler::nvidia {

// Looks for each tool when it is first needed and keeps it. The targets of a process that have equal configurations
// share one. Thread-safe.
class Toolchain {
 public:
  static std::shared_ptr<Toolchain> ForConfig(const TargetConfig& config);
  virtual ~Toolchain() = default;

  // Of nvPTXCompiler (a library, or an archive of the release of ptxas), ptxas and nvJitLink the first that there is.
  // FailedPrecondition: none; the message lists where.
  virtual absl::StatusOr<const Assembler*> GetAssembler() = 0;
  // FailedPrecondition as above.
  virtual absl::StatusOr<const Disassembler*> GetDisassembler() = 0;
  // The bitcode of libdevice.10.bc. FailedPrecondition as above.
  virtual absl::StatusOr<const llvm::MemoryBuffer*> GetLibdevice() = 0;
  // "nvJitLink 13.0 <sha256>; libdevice <sha256>", or "none" in place of what is missing. A disassembler adds
  // "; nvdisasm 13.2 <sha256>".
  virtual std::string Id() = 0;
  // "libdevice <sha256>": the second half of it.
  virtual std::string LibdeviceId() = 0;
};

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_TOOLCHAIN_H_
