// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/toolchain.h"

#include <openssl/evp.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/base/thread_annotations.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"

namespace tritond::compiler::nvidia {
namespace {

namespace fs = std::filesystem;

// The folders in `parent` whose names begin with `prefix`, newest first.
std::vector<std::string> Versions(const std::string& parent, const std::string& prefix) {
  std::vector<std::string> versions;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, error)) {
    if (entry.path().filename().string().rfind(prefix, 0) == 0) versions.push_back(entry.path().string());
  }
  std::sort(versions.rbegin(), versions.rend());
  return versions;
}

// The folders that the configuration names, most wanted first.
std::vector<std::string> NamedRoots(const TargetConfig& config) {
  std::vector<std::string> roots;
  for (const std::string& root : config.tool_roots) {
    roots.push_back(root);
    const std::vector<std::string> wheels = Versions(root + "/nvidia", "cu");
    roots.insert(roots.end(), wheels.begin(), wheels.end());
  }
  return roots;
}

// The folders that may hold a CUDA toolkit, most wanted first.
std::vector<std::string> ToolkitRoots(const TargetConfig& config) {
  std::vector<std::string> roots = NamedRoots(config);
  if (!config.search_usual_places) return roots;
  // What was built or bundled with this program lies in lib/ beside its bin/, what was fetched for it in cuda/.
  std::error_code no_proc;
  const fs::path program = fs::read_symlink("/proc/self/exe", no_proc);
  if (!no_proc) {
    const fs::path beside = program.parent_path().parent_path();
    roots.insert(roots.end(), {beside.string(), (beside / "cuda").string()});
  }
  roots.push_back("/usr/local/cuda");
  const std::vector<std::string> versions = Versions("/usr/local", "cuda-");
  roots.insert(roots.end(), versions.begin(), versions.end());
  roots.insert(roots.end(), {"/opt/cuda", "/usr/lib/cuda", "/usr/lib/nvidia-cuda-toolkit"});
  return roots;
}

const std::vector<std::string> kLibraryFolders = {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"};

// The PTX compiler as toolkits have it.
const std::string kArchive = "libnvptxcompiler_static.a";

std::vector<std::string> Versioned(const std::string& library) { return {library, library + ".13", library + ".12"}; }

// Every existing file ROOT/SUBDIR/NAME, in order of roots, then subdirs, then names.
std::vector<std::string> Candidates(const std::vector<std::string>& roots, const std::vector<std::string>& subdirs,
                                    const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const std::string& root : roots) {
    for (const std::string& subdir : subdirs) {
      for (const std::string& name : names) {
        fs::path path = fs::path(root) / subdir / name;
        std::error_code error;
        if (fs::is_regular_file(path, error)) found.push_back(path.string());
      }
    }
  }
  return found;
}

// Whether the file is a program and no script: of a script a worker does not know what it runs, and cannot allow that.
bool IsElf(const std::string& path) {
  auto head = llvm::MemoryBuffer::getFileSlice(path, /*MapSize=*/4, /*Offset=*/0);
  return head && (*head)->getBuffer() == "\177ELF";
}

// The bytes' digest in hex; "unreadable" when the file cannot be read.
std::string Sha256OfFile(const std::string& path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) return "unreadable";
  std::string digest(32, '\0');
  EVP_Digest((*buffer)->getBufferStart(), (*buffer)->getBufferSize(), reinterpret_cast<unsigned char*>(digest.data()),
             nullptr, EVP_sha256(), nullptr);
  return absl::BytesToHexString(digest);
}

// The release that an assembler, program or library, says it belongs to: "13.0, V13.0.88". Empty where it says none.
std::string ReleaseOf(const std::string& path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) return "";
  constexpr llvm::StringLiteral kTools = "Cuda compilation tools, release ";
  const auto [before, after] = (*buffer)->getBuffer().split(kTools);
  return after.take_while([](char c) { return llvm::isAlnum(c) || c == '.' || c == ',' || c == ' '; }).str();
}

// Those of `files` that say the release of one of `programs`, in the order of these.
std::vector<std::string> OfTheirReleases(const std::vector<std::string>& programs,
                                         const std::vector<std::string>& files) {
  std::vector<std::string> same;
  for (const std::string& program : programs) {
    const std::string release = ReleaseOf(program);
    if (release.empty()) continue;
    absl::c_copy_if(files, std::back_inserter(same),
                    [&](const std::string& file) { return ReleaseOf(file) == release; });
  }
  return same;
}

class SearchingToolchain final : public Toolchain {
 public:
  explicit SearchingToolchain(const TargetConfig& config) : config_(config), roots_(ToolkitRoots(config)) {}

