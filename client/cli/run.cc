// SPDX-License-Identifier: Apache-2.0
// triton-client run: compiles one kernel and launches it on a device of this machine.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/compile_kernel.h"
#include "client/cli/kernel_places.h"
#include "client/cli/output_file.h"
#include "client/cli/report.h"
#include "client/cli/run_kernel.h"
#include "client/cli/run_spec.h"
#include "client/cli/stage_names.h"
#include "client/cli/wait_notice.h"
#include "proto/request_key/request_key.h"
#include "timing/steady/steady_time.h"
#include "workers/device/devices.h"

namespace tritond::client {
namespace {

struct RunFlags {
  std::string spec;
  KernelFlags kernel;
  std::string device;
  std::vector<std::string> device_libraries;
  std::string save;
  int repeat = 1;
  int head = 8;
  int threads = 1;
  bool check_uninitialized = false;
  bool json = false;
};

// What a command's run is made of, as far as it got.
struct Report {
  std::string name;
  std::string device;
  std::string key;
  std::string cache;
  std::string compiled;  // for people
  std::string stage;     // that places are named by
  proto::SourceMap source;
  absl::StatusOr<RunResult> result = absl::UnknownError("");
};

// InvalidArgument when a flag is wrong.
absl::StatusOr<workers::DeviceOptions> OptionsOf(const Session& session, const RunFlags& flags) {
  workers::DeviceOptions options;
  for (const std::string& library : flags.device_libraries) {
    if (absl::Status added = workers::AddDeviceLibrary(library, &options.libraries); !added.ok())
      return absl::InvalidArgumentError(absl::StrCat("--device-library: ", added.message()));
  }
  options.launch_limit = absl::Seconds(session.server.timeout_seconds);
  options.threads = flags.threads;
  options.check_uninitialized = flags.check_uninitialized;
  std::ostream& prints = flags.json ? session.console.err : session.console.out;
  options.print = [&prints](absl::string_view text) { prints << text << std::flush; };
  return options;
}

// Sets the spec's binary and metadata by asking the server. On failure says so and returns an exit code.
int Compile(const Session& session, const RunFlags& flags, const workers::Device& device, RunSpec& spec,
            Report& report) {
  KernelFlags kernel = flags.kernel;
  if (kernel.target.empty()) kernel.target = spec.kernel.target.empty() ? device.Target() : spec.kernel.target;
  spec.kernel.target.clear();
  // The host device, also where it emulates a GPU, names places in the source.
  if (kernel.target == "host" || absl::StartsWith(kernel.target, "emulated:")) kernel.debug_info = true;
  auto request = MakeRequest(spec.kernel, kernel);
  if (!request.ok()) return session.Usage(request.status());
  request->set_delivery(v1::DELIVERY_INLINE);
  if (const auto prepared = proto::Prepare(*request); prepared.ok()) {
    report.stage = StageName(prepared->message().input());
    report.source = prepared->source();
  }
  auto client = session.Connect();
  if (!client.ok()) {
    const int code = session.NotConnected(client.status());
    if (flags.json && code != kUsage)
      session.console.out << JsonLine({spec.kernel.name, spec.kernel.path, client.status(), {}}) << std::endl;
    return code;
  }
  const absl::Time start = timing::SteadyNow();
  Outcome outcome{
      spec.kernel.name, spec.kernel.path, CompileWithNotice(session, **client, *request), {}, request->ir()};
  outcome.elapsed = timing::SteadyNow() - start;
  if (flags.json && !outcome.response.ok()) session.console.out << JsonLine(outcome) << std::endl;
  if (!flags.json || outcome.response.ok()) session.console.err << Complaints(outcome, session.console.err_has_colour);
  if (!outcome.response.ok()) return session.CodeOf(outcome.response.status());
  const std::string* binary = FindBlob(*outcome.response, v1::STAGE_BINARY);
  if (binary == nullptr) return session.Fail(absl::DataLossError("the server sent no binary"));
  spec.binary = *binary;
  spec.metadata = outcome.response->result().metadata_json();
  report.key = outcome.response->key();
  report.cache = CacheName(outcome.response->cache());
  report.compiled = absl::StrCat("  compiled: ", report.cache, " ", HumanTime(outcome.elapsed));
  return kDone;
}

absl::StatusOr<RunResult> LoadAndRun(workers::Device& device, const RunSpec& spec, const RunFlags& flags) {
  auto info = workers::ParseKernelInfo(spec.metadata);
  if (!info.ok()) return info.status();
  info->has_global_scratch = flags.kernel.launch_abi != "none";
  info->has_profile_scratch = flags.kernel.launch_abi == "both";
  const auto kernel = device.Load(spec.binary, *info);
  if (!kernel.ok()) return kernel.status();
  return RunKernel(device, **kernel, spec.grid, spec.arguments, flags.repeat);
}

absl::Status Save(const RunResult& result, const std::string& folder, std::ostream& out) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::InternalError(absl::StrCat(folder, ": ", error.message()));
  for (const BufferResult& buffer : result.buffers) {
    const auto path = std::filesystem::path(folder) / absl::StrCat(buffer.argument->name, ".bin");
    if (absl::Status status = WriteFile(path.string(), buffer.contents, out); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void PrintJson(const Report& report, const RunFlags& flags, std::ostream& out) {
  nlohmann::ordered_json line = {{"name", report.name},
                                 {"device", report.device},
                                 {"key", report.key},
                                 {"cache", report.cache},
                                 {"times_us", nlohmann::ordered_json::array()},
                                 {"buffers", nlohmann::ordered_json::array()},
                                 {"error", nullptr}};
  if (report.result.ok()) {
    for (const absl::Duration time : report.result->times) line["times_us"].push_back(absl::ToDoubleMicroseconds(time));
    for (const BufferResult& buffer : report.result->buffers) line["buffers"].push_back(BufferJson(buffer, flags.head));
  } else {
    line["error"] = std::string(report.result.status().message());
  }
  out << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
}

void PrintText(const Report& report, const RunSpec& spec, const RunFlags& flags, std::ostream& out) {
  std::vector<absl::Duration> times = report.result->times;
  std::sort(times.begin(), times.end());
  out << report.name << "  " << report.device << report.compiled << "  ran: " << HumanTime(times[times.size() / 2]);
  if (times.size() > 1) out << " (median of " << times.size() << ", best " << HumanTime(times.front()) << ")";
  out << "\n";
  for (const BufferResult& buffer : report.result->buffers) out << BufferLine(buffer, flags.head) << "\n";
  out << std::flush;
}

int Run(const Session& session, const RunFlags& flags) {
  auto spec = ReadRunSpec(flags.spec);
  if (!spec.ok()) return session.Usage(spec.status());
  const std::string name = flags.device.empty() ? spec->device : flags.device;
  const auto options = OptionsOf(session, flags);
  if (!options.ok()) return session.Usage(options.status());
  auto device = workers::OpenDevice(name, *options);
  if (!device.ok()) {
    const bool is_usage = device.status().code() == absl::StatusCode::kInvalidArgument;
    return is_usage ? session.Usage(device.status()) : session.Fail(device.status());
  }
  Report report;
  report.name = spec->kernel.name;
  report.device = (*device)->Name();
  if (!spec->kernel.path.empty()) {
    if (const int code = Compile(session, flags, **device, *spec, report); code != kDone) return code;
  }
  report.result = LoadAndRun(**device, *spec, flags);
  if (const absl::Status failed = report.result.status(); !failed.ok() && !report.stage.empty())
    report.result = absl::Status(failed.code(), LeadPlaces(failed.message(), report.stage, report.source));
  if (flags.json) PrintJson(report, flags, session.console.out);
  if (!report.result.ok()) return session.Fail(report.result.status());
  if (!flags.json) PrintText(report, *spec, flags, session.console.out);
  if (!flags.save.empty()) {
    const absl::Status saved = Save(*report.result, flags.save, session.console.out);
    if (!saved.ok()) return session.Fail(saved);
  }
  return report.result->IsAsExpected() ? kDone : kFailed;
}

}  // namespace

Command AddRun(CLI::App* parent) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App* app = parent->add_subcommand("run", "Compile one kernel and launch it on a device of this machine");
  app->add_option("SPEC", flags->spec, "JSON: kernel, grid, arguments (docs/api.md)")->required();
  app->add_option("--device", flags->device,
                  "Device that replaces the one of the spec: host:0, cuda:0, hip:0, ze:0, cl:0")
      ->type_name("DEVICE");
  app->add_option("--device-library", flags->device_libraries, "Driver library of a kind of device; may be repeated")
      ->type_name("KIND=PATH");
  app->add_option("--repeat", flags->repeat, "Number of launches, each with the same initial contents")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option("--save", flags->save, "Folder for the raw contents of each buffer, NAME.bin")->type_name("DIR");
  app->add_option("--head", flags->head, "Elements to print of each output")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app->add_option("--threads", flags->threads, "System threads that the host device runs programs on")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_flag("--check-uninitialized", flags->check_uninitialized,
                "On the host device, reading shared memory that was not written is an error");
  app->add_flag("--json", flags->json, "Print one JSON object");
  flags->kernel.AddTargetTo(app);
  flags->kernel.AddOptionsTo(app);
  return {app, [flags](const Session& session) { return Run(session, *flags); }};
}

}  // namespace tritond::client
