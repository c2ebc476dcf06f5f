// SPDX-License-Identifier: Apache-2.0
// ocloc is linked with libocloc, and loads the compiler libigc by its name. Both stand in Debian's package
// intel-opencl-icd, later intel-ocloc, and in Intel's own.
#include "compiler/targets/intel/ocloc.h"

#include <openssl/evp.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/targets/run_program.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

namespace tritond::compiler::intel {
namespace {

namespace fs = std::filesystem;

// Beside the folder of the program.
constexpr const char* kLibraryFolders[] = {"../lib/x86_64-linux-gnu", "../lib64", "../lib"};
constexpr const char* kCompilers[] = {"libigc.so.2", "libigc.so.1"};

// Whether the file is a program and no script: of a script a worker does not know what it runs, and cannot allow that.
bool IsElf(const std::string& path) {
  auto head = llvm::MemoryBuffer::getFileSlice(path, /*MapSize=*/4, /*Offset=*/0);
  return head && (*head)->getBuffer() == "\177ELF";
}

std::vector<std::string> Folders(const TargetConfig& config) {
  std::vector<std::string> folders;
  for (const std::string& root : config.tool_roots) folders.push_back(root + "/bin");
  folders.insert(folders.end(), config.path_dirs.begin(), config.path_dirs.end());
  if (config.search_usual_places) folders.insert(folders.end(), {"/usr/local/bin", "/usr/bin"});
  return folders;
}

// What the program says, but for its own command, which has our names of files.
std::string LogOf(const ProgramEnd& end) {
  const std::string log = absl::StrCat(end.output, end.log);
  std::vector<absl::string_view> lines = absl::StrSplit(log, '\n', absl::SkipEmpty());
  lines.erase(std::remove_if(lines.begin(), lines.end(),
                             [](absl::string_view line) { return absl::StartsWith(line, "Command was:"); }),
              lines.end());
  return absl::StrJoin(lines, "\n");
}

}  // namespace

absl::StatusOr<std::shared_ptr<Ocloc>> Ocloc::Find(const TargetConfig& config) {
  const std::vector<std::string> folders = Folders(config);
  for (const std::string& folder : folders) {
    const std::string path = folder + "/ocloc";
    if (!IsElf(path)) continue;
    static absl::Mutex mu(absl::kConstInit);
    static auto* known = new std::map<std::string, std::shared_ptr<Ocloc>>;  // Guarded by mu.
    absl::MutexLock lock(&mu);
    std::shared_ptr<Ocloc>& found = (*known)[fs::absolute(path).string()];
    if (!found) found = std::make_shared<Ocloc>(fs::absolute(path).string());
    return found;
  }
  return absl::FailedPreconditionError(
      absl::StrCat("option native: no ocloc in ", absl::StrJoin(folders, ", "),
                   "; install Intel's package intel-ocloc, or leave the option out for SPIR-V"));
}

absl::StatusOr<std::string> Ocloc::Compile(const std::string& spirv, const std::string& device,
                                           const std::string& options, int cpu_seconds) const {
  MemoryFile in("kernel.spv"), out("kernel.bin");
  if (!in.ok() || !out.ok() || !in.Write(spirv))
    return absl::InternalError(absl::StrCat("memory file for ocloc: ", strerror(errno)));
  std::vector<std::string> command = {path_,     "compile",           "-spirv_input", "-file",
                                      in.Path(), "-device",           device,         "--format",
                                      "zebin",   "-output_no_suffix", "-output",      out.Path()};
  if (!options.empty()) command.insert(command.end(), {"-options", options});
  absl::StatusOr<ProgramEnd> end = RunProgram(command, {in.fd(), out.fd()}, cpu_seconds);
  if (!end.ok()) return end.status();
  if (WIFSIGNALED(end->status) && WTERMSIG(end->status) == SIGXCPU)
    return absl::ResourceExhaustedError(
        absl::StrCat("ocloc takes more than ", cpu_seconds, " s of processor time for this kernel"));
  std::string binary = out.Contents();
  if (WIFEXITED(end->status) && WEXITSTATUS(end->status) == 0 && !binary.empty()) return binary;
  return absl::InternalError(absl::StrCat("ocloc for ", device, ": ", LogOf(*end)));
}

std::vector<std::string> Ocloc::Files() const {
  std::vector<std::string> files = {path_};
  // A link, such as /bin or a version's, has the libraries where it leads.
  std::error_code error;
  const fs::path folder = fs::canonical(path_, error).parent_path();
  for (const char* lib : kLibraryFolders) {
    for (const char* name : kCompilers) {
      const fs::path path = (folder / lib / name).lexically_normal();
      if (!fs::is_regular_file(path, error)) continue;
      files.push_back(path.string());
      return files;
    }
  }
  return files;
}

std::string Ocloc::Id() {
  absl::MutexLock lock(&mu_);
  if (!id_.empty()) return id_;
  // OpenSSL's, which the processor helps: the compiler has tens of megabytes.
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> hash(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr);
  for (const std::string& file : Files()) {
    auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (buffer) EVP_DigestUpdate(hash.get(), (*buffer)->getBufferStart(), (*buffer)->getBufferSize());
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(hash.get(), digest, &size);
  id_ = absl::StrCat("ocloc ", llvm::toHex(llvm::ArrayRef(digest, size), /*LowerCase=*/true));
  return id_;
}

}  // namespace tritond::compiler::intel
