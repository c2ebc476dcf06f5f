// SPDX-License-Identifier: Apache-2.0
// triton-client prebuild: many kernels into a folder.
#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/commands.h"
#include "client/cli/kernel_list.h"
#include "client/cli/output_file.h"
#include "client/cli/progress.h"
#include "client/cli/report.h"
#include "timing/steady/steady_time.h"

namespace tritond::client {
namespace {

namespace fs = std::filesystem;

struct PrebuildFlags {
  std::string source;
  KernelFlags kernel;
  std::string out_dir;
  bool retarget = false;
  int jobs = 16;
  bool json = false;
};

struct Tally {
  int compiled = 0;
  int hits = 0;
  int joined = 0;
  int failed = 0;
};

// NAME.FORMAT for every artifact, and NAME.json.
absl::Status WriteKernel(const std::string& stem, const v1::CompileResponse& response, std::ostream& out) {
  for (const v1::Artifact& artifact : response.result().artifacts()) {
    const std::string* bytes = FindBlob(response, artifact.kind());
    if (bytes == nullptr) return absl::DataLossError(absl::StrCat("no bytes of artifact ", artifact.digest()));
    absl::Status status = WriteFile(absl::StrCat(stem, ".", artifact.format()), *bytes, out);
    if (!status.ok()) return status;
  }
  return WriteFile(absl::StrCat(stem, ".json"), PrettyMetadata(response.result()), out);
}

void Count(const Outcome& outcome, Tally* tally) {
  if (!outcome.response.ok()) {
    ++tally->failed;
  } else if (outcome.response->cache() == v1::CACHE_STATUS_HIT) {
    ++tally->hits;
  } else if (outcome.response->cache() == v1::CACHE_STATUS_JOINED) {
    ++tally->joined;
  } else {
    ++tally->compiled;
  }
}

// Compiles everything with `jobs` requests in flight, and reports each as it ends.
class Prebuild {
 public:
  Prebuild(const Session& session, const PrebuildFlags& flags, Client& client, const std::vector<Kernel>& kernels,
           std::vector<v1::CompileRequest> requests)
      : session_(session),
        flags_(flags),
        client_(client),
        kernels_(kernels),
        requests_(std::move(requests)),
        progress_(kernels.size(), session.console.err_is_terminal, session.console.err) {}

  // Stops early when the server is lost; kNoServer then, and when the caller is to compile some kernel by itself.
  int Run() {
    std::vector<std::thread> threads;
    const size_t count = std::min<size_t>(flags_.jobs, kernels_.size());
    for (size_t i = 0; i < count; ++i) threads.emplace_back([this] { Work(); });
    for (std::thread& thread : threads) thread.join();
    ReportTheRest();
    if (lost_ || fell_back_) return kNoServer;
    return tally_.failed > 0 ? kFailed : kDone;
  }

  const Tally& tally() const { return tally_; }
  bool lost() const { return lost_; }
  size_t not_asked() const { return not_asked_; }

 private:
  void Work() {
    for (size_t i = next_++; i < kernels_.size() && !lost_; i = next_++) {
      asked_[i] = true;
      const absl::Time start = timing::SteadyNow();
      Outcome outcome{kernels_[i].name, kernels_[i].path, client_.Compile(requests_[i], session_.Deadline()), {}};
      outcome.elapsed = timing::SteadyNow() - start;
      if (outcome.response.ok()) {
        const std::string stem = (fs::path(flags_.out_dir) / kernels_[i].name).string();
        absl::Status written = WriteKernel(stem, *outcome.response, session_.console.out);
        if (!written.ok()) outcome.response = written;
      } else if (IsNoServer(outcome.response.status())) {
        lost_ = true;
      } else if (session_.CodeOf(outcome.response.status()) == kNoServer) {
        fell_back_ = true;
      }
      Report(outcome);
    }
  }

  // Of kernels that were not asked for once the server was lost.
  void ReportTheRest() {
    for (size_t i = 0; i < kernels_.size(); ++i) {
      if (asked_[i]) continue;
      ++not_asked_;
      ++tally_.failed;
      if (!flags_.json) continue;
      const absl::Status lost = absl::UnavailableError("not asked for: the server was lost before");
      session_.console.out << JsonLine({kernels_[i].name, kernels_[i].path, lost, {}}) << std::endl;
    }
  }

  void Report(const Outcome& outcome) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Count(outcome, &tally_);
    if (flags_.json) session_.console.out << JsonLine(outcome) << std::endl;
    if (flags_.json && !session_.console.err_is_terminal) return;
    progress_.Done(TextLine(outcome), !outcome.response.ok());
  }

