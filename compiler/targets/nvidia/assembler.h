// SPDX-License-Identifier: Apache-2.0
// PTX text to cubin, with whichever of NVIDIA's assemblers the machine has.
#ifndef COMPILER_TARGETS_NVIDIA_ASSEMBLER_H_
#define COMPILER_TARGETS_NVIDIA_ASSEMBLER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tritond::compiler::nvidia {

struct AssembleOptions {
  std::string arch;       // "sm_90a"
  bool fp_fusion = true;  // the assembler may contract a * b + c
  bool line_info = false;
  int cpu_seconds = 100;           // for ptxas as a program, and for what runs apart
  std::vector<std::string> extra;  // flags as ptxas spells them, after ours
  std::string* log = nullptr;      // set to what the assembler says of a text that it takes
};

// One assembler found on this machine. Thread-compatible.
class Assembler {
 public:
  virtual ~Assembler() = default;

  // For messages: "nvJitLink 13.0 (/usr/local/cuda/lib64/libnvJitLink.so.13)".
  virtual std::string Name() const = 0;
  // The newest PTX ISA it takes, 90 for 9.0.
  virtual int PtxVersion() const = 0;
  // The program or library itself, for the digest.
  virtual std::string Path() const = 0;
  // Whether it is a program, which Assemble runs.
  virtual bool IsProgram() const { return false; }
  // The cubin. ResourceExhausted: too many registers, too much shared memory, too much time. FailedPrecondition: the
  // assembler is too old for the architecture or the text. Internal: it rejects the text; the message holds its log.
  virtual absl::StatusOr<std::string> Assemble(const std::string& ptx, const AssembleOptions& options) const = 0;
};

// In-process: the library at `path` (or a bare name, for the loader to search). NotFound: no such library, or not one
// that this code knows how to call.
absl::StatusOr<std::unique_ptr<Assembler>> OpenNvJitLink(const std::string& path);
absl::StatusOr<std::unique_ptr<Assembler>> OpenNvPtxCompiler(const std::string& path);
// The same from the archive that a toolkit has in place of the library. NotFound, with lld's log: it cannot be linked.
absl::StatusOr<std::unique_ptr<Assembler>> OpenNvPtxCompilerArchive(const std::string& path);
// The program at `path`, run once a text with files in a temporary folder. NotFound: no working ptxas there.
absl::StatusOr<std::unique_ptr<Assembler>> OpenPtxas(const std::string& path);

// The same assembler in a process of its own (WorkProcess). Cancelled too, when the compile is abandoned.
std::unique_ptr<Assembler> RunApart(std::unique_ptr<Assembler> assembler);

// The newest PTX ISA of a CUDA release: 12.8 → 87.
int PtxVersionOfCuda(int major, int minor);

// The status for an assembler's complaint, `log`; what makes it ResourceExhausted is decided here.
absl::Status AssemblyError(absl::string_view assembler, absl::string_view log);

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_ASSEMBLER_H_
