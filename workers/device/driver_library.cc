// SPDX-License-Identifier: Apache-2.0
#include "workers/device/driver_library.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"

namespace tritond::workers {

absl::StatusOr<DriverLibrary> DriverLibrary::Open(absl::string_view driver, const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("no ", driver, ": ", dlerror(), ". Install it, or name it with --device-library"));
  }
  return DriverLibrary(driver, path, handle);
}

void* DriverLibrary::Address(const char* name) const { return dlsym(handle_, name); }

absl::Status DriverLibrary::Complete(absl::string_view since) const {
  if (missing_.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the ", driver_, " in ", path_, " is too old: it has no ", missing_, " (", since, " and later do)"));
}

}  // namespace tritond::workers
