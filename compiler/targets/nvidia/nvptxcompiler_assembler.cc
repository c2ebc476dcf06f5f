// SPDX-License-Identifier: Apache-2.0
// The "PTX Compiler API": ptxas as a library, with the same output and without the five milliseconds that starting a
// program takes. NVIDIA ships it as an archive. The build makes a shared library of it where a toolkit has one, and a
// worker makes one in memory where it finds the archive alone.
#include <link.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "compiler/targets/isolated_work.h"
#include "compiler/targets/link_elf.h"
#include "compiler/targets/nvidia/assembler.h"
#include "compiler/targets/nvidia/dynamic_library.h"
#include "compiler/targets/run_program.h"

namespace tritond::compiler::nvidia {
namespace {

using Handle = struct nvPTXCompiler*;
using Result = int;
constexpr Result kSuccess = 0;

struct Functions {
  Result (*version)(unsigned*, unsigned*) = nullptr;
  Result (*create)(Handle*, size_t, const char*) = nullptr;
  Result (*destroy)(Handle*) = nullptr;
  Result (*compile)(Handle, int, const char* const*) = nullptr;
  Result (*program_size)(Handle, size_t*) = nullptr;
  Result (*program)(Handle, void*) = nullptr;
  Result (*error_log_size)(Handle, size_t*) = nullptr;
  Result (*error_log)(Handle, char*) = nullptr;
  Result (*info_log_size)(Handle, size_t*) = nullptr;
  Result (*info_log)(Handle, char*) = nullptr;
};

class NvPtxCompilerAssembler final : public Assembler {
 public:
  // The library's version is that of the CUDA release it belongs to.
  // `path`: the file that it was made of.
  NvPtxCompilerAssembler(std::unique_ptr<DynamicLibrary> library, std::string path, Functions functions, unsigned major,
                         unsigned minor)
      : library_(std::move(library)), path_(std::move(path)), functions_(functions), major_(major), minor_(minor) {}

  std::string Name() const override { return absl::StrCat("nvPTXCompiler ", major_, ".", minor_, " (", Path(), ")"); }
  int PtxVersion() const override { return PtxVersionOfCuda(major_, minor_); }
  std::string Path() const override { return path_; }

  absl::StatusOr<std::string> Assemble(const std::string& ptx, const AssembleOptions& options) const override {
    std::vector<std::string> flags = {absl::StrCat("--gpu-name=", options.arch)};
    if (!options.fp_fusion) flags.push_back("--fmad=false");
    if (options.line_info) flags.push_back("--generate-line-info");
    flags.insert(flags.end(), options.extra.begin(), options.extra.end());
    std::vector<const char*> pointers;
    for (const std::string& flag : flags) pointers.push_back(flag.c_str());

    Handle handle = nullptr;
    Result result = functions_.create(&handle, ptx.size(), ptx.c_str());
    if (result == kSuccess) result = functions_.compile(handle, pointers.size(), pointers.data());
    std::string cubin;
    size_t size = 0;
    if (result == kSuccess) result = functions_.program_size(handle, &size);
    if (result == kSuccess) {
      cubin.resize(size);
      result = functions_.program(handle, cubin.data());
    }
    absl::Status error = result == kSuccess ? absl::OkStatus() : Error(handle, result);
    if (error.ok() && options.log) *options.log = Log(handle, functions_.info_log_size, functions_.info_log);
    if (handle) functions_.destroy(&handle);
    if (!error.ok()) return error;
    return cubin;
  }

 private:
  absl::Status Error(Handle handle, Result result) const {
    const std::string log = handle ? Log(handle, functions_.error_log_size, functions_.error_log) : "";
    return AssemblyError(Name(), absl::StrCat("error ", result, log.empty() ? "" : ": ", log));
  }

  // One of the two that the library keeps.
  static std::string Log(Handle handle, Result (*log_size)(Handle, size_t*), Result (*log)(Handle, char*)) {
    size_t size = 0;
    if (log_size(handle, &size) != kSuccess || size == 0) return "";
    std::string text(size + 1, '\0');
    log(handle, text.data());
    return text.c_str();
  }