  absl::StatusOr<const Assembler*> GetAssembler() override {
    absl::MutexLock lock(&mu_);
    return FindAssembler();
  }

  absl::StatusOr<const llvm::MemoryBuffer*> GetLibdevice() override {
    absl::MutexLock lock(&mu_);
    return FindLibdevice();
  }

  absl::StatusOr<const Disassembler*> GetDisassembler() override {
    absl::MutexLock lock(&mu_);
    return FindDisassembler();
  }

  std::string Id() override {
    absl::MutexLock lock(&mu_);
    if (id_.empty()) {
      absl::StatusOr<const Assembler*> assembler = FindAssembler();
      // The path says where, not what: a machine with the same tools elsewhere shares results.
      std::string tool = "none";
      if (assembler.ok()) {
        const std::string name = (*assembler)->Name();
        tool = absl::StrCat(name.substr(0, name.find(" (")), " ", Sha256OfFile((*assembler)->Path()));
      }
      id_ = absl::StrCat(tool, "; ", FindLibdeviceId());
      if (absl::StatusOr<const Disassembler*> found = FindDisassembler(); found.ok())
        absl::StrAppend(&id_, "; ", (*found)->name(), " ", Sha256OfFile((*found)->path()));
    }
    return id_;
  }

  std::string LibdeviceId() override {
    absl::MutexLock lock(&mu_);
    return FindLibdeviceId();
  }

