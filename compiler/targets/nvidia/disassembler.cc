// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/disassembler.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/targets/run_program.h"

namespace tritond::compiler::nvidia {

absl::StatusOr<std::unique_ptr<Disassembler>> Disassembler::Open(const std::string& path) {
  if (access(path.c_str(), X_OK) != 0) return absl::NotFoundError(absl::StrCat(path, ": ", strerror(errno)));
  absl::StatusOr<ProgramEnd> end = RunProgram({path, "--version"}, {}, /*cpu_seconds=*/10);
  if (!end.ok()) return end.status();
  // "Cuda compilation tools, release 13.2, V13.2.78"
  const size_t at = end->output.find("release ");
  int major = 0, minor = 0;
  if (at == std::string::npos || sscanf(end->output.c_str() + at, "release %d.%d", &major, &minor) != 2)
    return absl::NotFoundError(absl::StrCat(path, " does not tell its version"));
  return std::unique_ptr<Disassembler>(new Disassembler(path, absl::StrCat("nvdisasm ", major, ".", minor)));
}

absl::StatusOr<std::string> Disassembler::Disassemble(const std::string& cubin, int cpu_seconds) const {
  MemoryFile in("kernel.cubin");
  if (!in.ok() || !in.Write(cubin))
    return absl::InternalError(absl::StrCat("memory file for nvdisasm: ", strerror(errno)));
  absl::StatusOr<ProgramEnd> end =
      RunProgram({path_, "--print-code", "--print-line-info", in.Path()}, {in.fd()}, cpu_seconds);
  if (!end.ok()) return end.status();
  if (WIFSIGNALED(end->status) && WTERMSIG(end->status) == SIGXCPU)
    return absl::ResourceExhaustedError(
        absl::StrCat(name_, " takes more than ", cpu_seconds, " s of processor time for this kernel"));
  if (!WIFEXITED(end->status) || WEXITSTATUS(end->status) != 0)
    return absl::InternalError(absl::StrCat(name_, ": ", absl::StrReplaceAll(end->log, {{in.Path(), "kernel.cubin"}})));
  return std::move(end->output);
}

}  // namespace tritond::compiler::nvidia