  std::unique_ptr<DynamicLibrary> library_;
  std::string path_;
  Functions functions_;
  unsigned major_, minor_;
};

// `path`: the library's, or of what it was made of. "": the file that the loader found.
absl::StatusOr<std::unique_ptr<Assembler>> AssemblerIn(std::unique_ptr<DynamicLibrary> library, std::string path) {
  Functions f;
  unsigned major = 0, minor = 0;
  const bool complete =
      library->Load("nvPTXCompilerGetVersion", f.version) && library->Load("nvPTXCompilerCreate", f.create) &&
      library->Load("nvPTXCompilerDestroy", f.destroy) && library->Load("nvPTXCompilerCompile", f.compile) &&
      library->Load("nvPTXCompilerGetCompiledProgramSize", f.program_size) &&
      library->Load("nvPTXCompilerGetCompiledProgram", f.program) &&
      library->Load("nvPTXCompilerGetErrorLogSize", f.error_log_size) &&
      library->Load("nvPTXCompilerGetErrorLog", f.error_log) &&
      library->Load("nvPTXCompilerGetInfoLogSize", f.info_log_size) &&
      library->Load("nvPTXCompilerGetInfoLog", f.info_log);
  if (!complete || f.version(&major, &minor) != kSuccess)
    return absl::NotFoundError(absl::StrCat(path, " is no PTX compiler library"));
  if (path.empty()) path = library->PathOf(reinterpret_cast<void*>(f.create));
  return std::make_unique<NvPtxCompilerAssembler>(std::move(library), std::move(path), f, major, minor);
}

// Only the interface is seen from outside. The archive lists its constructors in .ctors, which no loader knows.
constexpr absl::string_view kLinkerScript =
    "VERSION { { global: nvPTXCompiler*; local: *; }; }\n"
    "SECTIONS { .init_array : { KEEP(*(.ctors)) } } INSERT AFTER .data.rel.ro;\n";

absl::Status NoMemory() { return absl::ResourceExhaustedError(absl::StrCat("no file in memory: ", strerror(errno))); }

// The C library and what belongs to it, as this process has loaded them. lld takes the versions of their functions from
// them: a name without one would mean the oldest.
std::vector<std::string> LoadedCLibraries() {
  std::vector<std::string> paths;
  const auto add = [](dl_phdr_info* info, size_t, void* found) {
    const absl::string_view path = info->dlpi_name, name = path.substr(path.rfind('/') + 1);
    for (absl::string_view wanted : {"libc.so", "libm.so", "libpthread.so", "libgcc_s.so"}) {
      if (name.substr(0, wanted.size()) == wanted) static_cast<std::vector<std::string>*>(found)->emplace_back(path);
    }
    return 0;
  };
  dl_iterate_phdr(add, &paths);
  return paths;
}

// The archive as a shared library. It is linked in a process of its own, for lld resets the options of all of LLVM.
absl::StatusOr<std::string> LinkArchive(const std::string& archive) {
  MemoryFile script("script");
  if (!script.ok() || !script.Write(kLinkerScript)) return NoMemory();
  const std::string script_flag = absl::StrCat("--script=", script.Path());
  std::vector<const char*> arguments = {"--strip-all", "--gc-sections", "--undefined-glob=nvPTXCompiler*",
                                        script_flag.c_str(), archive.c_str()};
  const std::vector<std::string> libraries = LoadedCLibraries();
  for (const std::string& library : libraries) arguments.push_back(library.c_str());
  return RunIsolated("the linker", [&] { return LinkSharedObject(arguments); });
}

// The library of these bytes. It has no code that takes back what it registered for the process's end, so it stays. So
// does its file, for the loader takes two of one name for the same.
absl::StatusOr<std::unique_ptr<DynamicLibrary>> OpenInMemory(const std::string& bytes) {
  auto file = std::make_unique<MemoryFile>("nvptxcompiler");
  if (!file->ok() || !file->Write(bytes)) return NoMemory();
  auto library = DynamicLibrary::Open(absl::StrCat("/proc/", getpid(), "/fd/", file->fd()), /*stays=*/true);
  if (library.ok()) file.release();  // NOLINT: on purpose
  return library;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Assembler>> OpenNvPtxCompiler(const std::string& path) {
  absl::StatusOr<std::unique_ptr<DynamicLibrary>> library = DynamicLibrary::Open(path);
  if (!library.ok()) return library.status();
  return AssemblerIn(*std::move(library), /*path=*/"");
}

absl::StatusOr<std::unique_ptr<Assembler>> OpenNvPtxCompilerArchive(const std::string& path) {
  const absl::StatusOr<std::string> linked = LinkArchive(path);
  auto library = linked.ok() ? OpenInMemory(*linked) : linked.status();
  if (!library.ok()) return absl::NotFoundError(absl::StrCat(path, ": ", library.status().message()));
  return AssemblerIn(*std::move(library), path);
}

}  // namespace tritond::compiler::nvidia
