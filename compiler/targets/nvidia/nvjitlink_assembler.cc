// SPDX-License-Identifier: Apache-2.0
// nvJitLink, a library of CUDA 12.0 and later, used as an assembler: one PTX input, linked to a cubin. In-process and
// without files. Its functions have a version in their names: nvJitLinkCreate is __nvJitLinkCreate_13_0 in 13.0.
#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/targets/nvidia/assembler.h"
#include "compiler/targets/nvidia/dynamic_library.h"

namespace tritond::compiler::nvidia {
namespace {

// The part of the library's C interface that we call; enumerators have the values of its header.
using Handle = struct nvJitLink*;
using Result = int;
constexpr Result kSuccess = 0;
constexpr int kInputPtx = 2;

struct Functions {
  Result (*create)(Handle*, uint32_t, const char* const*) = nullptr;
  Result (*destroy)(Handle*) = nullptr;
  Result (*add_data)(Handle, int, const void*, size_t, const char*) = nullptr;
  Result (*complete)(Handle) = nullptr;
  Result (*cubin_size)(Handle, size_t*) = nullptr;
  Result (*cubin)(Handle, void*) = nullptr;
  Result (*error_log_size)(Handle, size_t*) = nullptr;
  Result (*error_log)(Handle, char*) = nullptr;
  Result (*info_log_size)(Handle, size_t*) = nullptr;
  Result (*info_log)(Handle, char*) = nullptr;
};

const char* ResultName(Result result) {
  static constexpr std::array<const char*, 19> kNames = {"success",
                                                         "unrecognized option",
                                                         "missing arch",
                                                         "invalid input",
                                                         "PTX compilation failed",
                                                         "NVVM compilation failed",
                                                         "internal error",
                                                         "thread pool error",
                                                         "unrecognized input",
                                                         "finalizer error",
                                                         "null input",
                                                         "incompatible options",
                                                         "incorrect input type",
                                                         "arch mismatch",
                                                         "outdated library",
                                                         "missing fatbin",
                                                         "unrecognized arch",
                                                         "unsupported arch",
                                                         "LTO not enabled"};
  return result >= 0 && result < static_cast<int>(kNames.size()) ? kNames[result] : "unknown error";
}

// Flags after -Xptxas= go to its built-in ptxas. Its own -fma=0 looks like --fmad=false, but concerns link-time
// optimisation alone and leaves PTX contracted.
std::vector<std::string> LinkerFlags(const AssembleOptions& options) {
  std::vector<std::string> flags = {absl::StrCat("-arch=", options.arch), "-O3"};
  if (!options.fp_fusion) flags.push_back("-Xptxas=--fmad=false");
  if (options.line_info) flags.push_back("-lineinfo");
  for (const std::string& flag : options.extra) flags.push_back(absl::StrCat("-Xptxas=", flag));
  return flags;
}

class NvJitLinkAssembler final : public Assembler {
 public:
  NvJitLinkAssembler(std::unique_ptr<DynamicLibrary> library, Functions functions, unsigned major, unsigned minor)
      : library_(std::move(library)), functions_(functions), major_(major), minor_(minor) {}

  std::string Name() const override { return absl::StrCat("nvJitLink ", major_, ".", minor_, " (", Path(), ")"); }
  int PtxVersion() const override { return PtxVersionOfCuda(major_, minor_); }
  std::string Path() const override { return library_->PathOf(reinterpret_cast<void*>(functions_.create)); }

  absl::StatusOr<std::string> Assemble(const std::string& ptx, const AssembleOptions& options) const override {
    const std::vector<std::string> flags = LinkerFlags(options);
    std::vector<const char*> pointers;
    for (const std::string& flag : flags) pointers.push_back(flag.c_str());
    Handle handle = nullptr;
    Result result = functions_.create(&handle, pointers.size(), pointers.data());
    if (result == kSuccess) {
      result = functions_.add_data(handle, kInputPtx, ptx.data(), ptx.size(), "kernel.ptx");
    }
    if (result == kSuccess) result = functions_.complete(handle);
    absl::StatusOr<std::string> cubin = result == kSuccess ? Cubin(handle) : Error(handle, result);
    if (cubin.ok() && options.log) *options.log = Log(handle, functions_.info_log_size, functions_.info_log);
    if (handle) functions_.destroy(&handle);
    return cubin;
  }

 private:
  absl::StatusOr<std::string> Cubin(Handle handle) const {
    size_t size = 0;
    Result result = functions_.cubin_size(handle, &size);
    std::string cubin(size, '\0');
    if (result == kSuccess) result = functions_.cubin(handle, cubin.data());
    if (result != kSuccess) return Error(handle, result);
    return cubin;
  }

  absl::Status Error(Handle handle, Result result) const {
    const std::string log = handle ? Log(handle, functions_.error_log_size, functions_.error_log) : "";
    return AssemblyError(Name(), absl::StrCat(ResultName(result), log.empty() ? "" : ": ", log));
  }

  // One of the two that the library keeps.
  static std::string Log(Handle handle, Result (*log_size)(Handle, size_t*), Result (*log)(Handle, char*)) {
    size_t size = 0;
    if (log_size(handle, &size) != kSuccess || size <= 1) return "";
    std::string text(size, '\0');
    log(handle, text.data());
    return text.c_str();
  }

  std::unique_ptr<DynamicLibrary> library_;
  Functions functions_;
  unsigned major_, minor_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Assembler>> OpenNvJitLink(const std::string& path) {
  absl::StatusOr<std::unique_ptr<DynamicLibrary>> library = DynamicLibrary::Open(path);
  if (!library.ok()) return library.status();
  Result (*version)(unsigned*, unsigned*) = nullptr;
  unsigned major = 0, minor = 0;
  if (!(*library)->Load("nvJitLinkVersion", version) || version(&major, &minor) != kSuccess) {
    return absl::NotFoundError(absl::StrCat(path, " does not tell its version"));
  }
  Functions f;
  bool complete = true;
  // The versioned name first; some releases also export the plain one.
  auto load = [&](const std::string& name, auto*& function) {
    complete = complete && ((*library)->Load(absl::StrCat("__nvJitLink", name, "_", major, "_", minor), function) ||
                            (*library)->Load(absl::StrCat("nvJitLink", name), function));
  };
  load("Create", f.create);
  load("Destroy", f.destroy);
  load("AddData", f.add_data);
  load("Complete", f.complete);
  load("GetLinkedCubinSize", f.cubin_size);
  load("GetLinkedCubin", f.cubin);
  load("GetErrorLogSize", f.error_log_size);
  load("GetErrorLog", f.error_log);
  load("GetInfoLogSize", f.info_log_size);
  load("GetInfoLog", f.info_log);
  if (!complete) return absl::NotFoundError(absl::StrCat(path, " lacks functions of nvJitLink ", major, ".", minor));
  return std::make_unique<NvJitLinkAssembler>(*std::move(library), f, major, minor);
}

}  // namespace tritond::compiler::nvidia
