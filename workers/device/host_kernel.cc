// SPDX-License-Identifier: Apache-2.0
#include "workers/device/host_kernel.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "workers/device/host_abi.h"
#include "workers/device/host_program.h"

namespace tritond::workers {
namespace {

absl::Status CheckProcessor() {
#if defined(__x86_64__)
  // x86-64-v3, which is what the host target compiles for.
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
      __builtin_cpu_supports("fma")) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError("this processor lacks AVX2, BMI or FMA (x86-64-v3), which host kernels use");
#else
  return absl::FailedPreconditionError("host kernels are x86-64 code, and this processor is another");
#endif
}

// The loader trusts what it loads; at least it is an object of the right kind, and whole.
absl::Status CheckObject(absl::string_view object) {
  Elf64_Ehdr header;
  if (object.size() < sizeof(header)) return absl::InvalidArgumentError("no ELF object: too short");
  std::memcpy(&header, object.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != EM_X86_64 || header.e_type != ET_DYN) {
    return absl::InvalidArgumentError("no shared object for x86-64");
  }
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const uint64_t at = header.e_phoff + i * sizeof(segment);
    if (at > object.size() || object.size() - at < sizeof(segment)) {
      return absl::InvalidArgumentError("a truncated shared object");
    }
    std::memcpy(&segment, object.data() + at, sizeof(segment));
    if (segment.p_offset > object.size() || segment.p_filesz > object.size() - segment.p_offset) {
      return absl::InvalidArgumentError("a truncated shared object");
    }
  }
  return absl::OkStatus();
}

// The segments of the loaded `object` that are neither written nor executed. `symbol`: of its own.
std::vector<MemoryRange> ConstantsOf(absl::string_view object, const void* symbol) {
  Dl_info loaded;
  if (dladdr(symbol, &loaded) == 0) return {};
  const auto base = reinterpret_cast<uint64_t>(loaded.dli_fbase);
  Elf64_Ehdr header;
  std::memcpy(&header, object.data(), sizeof(header));
  std::vector<MemoryRange> ranges;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, object.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (segment.p_type != PT_LOAD || (segment.p_flags & (PF_R | PF_W | PF_X)) != PF_R) continue;
    const uint64_t begin = base + segment.p_vaddr;
    ranges.push_back({begin, begin + segment.p_memsz, "the kernel's constants"});
  }
  return ranges;
}

absl::StatusOr<int> WriteToMemoryFile(absl::string_view bytes) {
  const int file = memfd_create("tritond_kernel", MFD_CLOEXEC);
  if (file < 0) return absl::FailedPreconditionError(absl::StrCat("no file in memory: ", std::strerror(errno)));
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const std::string why = std::strerror(errno);
      close(file);
      return absl::ResourceExhaustedError(absl::StrCat("no memory for the kernel's code: ", why));
    }
    bytes.remove_prefix(written);
  }
  return file;
}

}  // namespace

absl::StatusOr<std::unique_ptr<HostKernel>> HostKernel::Load(absl::string_view object, const KernelInfo& info,
                                                             const Device* device) {
  if (absl::Status status = CheckProcessor(); !status.ok()) return status;
  if (absl::Status status = CheckObject(object); !status.ok()) return status;
  const auto file = WriteToMemoryFile(object);
  if (!file.ok()) return file.status();
  auto close_file = absl::MakeCleanup([&] { close(*file); });
  void* library = dlopen(absl::StrCat("/proc/self/fd/", *file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return absl::FailedPreconditionError(absl::StrCat("cannot load the kernel: ", dlerror()));
  auto close_library = absl::MakeCleanup([&] { dlclose(library); });

  const auto* abi = static_cast<const uint32_t*>(dlsym(library, "tritond_host_abi"));
  auto* runtime = static_cast<const TritondHostRuntime**>(dlsym(library, "tritond_host_runtime"));
  if (abi == nullptr || runtime == nullptr) {
    return absl::InvalidArgumentError(
        "not made by the host target: it exports no tritond_host_abi or no tritond_host_runtime");
  }
  if (*abi != TRITOND_HOST_ABI_VERSION) {
    return absl::InvalidArgumentError(
        absl::StrCat("made for version ", *abi, " of the host ABI; this device has ", TRITOND_HOST_ABI_VERSION));
  }
  const auto entry = reinterpret_cast<Entry>(dlsym(library, info.name.c_str()));
  if (entry == nullptr) return absl::InvalidArgumentError(absl::StrCat("holds no kernel \"", info.name, "\""));
  *runtime = &HostRuntime();
  std::move(close_library).Cancel();
  std::move(close_file).Cancel();
  auto kernel = absl::WrapUnique(new HostKernel(info, device, *file, library, entry));
  kernel->constants_ = ConstantsOf(object, reinterpret_cast<void*>(entry));
  return kernel;
}

HostKernel::HostKernel(KernelInfo info, const Device* device, int file, void* library, Entry entry)
    : Kernel(std::move(info)), device_(device), file_(file), library_(library), entry_(entry) {}

HostKernel::~HostKernel() {
  dlclose(library_);
  close(file_);
}

}  // namespace tritond::workers
