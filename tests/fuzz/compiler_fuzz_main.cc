// SPDX-License-Identifier: Apache-2.0
// Feeds the compiler with kernels that someone broke: whatever they are, it must end, and with a diagnostic where it
// cannot go on. Prints what does not, and keeps the input; exit status 1 then. A seed gives the same inputs always.
#include <sys/mman.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "tests/fuzz/fuzz_inputs.h"
#include "tests/fuzz/watched_process.h"

namespace tritond::tests {
namespace {

namespace fs = std::filesystem;
using compiler::CompileRequest;

#if defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kMemoryBytes = 0;  // its shadow memory is larger than any limit
#else
constexpr uint64_t kMemoryBytes = uint64_t{6} << 30;
#endif
constexpr uint64_t kInputsPerChild = 500;

struct Settings {
  uint64_t seed = 1;
  double minutes = 0;
  uint64_t inputs = 0;
  unsigned seconds_each = 20;
  std::string keep = "fuzz-found";
  std::vector<std::string> files;
};

// What children and their parent both see.
struct Progress {
  uint64_t next;
  uint64_t codes[17];  // how many requests ended with each status
};

class Fuzzer {
 public:
  explicit Fuzzer(const Settings& settings)
      : settings_(settings),
        progress_(static_cast<Progress*>(
            mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))),
        compiler_(compiler::Compiler::Create(ConfigFor(settings))) {}

  // A kept request, or a file with one, as it is.
  void RunFile(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    auto request = ParseRequest(text.str());
    if (!request.ok()) {
      std::printf("%s: %s\n", path.c_str(), request.status().ToString().c_str());
      found_.insert(0);
      return;
    }
    Judge(RunWatched([&] { Compile(*request); }, kMemoryBytes));
  }

  void RunMutations() {
    FuzzInputs inputs(CollectFuzzSeeds(*compiler_), *compiler_);
    auto start = std::chrono::steady_clock::now();
    auto over = [&] {
      return std::chrono::steady_clock::now() - start > std::chrono::duration<double>(60 * settings_.minutes);
    };
    uint64_t last = settings_.inputs ? settings_.inputs : ~uint64_t{0};
    while (progress_->next < last && !(settings_.minutes > 0 && over())) {
      uint64_t end = std::min(last, progress_->next + kInputsPerChild);
      Judge(RunWatched(
          [&] {
            while (progress_->next < end && !(settings_.minutes > 0 && over()))
              Compile(inputs.Make(settings_.seed, progress_->next++));
          },
          kMemoryBytes));
    }
  }

  // The exit status.
  int Report() const {
    std::string codes;
    for (int code = 0; code < 17; ++code)
      if (progress_->codes[code])
        absl::StrAppend(&codes, ", ", absl::StatusCodeToString(static_cast<absl::StatusCode>(code)), " ",
                        progress_->codes[code]);
    std::printf("%llu inputs%s; %zu kinds of failure\n", static_cast<unsigned long long>(progress_->next),
                codes.c_str(), found_.size());
    return found_.empty() ? 0 : 1;
  }

 private:
  // An assembler that hangs ends with a diagnostic too, and before the compile counts as hanging.
  static compiler::CompilerConfig ConfigFor(const Settings& settings) {
    compiler::CompilerConfig config;
    config.assembler_cpu_seconds = static_cast<int>(settings.seconds_each);
    return config;
  }

  void Compile(const CompileRequest& request) {
    Announce(DescribeRequest(request), settings_.seconds_each);
    compiler::CompileResult result = compiler_->Compile(request);
    const absl::Status& status = result.status;
    ++progress_->codes[static_cast<int>(status.code())];
    if (absl::IsInternal(status)) Complain(status.ToString());
    if (!status.ok() && status.message().empty()) Complain("a failure without words");
    if (status.ok() && result.artifacts.size() != request.outputs.size()) Complain("success without an artifact");
  }

  void Judge(const Death& death) {
    if (death.how.empty()) return;
    if (!found_.insert(death.signature).second) return;
    std::error_code error;
    fs::create_directories(settings_.keep, error);
    fs::path path = fs::path(settings_.keep) / absl::StrCat(absl::Hex(death.signature, absl::kZeroPad16), ".txt");
    std::ofstream(path, std::ios::binary) << death.input;
    std::printf("%s: %s\n%s", path.c_str(), death.how.c_str(), death.stack.c_str());
    std::fflush(stdout);
  }

  Settings settings_;
  Progress* progress_;
  std::unique_ptr<compiler::Compiler> compiler_;
  std::set<uint64_t> found_;
};

// `paths` with the .txt files of folders in their place, sorted.
std::vector<std::string> Expanded(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    size_t first = files.size();
    for (const auto& entry : fs::directory_iterator(path))
      if (entry.path().extension() == ".txt") files.push_back(entry.path());
    std::sort(files.begin() + first, files.end());
  }
  return files;
}

}  // namespace
}  // namespace tritond::tests

int main(int argc, char** argv) {
  tritond::tests::Settings settings;
  CLI::App app{"Looks for inputs that crash or hang the compiler."};
  app.add_option("--seed", settings.seed, "of the changes")->capture_default_str();
  app.add_option("--minutes", settings.minutes, "how long; 0: until --inputs");
  app.add_option("--inputs", settings.inputs, "how many; 0: until --minutes");
  app.add_option("--seconds-each", settings.seconds_each,
                 "processor time that a compile may take, and its assembler besides")
      ->capture_default_str();
  app.add_option("--keep", settings.keep, "folder for the inputs of failures")->capture_default_str();
  app.add_option("files", settings.files, "kept inputs to try first, or folders of them");
  CLI11_PARSE(app, argc, argv);
  tritond::tests::Fuzzer fuzzer(settings);
  for (const std::string& file : tritond::tests::Expanded(settings.files)) fuzzer.RunFile(file);
  if (settings.minutes > 0 || settings.inputs > 0) fuzzer.RunMutations();
  return fuzzer.Report();
}
