// SPDX-License-Identifier: Apache-2.0
// SPIR-V to native code of Intel GPUs, with Intel's program ocloc.
#ifndef COMPILER_TARGETS_INTEL_OCLOC_H_
#define COMPILER_TARGETS_INTEL_OCLOC_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "compiler/targets/target.h"

namespace tritond::compiler::intel {

// One ocloc. Immutable, but for its id, which is made when it is first asked for. Thread-safe.
class Ocloc final {
 public:
  explicit Ocloc(std::string path) : path_(std::move(path)) {}

  // The one of this machine, by `config`; targets of a process with equal configurations share it. FailedPrecondition:
  // there is none; the message says where it was looked for.
  static absl::StatusOr<std::shared_ptr<Ocloc>> Find(const TargetConfig& config);

  // The native module for `device`, as ocloc calls it, with `options` for its compiler. ResourceExhausted: more than
  // `cpu_seconds` of processor time. Internal: the program fails; the message has its log.
  absl::StatusOr<std::string> Compile(const std::string& spirv, const std::string& device, const std::string& options,
                                      int cpu_seconds) const;

  // The program, and the library of its compiler where it is found; absolute paths.
  std::vector<std::string> Files() const;
  // "ocloc <sha256 of both>".
  std::string Id();

 private:
  const std::string path_;
  absl::Mutex mu_;
  std::string id_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::compiler::intel

#endif  // COMPILER_TARGETS_INTEL_OCLOC_H_
