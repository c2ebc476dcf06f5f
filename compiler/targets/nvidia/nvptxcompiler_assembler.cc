// SPDX-License-Identifier: Apache-2.0
// The "PTX Compiler API": ptxas as a library, with the same output and without the five milliseconds that starting a
// program takes. NVIDIA ships it as an archive; the build makes a shared library of it where a toolkit has one.
#include "absl/strings/str_cat.h"
#include "compiler/targets/nvidia/assembler.h"
#include "compiler/targets/nvidia/dynamic_library.h"

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
  Result (*log_size)(Handle, size_t*) = nullptr;
  Result (*log)(Handle, char*) = nullptr;
};

class NvPtxCompilerAssembler final : public Assembler {
 public:
  // The library's version is that of the CUDA release it belongs to.
  NvPtxCompilerAssembler(std::unique_ptr<DynamicLibrary> library, Functions functions, unsigned major, unsigned minor)
      : library_(std::move(library)), functions_(functions), major_(major), minor_(minor) {}

  std::string Name() const override { return absl::StrCat("nvPTXCompiler ", major_, ".", minor_, " (", Path(), ")"); }
  int PtxVersion() const override { return PtxVersionOfCuda(major_, minor_); }
  std::string Path() const override { return library_->PathOf(reinterpret_cast<void*>(functions_.create)); }

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
    if (handle) functions_.destroy(&handle);
    if (!error.ok()) return error;
    return cubin;
  }

 private:
  absl::Status Error(Handle handle, Result result) const {
    std::string log = absl::StrCat("error ", result);
    size_t size = 0;
    if (handle && functions_.log_size(handle, &size) == kSuccess && size > 0) {
      std::string text(size + 1, '\0');
      functions_.log(handle, text.data());
      absl::StrAppend(&log, ": ", text.c_str());
    }
    return AssemblyError(Name(), log);
  }

  std::unique_ptr<DynamicLibrary> library_;
  Functions functions_;
  unsigned major_, minor_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Assembler>> OpenNvPtxCompiler(const std::string& path) {
  absl::StatusOr<std::unique_ptr<DynamicLibrary>> library = DynamicLibrary::Open(path);
  if (!library.ok()) return library.status();
  Functions f;
  unsigned major = 0, minor = 0;
  const bool complete =
      (*library)->Load("nvPTXCompilerGetVersion", f.version) && (*library)->Load("nvPTXCompilerCreate", f.create) &&
      (*library)->Load("nvPTXCompilerDestroy", f.destroy) && (*library)->Load("nvPTXCompilerCompile", f.compile) &&
      (*library)->Load("nvPTXCompilerGetCompiledProgramSize", f.program_size) &&
      (*library)->Load("nvPTXCompilerGetCompiledProgram", f.program) &&
      (*library)->Load("nvPTXCompilerGetErrorLogSize", f.log_size) &&
      (*library)->Load("nvPTXCompilerGetErrorLog", f.log);
  if (!complete || f.version(&major, &minor) != kSuccess) {
    return absl::NotFoundError(absl::StrCat(path, " is no PTX compiler library"));
  }
  return std::make_unique<NvPtxCompilerAssembler>(*std::move(library), f, major, minor);
}

}  // namespace tritond::compiler::nvidia
