// SPDX-License-Identifier: Apache-2.0
// triton-client submit, watch, jobs, cancel: compiles that outlive their submitter.
#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/commands.h"
#include "client/cli/each_server.h"
#include "client/cli/kernel_request.h"
#include "client/cli/known_names.h"
#include "client/cli/message_json.h"
#include "client/cli/report.h"

namespace tritond::client {
namespace {

const char* StateName(v1::JobState state) {
  switch (state) {
    case v1::JOB_STATE_QUEUED:
      return "queued";
    case v1::JOB_STATE_RUNNING:
      return "running";
    case v1::JOB_STATE_SUCCEEDED:
      return "succeeded";
    case v1::JOB_STATE_FAILED:
      return "failed";
    case v1::JOB_STATE_CANCELLED:
      return "cancelled";
    default:
      return "unknown";
  }
}

std::string JobLine(const v1::Job& job) {
  const absl::Time created = absl::FromUnixSeconds(job.created().seconds());
  const v1::ActionResult& result = job.response().result();
  return absl::StrFormat("%-36s %-10s %-12s %-24.24s %-20s %10s %10s  %s", job.id(), StateName(job.state()),
                         job.target(), job.label(),
                         absl::FormatTime("%Y-%m-%d %H:%M:%S", created, absl::LocalTimeZone()),
                         result.cost_cpu_seconds() > 0 ? HumanTime(absl::Seconds(result.cost_cpu_seconds())) : "-",
                         HumanPeak(result.peak_memory_bytes()), job.failure().message());
}

struct SubmitFlags {
  std::string file;
  KernelFlags kernel;
  std::string options_file;
  std::string idempotency_key;
  bool json = false;
};

int Submit(const Session& session, const SubmitFlags& flags) {
  auto kernel = ReadKernel(flags.file, flags.options_file);
  if (!kernel.ok()) return session.Usage(kernel.status());
  auto request = MakeRequest(*kernel, flags.kernel);
  if (!request.ok()) return session.Usage(request.status());
  auto client = session.Connect();
  if (!client.ok()) return session.NotConnected(client.status());
  const auto job = (*client)->SubmitJob(*request, flags.idempotency_key, session.Deadline());
  if (!job.ok()) return session.Fail(job.status());
  session.console.out << (flags.json ? MessageJson(*job) : job->id()) << std::endl;
  return kDone;
}

struct WatchFlags {
  std::string id;  // or its beginning
  bool json = false;
};

int Watch(const Session& session, const WatchFlags& flags) {
  auto client = session.Connect();
  if (!client.ok()) return session.NotConnected(client.status());
  std::ostream& out = session.console.out;
  const auto print = [&](const v1::Job& job) { out << (flags.json ? MessageJson(job) : JobLine(job)) << std::endl; };
  const auto id = FindJob(session, **client, flags.id);
  if (!id.ok()) return session.NotConnected(id.status());
  const auto job = (*client)->WatchJob(*id, print, session.Deadline());
  if (!job.ok()) return session.Fail(job.status());
  return job->state() == v1::JOB_STATE_SUCCEEDED ? kDone : kFailed;
}

int List(const Session& session, bool json) {
  std::vector<v1::Job> jobs;
  const int code = AskEach(session, Answers::kOne, [&](Client& client, const std::string&) {
    auto some = client.ListJobs({}, session.Deadline());
    if (some.ok()) jobs.insert(jobs.end(), some->begin(), some->end());
    return some.status();
  });
  if (code != kDone) return code;
  // Ids of version 7 begin with their time.
  std::stable_sort(jobs.begin(), jobs.end(), [](const v1::Job& a, const v1::Job& b) { return a.id() > b.id(); });
  std::ostream& out = session.console.out;
  if (!json)
    out << absl::StrFormat("%-36s %-10s %-12s %-24s %-20s %10s %10s\n", "id", "state", "target", "label", "created",
                           "CPU", "memory");
  for (const v1::Job& job : jobs) out << (json ? MessageJson(job) : JobLine(job)) << "\n";
  out.flush();
  return kDone;
}

int Cancel(const Session& session, const WatchFlags& flags) {
  auto client = session.Connect();
  if (!client.ok()) return session.NotConnected(client.status());
  const auto id = FindJob(session, **client, flags.id);
  if (!id.ok()) return session.NotConnected(id.status());
  const auto job = (*client)->CancelJob(*id, session.Deadline());
  if (!job.ok()) return session.Fail(job.status());
  session.console.out << (flags.json ? MessageJson(*job) : absl::StrCat(job->id(), "  ", StateName(job->state())))
                      << std::endl;
  return kDone;
}

}  // namespace

Command AddSubmit(CLI::App* parent) {
  auto flags = std::make_shared<SubmitFlags>();
  CLI::App* app = parent->add_subcommand("submit", "Start a compile that continues without a client, and print its id");
  app->add_option("FILE", flags->file, "Triton IR; also .ttgir, .ll, .ptx; - is standard input")->required();
  flags->kernel.AddTo(app);
  app->add_option("--options", flags->options_file, "JSON file of the options of the kernel")->type_name("FILE");
  app->add_option("--idempotency-key", flags->idempotency_key, "Key of the job: the same key gives the same job")
      ->type_name("KEY");
  app->add_flag("--json", flags->json, "Print the job as one JSON object");
  return {app, [flags](const Session& session) { return Submit(session, *flags); }};
}

Command AddWatch(CLI::App* parent) {
  auto flags = std::make_shared<WatchFlags>();
  CLI::App* app = parent->add_subcommand("watch", "Follow a submitted job until it ends");
  app->add_option("ID", flags->id, "Job id, or its first digits")->required();
  app->add_flag("--json", flags->json, "Print one JSON object a line for each change");
  return {app, [flags](const Session& session) { return Watch(session, *flags); }};
}

Command AddJobs(CLI::App* parent) {
  auto json = std::make_shared<bool>(false);
  CLI::App* app = parent->add_subcommand("jobs", "List submitted jobs, newest first");
  app->add_flag("--json", *json, "Print one JSON object a line for each job");
  return {app, [json](const Session& session) { return List(session, *json); }};
}

Command AddCancel(CLI::App* parent) {
  auto flags = std::make_shared<WatchFlags>();
  CLI::App* app = parent->add_subcommand("cancel", "Cancel a submitted job");
  app->add_option("ID", flags->id, "Job id, or its first digits")->required();
  app->add_flag("--json", flags->json, "Print the job as one JSON object");
  return {app, [flags](const Session& session) { return Cancel(session, *flags); }};
}

}  // namespace tritond::client
