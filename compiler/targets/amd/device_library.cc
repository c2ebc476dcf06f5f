// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/amd/device_library.h"

#include <openssl/evp.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"

namespace tritond::compiler::amd {
namespace {

namespace fs = std::filesystem;

// The folders that may hold ROCm, most wanted first.
std::vector<std::string> Roots(const TargetConfig& config) {
  std::vector<std::string> roots = config.tool_roots;
  if (!config.search_usual_places) return roots;
  // What was bundled with this program lies in lib/ beside its bin/.
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) roots.push_back(program.parent_path().parent_path().string());
  roots.push_back("/opt/rocm");
  std::vector<std::string> versions;
  for (const fs::directory_entry& entry : fs::directory_iterator("/opt", error))
    if (absl::StartsWith(entry.path().filename().string(), "rocm-")) versions.push_back(entry.path().string());
  std::sort(versions.rbegin(), versions.rend());
  roots.insert(roots.end(), versions.begin(), versions.end());
  roots.push_back("/usr");
  return roots;
}

// Where releases of ROCm, Debian's packages and Triton's own package for Python have the files, below a root.
constexpr const char* kFolders[] = {"amdgcn/bitcode",
                                    "lib/x86_64-linux-gnu/amdgcn/bitcode",
                                    "lib/aarch64-linux-gnu/amdgcn/bitcode",
                                    "lib/amdgcn/bitcode",
                                    "triton/backends/amd/lib",
                                    "backends/amd/lib",
                                    "lib",
                                    ""};

std::string Sha256(absl::string_view bytes) {
  std::string digest(32, '\0');
  EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr, EVP_sha256(),
             nullptr);
  return absl::BytesToHexString(digest);
}

class SearchedLibrary final : public DeviceLibrary {
 public:
  explicit SearchedLibrary(const TargetConfig& config) : roots_(Roots(config)) {}

  absl::StatusOr<const llvm::MemoryBuffer*> Get(absl::string_view name) override {
    absl::MutexLock lock(&mu_);
    return Find(name);
  }

  std::string Id() override {
    absl::MutexLock lock(&mu_);
    if (id_.empty()) {
      for (const char* name : {"ocml", "ockl"}) {
        absl::StatusOr<const llvm::MemoryBuffer*> file = Find(name);
        absl::StrAppend(&id_, id_.empty() ? "" : "; ", name, " ",
                        file.ok() ? Sha256({(*file)->getBufferStart(), (*file)->getBufferSize()}) : "none");
      }
    }
    return id_;
  }

 private:
  absl::StatusOr<const llvm::MemoryBuffer*> Find(absl::string_view name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    auto [known, is_new] = files_.try_emplace(std::string(name));
    if (is_new) known->second = Read(absl::StrCat(name, ".bc"));
    if (known->second) return known->second.get();
    return absl::FailedPreconditionError(
        absl::StrCat("no ", name, ".bc in amdgcn/bitcode or lib of ", absl::StrJoin(roots_, ", "),
                     "; install ROCm's device libraries (on Debian the package rocm-device-libs)"));
  }

  std::unique_ptr<llvm::MemoryBuffer> Read(const std::string& file) const {
    for (const std::string& root : roots_) {
      for (const char* folder : kFolders) {
        const fs::path path = fs::path(root) / folder / file;
        std::error_code error;
        if (!fs::is_regular_file(path, error)) continue;
        auto buffer = llvm::MemoryBuffer::getFile(path.string(), /*IsText=*/false, /*RequiresNullTerminator=*/false);
        if (buffer) return std::move(*buffer);
      }
    }
    return nullptr;
  }

  const std::vector<std::string> roots_;
  absl::Mutex mu_;
  std::map<std::string, std::unique_ptr<llvm::MemoryBuffer>> files_ ABSL_GUARDED_BY(mu_);
  std::string id_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

std::shared_ptr<DeviceLibrary> DeviceLibrary::ForConfig(const TargetConfig& config) {
  // Weak: the last target takes the files with it.
  using Key = std::pair<std::vector<std::string>, bool>;
  static absl::Mutex mu(absl::kConstInit);
  static auto* const known = new std::map<Key, std::weak_ptr<DeviceLibrary>>();
  absl::MutexLock lock(&mu);
  std::weak_ptr<DeviceLibrary>& weak = (*known)[{config.tool_roots, config.search_usual_places}];
  std::shared_ptr<DeviceLibrary> library = weak.lock();
  if (!library) weak = library = std::make_shared<SearchedLibrary>(config);
  return library;
}

}  // namespace tritond::compiler::amd
