// SPDX-License-Identifier: Apache-2.0
// A shared library opened at run time.
#ifndef COMPILER_TARGETS_NVIDIA_DYNAMIC_LIBRARY_H_
#define COMPILER_TARGETS_NVIDIA_DYNAMIC_LIBRARY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace tritond::compiler::nvidia {

// Owns the handle; what Find returns lives as long.
class DynamicLibrary {
 public:
  // NotFound with the loader's message. `stays`: until the process ends.
  static absl::StatusOr<std::unique_ptr<DynamicLibrary>> Open(const std::string& path, bool stays = false);
  ~DynamicLibrary();
  DynamicLibrary(const DynamicLibrary&) = delete;
  DynamicLibrary& operator=(const DynamicLibrary&) = delete;

  // Null when there is none.
  void* Find(const std::string& symbol) const;
  // Sets `function` to the symbol; false when there is none.
  template <class Function>
  bool Load(const std::string& symbol, Function*& function) const {
    function = reinterpret_cast<Function*>(Find(symbol));
    return function != nullptr;
  }
  // The file that holds `symbol`, resolved.
  std::string PathOf(const void* symbol) const;

 private:
  explicit DynamicLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_DYNAMIC_LIBRARY_H_
