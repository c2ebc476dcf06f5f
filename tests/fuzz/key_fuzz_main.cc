// SPDX-License-Identifier: Apache-2.0
// Looks for two modules under one key: kernels of the seeds, mutated and disguised, must mean what their canonical
// text means. Keeps what does not; exit status 1 then. A seed gives the same inputs always.
#include <sys/mman.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/fuzz/disguise.h"
#include "tests/fuzz/fuzz_inputs.h"
#include "tests/fuzz/key_check.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/watched_process.h"

namespace tritond::tests {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kInputsPerChild = 1000;
constexpr uint64_t kMemoryBytes = uint64_t{6} << 30;
constexpr unsigned kSecondsEach = 20;
constexpr size_t kMaxSeedBytes = 24 << 10;
constexpr char kFound[] = "two modules under one key: ";

struct Settings {
  uint64_t seed = 1;
  double minutes = 0;
  uint64_t inputs = 0;
  std::string keep = "fuzz-found";
};

// What children and their parent both see.
struct Progress {
  uint64_t next;
  uint64_t verdicts[4];
};

class Fuzzer {
 public:
  explicit Fuzzer(const Settings& settings)
      : settings_(settings),
        progress_(static_cast<Progress*>(
            mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    const std::unique_ptr<compiler::Compiler> compiler = compiler::Compiler::Create();
    for (FuzzSeed& seed : CollectFuzzSeeds(*compiler)) {
      if (seed.stage > compiler::Stage::kTtgir || seed.text.size() > kMaxSeedBytes) continue;
      if (check_.Check(seed.text) != KeyCheck::Verdict::kNoIr) seeds_.push_back(std::move(seed.text));
    }
  }

  // The exit status.
  int Run() {
    const auto start = std::chrono::steady_clock::now();
    const auto over = [&] {
      return settings_.minutes > 0 &&
             std::chrono::steady_clock::now() - start > std::chrono::duration<double>(60 * settings_.minutes);
    };
    const uint64_t last = settings_.inputs != 0 ? settings_.inputs : ~uint64_t{0};
    while (progress_->next < last && !over()) {
      const uint64_t end = std::min(last, progress_->next + kInputsPerChild);
      Judge(RunWatched(
          [&] {
            while (progress_->next < end && !over()) CheckOne(progress_->next++);
          },
          kMemoryBytes));
    }
    std::printf(
        "%llu texts of %zu kernels: %llu modules with one meaning, %llu no IR, %llu refused, %llu deaths of "
        "the parser; %d of another meaning\n",
        static_cast<unsigned long long>(progress_->next), seeds_.size(),
        static_cast<unsigned long long>(progress_->verdicts[0]),
        static_cast<unsigned long long>(progress_->verdicts[1]),
        static_cast<unsigned long long>(progress_->verdicts[2]), static_cast<unsigned long long>(deaths_), found_);
    return found_ == 0 && progress_->verdicts[0] > 0 ? 0 : 1;
  }

 private:
  void CheckOne(uint64_t index) {
    std::mt19937_64 random(settings_.seed * 1000003 + index);
    std::string text = seeds_[random() % seeds_.size()];
    if (random() % 4 == 0) text = Mutator(random(), seeds_).Mutate(std::move(text));
    if (random() % 8 != 0) text = Disguise(std::move(text), random);
    Announce(text, kSecondsEach);
    const KeyCheck::Verdict verdict = check_.Check(text);
    ++progress_->verdicts[static_cast<int>(verdict)];
    if (verdict == KeyCheck::Verdict::kDiffers) Complain(absl::StrCat(kFound, check_.why()));
  }

  void Judge(const Death& death) {
    if (death.how.empty()) return;
    if (!absl::StrContains(death.how, kFound)) {
      ++deaths_;  // MLIR's parser has its own fuzzer, compiler-fuzz.
      return;
    }
    std::error_code error;
    fs::create_directories(settings_.keep, error);
    const fs::path path = fs::path(settings_.keep) / absl::StrCat("keys-", found_++, ".mlir");
    std::ofstream(path, std::ios::binary) << death.input;
    std::printf("%s: %s\n", path.c_str(), death.how.c_str());
    std::fflush(stdout);
  }

  const Settings settings_;
  Progress* const progress_;
  KeyCheck check_;
  std::vector<std::string> seeds_;
  uint64_t deaths_ = 0;
  int found_ = 0;
};

}  // namespace
}  // namespace tritond::tests

int main(int argc, char** argv) {
  tritond::tests::Settings settings;
  CLI::App app{"Looks for two modules under one key."};
  app.add_option("--seed", settings.seed, "of the changes")->capture_default_str();
  app.add_option("--minutes", settings.minutes, "how long; 0: until --inputs");
  app.add_option("--inputs", settings.inputs, "how many; 0: until --minutes");
  app.add_option("--keep", settings.keep, "folder for the texts that are found")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (settings.inputs == 0 && settings.minutes == 0) settings.inputs = 1000;
  return tritond::tests::Fuzzer(settings).Run();
}
