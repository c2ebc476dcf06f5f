// SPDX-License-Identifier: Apache-2.0
// Cubin to SASS, the GPU's own instructions as text, with NVIDIA's program nvdisasm.
#ifndef COMPILER_TARGETS_NVIDIA_DISASSEMBLER_H_
#define COMPILER_TARGETS_NVIDIA_DISASSEMBLER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tritond::compiler::nvidia {

// One nvdisasm found on this machine. Thread-compatible.
class Disassembler final {
 public:
  // NotFound: no working nvdisasm at `path`.
  static absl::StatusOr<std::unique_ptr<Disassembler>> Open(const std::string& path);

  // For messages: "nvdisasm 13.2".
  const std::string& name() const { return name_; }
  const std::string& path() const { return path_; }

  // The code of the cubin. A comment names the source line of what follows it, where the cubin has line tables.
  // ResourceExhausted: more than `cpu_seconds` of processor time. Internal: the program fails; the message has its log.
  absl::StatusOr<std::string> Disassemble(const std::string& cubin, int cpu_seconds) const;

 private:
  Disassembler(std::string path, std::string name) : path_(std::move(path)), name_(std::move(name)) {}

  const std::string path_, name_;
};

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_DISASSEMBLER_H_
