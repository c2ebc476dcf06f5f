// SPDX-License-Identifier: Apache-2.0
// triton-client prebuild: many kernels into a folder.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "client/cli/commands.h"
#include "client/cli/compile_kernel.h"
#include "client/cli/kernel_list.h"
#include "client/cli/output_file.h"
#include "client/cli/prebuild_plan.h"
#include "client/cli/progress.h"
#include "client/cli/report.h"
#include "timing/steady/steady_time.h"

namespace tritond::client {
namespace {

namespace fs = std::filesystem;

struct PrebuildFlags {
  std::string source;
  std::vector<std::string> targets;
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
  std::error_code error;
  const std::string folder = fs::path(stem).parent_path().string();
  fs::create_directories(folder, error);
  if (error) return absl::InternalError(absl::StrCat(folder, ": ", error.message()));
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
           const std::vector<v1::CompileRequest>& requests, const std::vector<PrebuildJob>& jobs)
      : session_(session),
        flags_(flags),
        client_(client),
        kernels_(kernels),
        requests_(requests),
        jobs_(jobs),
        progress_(jobs.size(), session.console) {}

  // Stops early when the server is lost; kNoServer then, and when the caller is to compile some kernel by itself.
  int Run() {
    std::vector<std::thread> threads;
    const size_t count = std::min<size_t>(flags_.jobs, jobs_.size());
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
    for (size_t i = next_++; i < jobs_.size() && !lost_; i = next_++) {
      asked_[i] = true;
      v1::CompileRequest request = requests_[jobs_[i].kernel];
      request.set_target(jobs_[i].target);
      const absl::Time start = timing::SteadyNow();
      Outcome outcome = OutcomeOf(jobs_[i], CompileKernel(client_, request, session_.Deadline()));
      outcome.elapsed = timing::SteadyNow() - start;
      if (outcome.response.ok()) {
        absl::Status written = WriteKernel(jobs_[i].stem, *outcome.response, session_.console.out);
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
    for (size_t i = 0; i < jobs_.size(); ++i) {
      if (asked_[i]) continue;
      ++not_asked_;
      ++tally_.failed;
      if (!flags_.json) continue;
      const absl::Status lost = absl::UnavailableError("not asked for: the server was lost before");
      session_.console.out << JsonLine(OutcomeOf(jobs_[i], lost)) << std::endl;
    }
  }

  Outcome OutcomeOf(const PrebuildJob& job, absl::StatusOr<v1::CompileResponse> response) const {
    const Kernel& kernel = kernels_[job.kernel];
    Outcome outcome{kernel.name, kernel.path, std::move(response), {}, requests_[job.kernel].ir()};
    if (flags_.targets.size() > 1) outcome.target = job.target;
    return outcome;
  }

  // Results go to standard output, complaints to standard error. A bar on the same terminal stands for the results.
  void Report(const Outcome& outcome) {
    const Console& console = session_.console;
    const std::lock_guard<std::mutex> lock(mutex_);
    Count(outcome, &tally_);
    const bool failed = !outcome.response.ok();
    const std::string number = console.err_is_terminal ? "" : absl::StrFormat("[%d/%d] ", ++done_, jobs_.size());
    std::string result, complaint;
    if (flags_.json) {
      result = JsonLine(outcome);
    } else if (!failed && !(console.out_is_terminal && console.err_is_terminal)) {
      result = absl::StrCat(number, TextLine(outcome));
    }
    if (failed && (!flags_.json || console.err_is_terminal)) {
      const std::string complaints = Complaints(outcome, console.err_has_colour);
      complaint = absl::StrCat(number, TextLine(outcome), "\n", absl::StripSuffix(complaints, "\n"));
    }
    progress_.Done(result, complaint);
  }

  const Session& session_;
  const PrebuildFlags& flags_;
  Client& client_;
  const std::vector<Kernel>& kernels_;
  const std::vector<v1::CompileRequest>& requests_;  // of the kernels
  const std::vector<PrebuildJob>& jobs_;
  std::vector<char> asked_ = std::vector<char>(jobs_.size());  // each written by the thread that asks
  size_t not_asked_ = 0;                                       // written when the threads have ended
  std::atomic<size_t> next_{0};
  std::atomic<bool> lost_{false};
  std::atomic<bool> fell_back_{false};  // some kernel had no result within the fallback limit
  std::mutex mutex_;                    // guards what follows, and the console
  Progress progress_;
  size_t done_ = 0;
  Tally tally_;
};

// What a manifest says prevails over --target. Those who name several targets may expect otherwise.
void NoteKeptTargets(const Session& session, const PrebuildFlags& flags, const std::vector<Kernel>& kernels) {
  const auto kept =
      std::count_if(kernels.begin(), kernels.end(), [](const Kernel& kernel) { return !kernel.target.empty(); });
  if (kept == 0 || flags.targets.size() < 2) return;
  session.console.err << "triton-client: " << kept
                      << " kernels are compiled for the target of the manifest alone; --retarget compiles them for "
                         "each --target\n";
}

absl::StatusOr<std::vector<v1::CompileRequest>> MakeRequests(const std::vector<Kernel>& kernels, KernelFlags flags,
                                                             const std::vector<std::string>& targets) {
  if (!targets.empty()) flags.target = targets[0];
  std::vector<v1::CompileRequest> requests;
  for (const Kernel& kernel : kernels) {
    auto request = MakeRequest(kernel, flags);
    if (!request.ok()) return request.status();
    request->set_priority(v1::PRIORITY_PREBUILD);
    requests.push_back(*std::move(request));
  }
  return requests;
}

void PrintTally(const Session& session, const PrebuildFlags& flags, size_t jobs, const Tally& tally,
                absl::Duration elapsed) {
  (flags.json ? session.console.err : session.console.out)
      << absl::StrFormat("%d kernels: %d compiled, %d hits, %d joined, %d failed in %s\n", jobs, tally.compiled,
                         tally.hits, tally.joined, tally.failed, HumanTime(elapsed))
      << std::flush;
}

// Each once, in their order.
std::vector<std::string> Distinct(const std::vector<std::string>& words) {
  std::vector<std::string> distinct;
  for (const std::string& word : words) {
    if (std::find(distinct.begin(), distinct.end(), word) == distinct.end()) distinct.push_back(word);
  }
  return distinct;
}

int Run(const Session& session, PrebuildFlags flags) {
  flags.targets = Distinct(flags.targets);
  auto kernels = ListKernels(flags.source, flags.out_dir);
  if (!kernels.ok()) return session.Usage(kernels.status());
  if (flags.retarget) {
    for (Kernel& kernel : *kernels) kernel.target.clear();
  }
  const auto requests = MakeRequests(*kernels, flags.kernel, flags.targets);
  if (!requests.ok()) return session.Usage(requests.status());
  const auto jobs = PlanPrebuild(*kernels, flags.targets, flags.out_dir);
  if (!jobs.ok()) return session.Usage(jobs.status());
  std::error_code error;
  fs::create_directories(flags.out_dir, error);
  if (error) return session.Usage(absl::InvalidArgumentError(absl::StrCat(flags.out_dir, ": ", error.message())));
  NoteKeptTargets(session, flags, *kernels);
  auto client = session.Connect();
  if (!client.ok()) {
    const int code = session.NotConnected(client.status());
    for (const PrebuildJob& job : *jobs) {
      if (!flags.json || code == kUsage) break;
      const Kernel& kernel = (*kernels)[job.kernel];
      Outcome outcome{kernel.name, kernel.path, client.status(), {}};
      if (flags.targets.size() > 1) outcome.target = job.target;
      session.console.out << JsonLine(outcome) << std::endl;
    }
    return code;
  }

  const absl::Time start = timing::SteadyNow();
  Tally tally;
  int code = kDone;
  bool lost = false;
  size_t not_asked = 0;
  {
    Prebuild prebuild(session, flags, **client, *kernels, *requests, *jobs);
    code = prebuild.Run();
    tally = prebuild.tally();
    lost = prebuild.lost();
    not_asked = prebuild.not_asked();
  }
  PrintTally(session, flags, jobs->size(), tally, timing::SteadyNow() - start);
  if (lost) {
    session.console.err << "triton-client: lost the server at " << session.server.address << "; " << not_asked
                        << " kernels were not asked for" << std::endl;
  }
  return code;
}

}  // namespace

Command AddPrebuild(CLI::App* parent) {
  auto flags = std::make_shared<PrebuildFlags>();
  CLI::App* app = parent->add_subcommand("prebuild", "Compile many kernels into a folder: binaries and their metadata");
  app->add_option(
         "SOURCE", flags->source,
         "A folder, searched to any depth, of NAME.ttir (options in NAME.json), such as a TRITON_CACHE_DIR; or "
         "a manifest of JSON lines, such as a recording of the Python package")
      ->required();
  app->add_option("--target", flags->targets,
                  "Targets, such as cuda:90,host; may be repeated (default: the targets that the metadata of Triton "
                  "names)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("TARGET,…");
  flags->kernel.AddOptionsTo(app);
  flags->kernel.AddEmitTo(app);
  app->add_option("--out-dir", flags->out_dir,
                  "Folder of NAME.cubin (.hsaco, .spv, .so) and NAME.json, with the subfolders of the source; with "
                  "several targets in a folder for each, cuda-90/NAME.cubin")
      ->type_name("DIR")
      ->required();
  app->add_option("-j,--jobs", flags->jobs, "Requests in flight")->check(CLI::Range(1, 256))->capture_default_str();
  app->add_flag("--retarget", flags->retarget,
                "Compile for --target also the kernels for which the manifest names another target");
  app->add_flag("--json", flags->json, "Print one JSON object a line for each kernel");
  return {app, [flags](const Session& session) { return Run(session, *flags); }};
}

}  // namespace tritond::client
