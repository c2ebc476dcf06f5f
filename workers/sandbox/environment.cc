// SPDX-License-Identifier: Apache-2.0
#include "workers/sandbox/environment.h"

#include <cstdlib>
#include <cstring>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"

extern char** environ;

namespace tritond::workers {
namespace {

// Tools; the loader and the allocator; gRPC's dialling; words and times in logs.
constexpr const char* kNames[] = {"CUDA_HOME",
                                  "PATH",
                                  "LD_LIBRARY_PATH",
                                  "LD_PRELOAD",
                                  "GLIBC_TUNABLES",
                                  "grpc_proxy",
                                  "https_proxy",
                                  "http_proxy",
                                  "no_proxy",
                                  "no_grpc_proxy",
                                  "ASAN_OPTIONS",
                                  "LSAN_OPTIONS",
                                  "TSAN_OPTIONS",
                                  "UBSAN_OPTIONS",
                                  "LANG",
                                  "CUDA_VISIBLE_DEVICES",
                                  "HIP_VISIBLE_DEVICES",
                                  "ROCR_VISIBLE_DEVICES",
                                  "HSA_OVERRIDE_GFX_VERSION",
                                  "ZE_AFFINITY_MASK",
                                  "OCL_ICD_VENDORS",
                                  "TZ",
                                  "TMPDIR"};
constexpr const char* kPrefixes[] = {"MALLOC_", "GRPC_", "LC_"};

}  // namespace

bool IsForWorkers(const std::string& name) {
  return absl::c_linear_search(kNames, name) ||
         absl::c_any_of(kPrefixes, [&](const char* prefix) { return absl::StartsWith(name, prefix); });
}

std::vector<std::string> EnvironmentForWorkers() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (IsForWorkers(text.substr(0, text.find('=')))) entries.push_back(text);
  }
  return entries;
}

void ScrubEnvironment() {
  char** keep = environ;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (IsForWorkers(text.substr(0, text.find('=')))) {
      *keep++ = *entry;
    } else {
      explicit_bzero(*entry, text.size());
    }
  }
  if (keep != nullptr) *keep = nullptr;
}

}  // namespace tritond::workers
