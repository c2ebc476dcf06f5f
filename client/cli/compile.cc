// SPDX-License-Identifier: Apache-2.0
// triton-client compile: one kernel.
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/compile_kernel.h"
#include "client/cli/kernel_request.h"
#include "client/cli/output_file.h"
#include "client/cli/report.h"
#include "client/cli/stage_names.h"
#include "client/cli/wait_notice.h"
#include "timing/steady/steady_time.h"

namespace tritond::client {
namespace {

struct CompileFlags {
  std::string file;
  KernelFlags kernel;
  std::string options_file;
  std::string output;
  std::string metadata;
  bool json = false;
  bool verbose = false;
};

// The kinds asked for go to files: the first to `output`, the others beside it under their own extension.
absl::Status WriteArtifacts(const v1::CompileRequest& request, const v1::CompileResponse& response,
                            const std::string& output, std::ostream& out) {
  bool first = true;
  for (const int kind : request.outputs()) {
    for (const v1::Artifact& artifact : response.result().artifacts()) {
      if (artifact.kind() != kind) continue;
      std::filesystem::path path = output;
      if (!first) path.replace_extension(artifact.format());
      const std::string* bytes = FindBlob(response, artifact.kind());
      if (bytes == nullptr) return absl::DataLossError(absl::StrCat("no bytes of artifact ", artifact.digest()));
      if (absl::Status status = WriteFile(path.string(), *bytes, out); !status.ok()) return status;
      first = false;
    }
  }
  return absl::OkStatus();
}

// Says where the result is when no file was asked for.
void PrintWhereabouts(const v1::CompileRequest& request, const Outcome& outcome, std::ostream& out) {
  for (const v1::Artifact& artifact : outcome.response->result().artifacts()) {
    if (artifact.kind() != request.outputs(0)) continue;
    const std::string emit =
        artifact.kind() == v1::STAGE_BINARY ? "" : absl::StrCat(" --emit ", StageName(artifact.kind()));
    out << "the server keeps the result: triton-client get " << outcome.response->key() << emit << " -o "
        << outcome.name << "." << artifact.format() << "\n";
    return;
  }
}

int Run(const Session& session, const CompileFlags& flags) {
  auto kernel = ReadKernel(flags.file, flags.options_file);
  if (!kernel.ok()) return session.Usage(kernel.status());
  if (flags.output == "-" && flags.kernel.emit.size() > 1) {
    return session.Usage(absl::InvalidArgumentError("-o - takes one kind of --emit"));
  }
  auto request = MakeRequest(*kernel, flags.kernel);
  if (!request.ok()) return session.Usage(request.status());
  auto client = session.Connect();
  if (!client.ok()) {
    const int code = session.NotConnected(client.status());
    if (flags.json && code != kUsage)
      session.console.out << JsonLine({kernel->name, kernel->path, client.status(), {}}, flags.verbose) << std::endl;
    return code;
  }

  const bool wants_bytes = !flags.output.empty();
  request->set_delivery(wants_bytes ? v1::DELIVERY_INLINE : v1::DELIVERY_DIGESTS);
  const absl::Time start = timing::SteadyNow();
  Outcome outcome{kernel->name, kernel->path, CompileWithNotice(session, **client, *request), {}, request->ir()};
  outcome.elapsed = timing::SteadyNow() - start;

  absl::Status written = absl::OkStatus();
  if (outcome.response.ok() && wants_bytes) {
    written = WriteArtifacts(*request, *outcome.response, flags.output, session.console.out);
  }
  if (outcome.response.ok() && !flags.metadata.empty()) {
    written.Update(WriteFile(flags.metadata, PrettyMetadata(outcome.response->result()), session.console.out));
  }
  if (!written.ok()) outcome.response = written;
  const bool out_is_taken = flags.output == "-" || flags.metadata == "-";
  if (flags.json) {
    session.console.out << JsonLine(outcome, flags.verbose) << std::endl;
  } else {
    session.console.err << Complaints(outcome, session.console.err_has_colour);
    if (outcome.response.ok())
      (out_is_taken ? session.console.err : session.console.out) << TextLine(outcome) << std::endl;
    if (outcome.response.ok() && !wants_bytes) PrintWhereabouts(*request, outcome, session.console.err);
  }
  if (flags.verbose && !flags.json) session.console.err << Details(outcome);
  return outcome.response.ok() ? kDone : session.CodeOf(outcome.response.status());
}

}  // namespace

Command AddCompile(CLI::App* parent) {
  auto flags = std::make_shared<CompileFlags>();
  CLI::App* app = parent->add_subcommand("compile", "Compile one kernel, or get it from the cache");
  app->add_option("FILE", flags->file, "Triton IR; also .ttgir, .ll, .ptx; - is standard input")->required();
  flags->kernel.AddTo(app);
  app->add_option("--options", flags->options_file, "JSON file of the options of the kernel")->type_name("FILE");
  app->add_option("-o,--output", flags->output,
                  "File of the first output of --emit (- is standard output); the others go beside it, by extension")
      ->type_name("FILE");
  app->add_option("--metadata", flags->metadata, "File of the metadata of the kernel, as JSON")->type_name("FILE");
  app->add_flag("--json", flags->json, "Print one JSON object");
  app->add_flag("--verbose", flags->verbose, "Also print the time of each stage, CPU time, memory and worker");
  return {app, [flags](const Session& session) { return Run(session, *flags); }};
}

}  // namespace tritond::client
