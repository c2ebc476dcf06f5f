// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/dynamic_library.h"

#include <dlfcn.h>

#include <filesystem>

#include "absl/memory/memory.h"

namespace tritond::compiler::nvidia {

absl::StatusOr<std::unique_ptr<DynamicLibrary>> DynamicLibrary::Open(const std::string& path, bool stays) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | (stays ? RTLD_NODELETE : 0));
  if (!handle) return absl::NotFoundError(dlerror());
  return absl::WrapUnique(new DynamicLibrary(handle));
}

DynamicLibrary::~DynamicLibrary() { dlclose(handle_); }

void* DynamicLibrary::Find(const std::string& symbol) const { return dlsym(handle_, symbol.c_str()); }

std::string DynamicLibrary::PathOf(const void* symbol) const {
  Dl_info info;
  if (!dladdr(symbol, &info) || !info.dli_fname) return "";
  std::error_code error;
  std::filesystem::path real = std::filesystem::canonical(info.dli_fname, error);
  return error ? info.dli_fname : real.string();
}

}  // namespace tritond::compiler::nvidia