  const Session& session_;
  const PrebuildFlags& flags_;
  Client& client_;
  const std::vector<Kernel>& kernels_;
  const std::vector<v1::CompileRequest> requests_;
  std::vector<char> asked_ = std::vector<char>(kernels_.size());  // each written by the thread that asks
  size_t not_asked_ = 0;                                          // written when the threads have ended
  std::atomic<size_t> next_{0};
  std::atomic<bool> lost_{false};
  std::atomic<bool> fell_back_{false};  // some kernel had no result within the fallback limit
  std::mutex mutex_;                    // guards what follows, and the console
  Progress progress_;
  Tally tally_;
};

// An output folder that holds the input would overwrite the kernels' options.
absl::Status PrepareFolder(const PrebuildFlags& flags, const std::vector<Kernel>& kernels) {
  std::error_code error;
  fs::create_directories(flags.out_dir, error);
  if (error) return absl::InvalidArgumentError(absl::StrCat(flags.out_dir, ": ", error.message()));
  for (const Kernel& kernel : kernels) {
    fs::path folder = fs::path(kernel.path).parent_path();
    if (folder.empty()) folder = ".";
    if (fs::equivalent(folder, flags.out_dir, error)) {
      return absl::InvalidArgumentError(
          "--out-dir must not be the folder of the kernels: their JSON files would be lost");
    }
  }
  return absl::OkStatus();
}

int Run(const Session& session, const PrebuildFlags& flags) {
  auto kernels = ListKernels(flags.source);
  if (!kernels.ok()) return session.Usage(kernels.status());
  if (flags.retarget) {
    for (Kernel& kernel : *kernels) kernel.target.clear();
  }
  std::vector<v1::CompileRequest> requests;
  for (const Kernel& kernel : *kernels) {
    auto request = MakeRequest(kernel, flags.kernel);
    if (!request.ok()) return session.Usage(request.status());
    request->set_priority(v1::PRIORITY_PREBUILD);
    requests.push_back(*std::move(request));
  }
  if (absl::Status status = PrepareFolder(flags, *kernels); !status.ok()) return session.Usage(status);
  auto client = session.Connect();
  if (!client.ok()) {
    const int code = session.NotConnected(client.status());
    for (const Kernel& kernel : *kernels) {
      if (flags.json && code != kUsage)
        session.console.out << JsonLine({kernel.name, kernel.path, client.status(), {}}) << std::endl;
    }
    return code;
  }

  const absl::Time start = timing::SteadyNow();
  Tally tally;
  int code = kDone;
  bool lost = false;
  size_t not_asked = 0;
  {
    Prebuild prebuild(session, flags, **client, *kernels, std::move(requests));
    code = prebuild.Run();
    tally = prebuild.tally();
    lost = prebuild.lost();
    not_asked = prebuild.not_asked();
  }
  session.console.err << absl::StrFormat("%d kernels: %d compiled, %d hits, %d joined, %d failed in %s\n",
                                         kernels->size(), tally.compiled, tally.hits, tally.joined, tally.failed,
                                         HumanTime(timing::SteadyNow() - start));
  if (lost) {
    session.console.err << "triton-client: lost the server at " << session.server.address << "; " << not_asked
                        << " kernels were not asked for\n";
  }
  session.console.err.flush();
  return code;
}

}  // namespace

Command AddPrebuild(CLI::App* parent) {
  auto flags = std::make_shared<PrebuildFlags>();
  CLI::App* app = parent->add_subcommand("prebuild", "Compile many kernels into a folder: binaries and their metadata");
  app->add_option("SOURCE", flags->source, "A folder of NAME.ttir (options in NAME.json), or a manifest of JSON lines")
      ->required();
  flags->kernel.AddTo(app);
  app->add_option("--out-dir", flags->out_dir, "Where NAME.cubin (.hsaco, .spv, .so) and NAME.json go")
      ->type_name("DIR")
      ->required();
  app->add_option("-j,--jobs", flags->jobs, "Requests in flight")->check(CLI::Range(1, 256))->capture_default_str();
  app->add_flag("--retarget", flags->retarget, "Compile for --target what the manifest names other targets for");
  app->add_flag("--json", flags->json, "Print one JSON object a kernel and line");
  return {app, [flags](const Session& session) { return Run(session, *flags); }};
}

}  // namespace tritond::client