 private:
  absl::StatusOr<const Assembler*> FindAssembler() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (assembler_) return assembler_.get();
    if (no_assembler_) return *no_assembler_;
    using Open = absl::StatusOr<std::unique_ptr<Assembler>> (*)(const std::string&);
    std::vector<std::string> problems;
    auto try_all = [&](Open open, const std::vector<std::string>& paths) {
      for (const std::string& path : paths) {
        absl::StatusOr<std::unique_ptr<Assembler>> opened = open(path);
        if (opened.ok()) {
          assembler_ = RunApart(*std::move(opened));
          return true;
        }
        problems.push_back(std::string(opened.status().message()));
      }
      return false;
    };
    // A toolkit that is named comes before those that lie in the usual places.
    const auto in_toolkit = [&](const std::string& root) {
      const std::vector<std::string> programs = Candidates({root}, {"bin"}, {"ptxas"});
      return try_all(OpenNvPtxCompiler, Candidates({root}, kLibraryFolders, Versioned("libnvptxcompiler.so"))) ||
             try_all(OpenNvPtxCompiler, LibrariesLike(programs)) ||
             try_all(OpenNvPtxCompilerArchive, Candidates({root}, kLibraryFolders, {kArchive})) ||
             try_all(OpenNvPtxCompilerArchive, ArchivesLike(programs)) || try_all(OpenPtxas, programs);
    };
    // nvJitLink, although in-process, comes after the program: it compiles as for separate linking, which knows nothing
    // of occupancy. A reduction kernel of 512 threads takes 96 registers a thread with it and 40 with the other two.
    if (absl::c_any_of(NamedRoots(config_), in_toolkit) ||
        try_all(OpenNvPtxCompiler, Libraries(Versioned("libnvptxcompiler.so"))) ||
        try_all(OpenNvPtxCompilerArchive, ArchivesLike(Programs("ptxas"))) || try_all(OpenPtxas, Programs("ptxas")) ||
        try_all(OpenNvPtxCompilerArchive, Candidates(roots_, kLibraryFolders, {kArchive})) ||
        try_all(OpenNvJitLink, Libraries(Versioned("libnvJitLink.so")))) {
      return assembler_.get();
    }
    no_assembler_ = absl::FailedPreconditionError(
        absl::StrCat("no assembler for PTX: ", HowToInstall("nvidia-cuda-nvcc"),
                     "; neither libnvptxcompiler.so, ptxas, libnvptxcompiler_static.a nor libnvJitLink.so is in ",
                     absl::StrJoin(roots_, ", "), problems.empty() ? "" : "; ", absl::StrJoin(problems, "; ")));
    return *no_assembler_;
  }

  absl::StatusOr<const Disassembler*> FindDisassembler() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (disassembler_) return disassembler_.get();
    if (no_disassembler_) return *no_disassembler_;
    for (const std::string& path : Programs("nvdisasm")) {
      absl::StatusOr<std::unique_ptr<Disassembler>> opened =
          IsElf(path) ? Disassembler::Open(path) : absl::NotFoundError("a script");
      if (!opened.ok()) continue;
      disassembler_ = *std::move(opened);
      return disassembler_.get();
    }
    no_disassembler_ =
        absl::FailedPreconditionError(absl::StrCat("no disassembler for cubins: ", HowToInstall("nvidia-cuda-nvdisasm"),
                                                   "; nvdisasm is not in ", absl::StrJoin(roots_, ", ")));
    return *no_disassembler_;
  }

  std::string FindLibdeviceId() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (libdevice_id_.empty()) {
      libdevice_id_ = absl::StrCat("libdevice ", FindLibdevice().ok() ? Sha256OfFile(libdevice_path_) : "none");
    }
    return libdevice_id_;
  }

  // In the toolkits, then by the loader's own search.
  std::vector<std::string> Libraries(const std::vector<std::string>& names) const {
    std::vector<std::string> paths = Candidates(roots_, kLibraryFolders, names);
    if (config_.search_usual_places) paths.insert(paths.end(), names.begin(), names.end());
    return paths;
  }

  // A library of the same release as a program, wherever it lies, is the same assembler without the program's start.
  std::vector<std::string> LibrariesLike(const std::vector<std::string>& programs) const {
    return OfTheirReleases(programs, Candidates(roots_, kLibraryFolders, Versioned("libnvptxcompiler.so")));
  }

  // So is an archive. Only the first program counts, for it is the one that would run.
  std::vector<std::string> ArchivesLike(const std::vector<std::string>& programs) const {
    if (programs.empty()) return {};
    return OfTheirReleases({programs.front()}, Candidates(roots_, kLibraryFolders, {kArchive}));
  }

  std::vector<std::string> Programs(const std::string& name) const {
    std::vector<std::string> paths = Candidates(roots_, {"bin"}, {name});
    std::vector<std::string> more = Candidates(config_.path_dirs, {""}, {name});
    paths.insert(paths.end(), more.begin(), more.end());
    return paths;
  }

  absl::StatusOr<const llvm::MemoryBuffer*> FindLibdevice() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (libdevice_) return libdevice_.get();
    // Beside the toolkits' own place, where Python packages put it.
    for (const std::string& path : Candidates(roots_, {"nvvm/libdevice", "lib", ""}, {"libdevice.10.bc"})) {
      auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
      if (!buffer) continue;
      libdevice_ = std::move(*buffer);
      libdevice_path_ = path;
      return libdevice_.get();
    }
    return absl::FailedPreconditionError(
        absl::StrCat("no libdevice.10.bc, CUDA's device library: ", HowToInstall("nvidia-nvvm"),
                     "; nvvm/libdevice has none in ", absl::StrJoin(roots_, ", ")));
  }

  // A wheel of NVIDIA's on PyPI, unpacked into the last of the folders that were configured, is found.
  std::string HowToInstall(absl::string_view wheel) const {
    return absl::StrCat("run `python3 -m pip install --target ",
                        config_.tool_roots.empty() ? "FOLDER" : config_.tool_roots.back(), " ", wheel,
                        "` on the worker's machine, or set CUDA_HOME to a CUDA toolkit");
  }

  const TargetConfig config_;
  const std::vector<std::string> roots_;
  absl::Mutex mu_;
  std::unique_ptr<Assembler> assembler_ ABSL_GUARDED_BY(mu_);
  std::optional<absl::Status> no_assembler_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<Disassembler> disassembler_ ABSL_GUARDED_BY(mu_);
  std::optional<absl::Status> no_disassembler_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<llvm::MemoryBuffer> libdevice_ ABSL_GUARDED_BY(mu_);
  std::string libdevice_path_ ABSL_GUARDED_BY(mu_);
  std::string id_ ABSL_GUARDED_BY(mu_);
  std::string libdevice_id_ ABSL_GUARDED_BY(mu_);
};

bool Same(const TargetConfig& a, const TargetConfig& b) {
  return a.tool_roots == b.tool_roots && a.path_dirs == b.path_dirs && a.search_usual_places == b.search_usual_places;
}

}  // namespace

std::shared_ptr<Toolchain> Toolchain::ForConfig(const TargetConfig& config) {
  // The libraries are loaded once a process whoever asks, and reading them for their digests takes a tenth of a second;
  // so targets share them. Weak: the last target takes the toolchain with it.
  static absl::Mutex mu(absl::kConstInit);
  static auto* const known = new std::vector<std::pair<TargetConfig, std::weak_ptr<Toolchain>>>();
  absl::MutexLock lock(&mu);
  for (auto& [other, weak] : *known) {
    if (!Same(other, config)) continue;
    if (std::shared_ptr<Toolchain> toolchain = weak.lock()) return toolchain;
    std::shared_ptr<Toolchain> fresh = std::make_shared<SearchingToolchain>(config);
    weak = fresh;
    return fresh;
  }
  std::shared_ptr<Toolchain> fresh = std::make_shared<SearchingToolchain>(config);
  known->emplace_back(config, fresh);
  return fresh;
}

}  // namespace tritond::compiler::nvidia
