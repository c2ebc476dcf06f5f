// SPDX-License-Identifier: Apache-2.0
#ifndef WORKERS_DEVICE_DRIVER_LIBRARY_H_
#define WORKERS_DEVICE_DRIVER_LIBRARY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tritond::workers {

// A vendor's library, opened at run time. It stays loaded: drivers' libraries leave threads behind.
class DriverLibrary final {
 public:
  // `driver` names it for people: "CUDA driver". FailedPrecondition: the library does not load.
  static absl::StatusOr<DriverLibrary> Open(absl::string_view driver, const std::string& path);

  // Null where the library has no such symbol.
  template <typename Function>
  void Find(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(Address(name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  // The same for one that older releases lack: that is no fault.
  template <typename Function>
  void FindIfThere(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(Address(name));
  }
  // FailedPrecondition, with the first symbol that was not found. `since` is the first release with all of them.
  absl::Status Complete(absl::string_view since) const;

 private:
  DriverLibrary(absl::string_view driver, const std::string& path, void* handle)
      : driver_(driver), path_(path), handle_(handle) {}
  void* Address(const char* name) const;

  std::string driver_;
  std::string path_;
  void* handle_;
  std::string missing_;
};

}  // namespace tritond::workers

#endif  // WORKERS_DEVICE_DRIVER_LIBRARY_H_
