// SPDX-License-Identifier: Apache-2.0
// The program ptxas. It reads and writes memory files under /proc/self/fd, so that a worker without any writable folder
// can use it.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/targets/nvidia/assembler.h"
#include "compiler/targets/run_program.h"

namespace tritond::compiler::nvidia {
namespace {

class PtxasAssembler final : public Assembler {
 public:
  PtxasAssembler(std::string path, int major, int minor) : path_(std::move(path)), major_(major), minor_(minor) {}

  std::string Name() const override { return absl::StrCat("ptxas ", major_, ".", minor_, " (", path_, ")"); }
  int PtxVersion() const override { return PtxVersionOfCuda(major_, minor_); }
  std::string Path() const override { return path_; }
  bool IsProgram() const override { return true; }

  absl::StatusOr<std::string> Assemble(const std::string& ptx, const AssembleOptions& options) const override {
    MemoryFile in("kernel.ptx"), out("kernel.cubin");
    if (!in.ok() || !out.ok() || !in.Write(ptx)) {
      return absl::InternalError(absl::StrCat("memory file for ptxas: ", strerror(errno)));
    }
    std::vector<std::string> command = {path_, "-v", absl::StrCat("--gpu-name=", options.arch), "--opt-level=3"};
    if (!options.fp_fusion) command.push_back("--fmad=false");
    if (options.line_info) command.push_back("--generate-line-info");
    command.insert(command.end(), options.extra.begin(), options.extra.end());
    command.insert(command.end(), {in.Path(), "--output-file", out.Path()});
    absl::StatusOr<ProgramEnd> outcome = RunProgram(command, {in.fd(), out.fd()}, options.cpu_seconds);
    if (!outcome.ok()) return outcome.status();
    // Descriptors' numbers depend on what else this process has open; a message must not.
    const std::string log =
        absl::StrReplaceAll(outcome->output + outcome->log, {{in.Path(), "kernel.ptx"}, {out.Path(), "kernel.cubin"}});
    if (WIFSIGNALED(outcome->status) && WTERMSIG(outcome->status) == SIGXCPU) {
      return absl::ResourceExhaustedError(
          absl::StrCat(Name(), " takes more than ", options.cpu_seconds,
                       " s of processor time for this kernel; with more warps each thread has less to do"));
    }
    if (WIFSIGNALED(outcome->status)) {
      return absl::InternalError(absl::StrCat(Name(), " died of signal ", WTERMSIG(outcome->status), ": ", log));
    }
    if (WEXITSTATUS(outcome->status) != 0) return AssemblyError(Name(), log);
    if (options.log) *options.log = log;
    return out.Contents();
  }

 private:
  std::string path_;
  int major_, minor_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Assembler>> OpenPtxas(const std::string& path) {
  if (access(path.c_str(), X_OK) != 0) return absl::NotFoundError(absl::StrCat(path, ": ", strerror(errno)));
  absl::StatusOr<ProgramEnd> outcome = RunProgram({path, "--version"}, {}, /*cpu_seconds=*/10);
  if (!outcome.ok()) return outcome.status();
  // "Cuda compilation tools, release 13.0, V13.0.88"
  const size_t at = outcome->output.find("release ");
  int major = 0, minor = 0;
  if (at == std::string::npos || sscanf(outcome->output.c_str() + at, "release %d.%d", &major, &minor) != 2) {
    return absl::NotFoundError(absl::StrCat(path, " does not tell its version"));
  }
  return std::make_unique<PtxasAssembler>(path, major, minor);
}

}  // namespace tritond::compiler::nvidia
