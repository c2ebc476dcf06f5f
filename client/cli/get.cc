// SPDX-License-Identifier: Apache-2.0
// triton-client get: a stored result by its request key, or an artifact by its digest.
#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/known_names.h"
#include "client/cli/output_file.h"
#include "client/cli/report.h"
#include "client/cli/stage_names.h"

namespace tritond::client {
namespace {

struct GetFlags {
  std::string key;
  std::string emit = "binary";
  std::string output;
  std::string metadata;
  bool json = false;
};

// Also as an object on standard output, where one was asked for.
int Fail(const Session& session, const GetFlags& flags, const absl::Status& status) {
  if (flags.json)
    session.console.out << JsonLine({flags.key.substr(0, 12), flags.key, status, absl::ZeroDuration()}) << std::endl;
  return session.Fail(status);
}

int GetResult(const Session& session, const GetFlags& flags, v1::Stage stage, v1::CompileResponse response) {
  const std::string* bytes = FindBlob(response, stage);
  const std::string metadata = PrettyMetadata(response.result());
  if (!flags.output.empty() && bytes == nullptr) {
    return Fail(session, flags,
                absl::NotFoundError(absl::StrCat(flags.key, ": this result has no ", StageName(stage))));
  }
  absl::Status written = absl::OkStatus();
  if (!flags.output.empty()) written = WriteFile(flags.output, *bytes, session.console.out);
  if (!flags.metadata.empty()) written.Update(WriteFile(flags.metadata, metadata, session.console.out));
  if (!written.ok()) return Fail(session, flags, written);
  const Outcome outcome{flags.key.substr(0, 12), flags.key, std::move(response), absl::ZeroDuration()};
  if (flags.json) {
    session.console.out << JsonLine(outcome, /*details=*/true) << std::endl;
    return kDone;
  }
  if (!flags.output.empty() || !flags.metadata.empty()) return kDone;
  for (const v1::Artifact& artifact : outcome.response->result().artifacts()) {
    session.console.out << artifact.format() << "  " << artifact.digest() << "  " << HumanBytes(artifact.size_bytes())
                        << "\n";
  }
  session.console.out << Details(outcome) << metadata << std::flush;
  return kDone;
}

// `unknown`: why no result of this name was found.
int GetArtifact(const Session& session, const GetFlags& flags, const absl::Status& unknown, Client& client) {
  auto bytes = client.Fetch(flags.key, session.Deadline());
  if (!bytes.ok() && !absl::IsNotFound(unknown)) return Fail(session, flags, unknown);
  if (bytes.status().code() == absl::StatusCode::kNotFound) {
    return Fail(session, flags,
                absl::NotFoundError(absl::StrCat(flags.key, ": neither a result nor an artifact has this name")));
  }
  if (!bytes.ok()) return Fail(session, flags, bytes.status());
  if (!flags.output.empty()) {
    const absl::Status written = WriteFile(flags.output, *bytes, session.console.out);
    if (!written.ok()) return Fail(session, flags, written);
  }
  if (flags.json) {
    const nlohmann::ordered_json line{{"digest", flags.key}, {"size_bytes", bytes->size()}, {"error", nullptr}};
    session.console.out << line.dump() << std::endl;
  } else if (flags.output.empty()) {
    session.console.out << "artifact  " << flags.key << "  " << HumanBytes(bytes->size()) << std::endl;
  }
  return kDone;
}

int Run(const Session& session, GetFlags flags) {
  auto stage = ParseStage(flags.emit);
  if (!stage.ok()) return session.Usage(stage.status());
  auto client = session.Connect();
  if (!client.ok() && !absl::IsInvalidArgument(client.status())) return Fail(session, flags, client.status());
  if (!client.ok()) return session.NotConnected(client.status());
  auto key = FindKey(session, **client, flags.key);
  if (absl::IsInvalidArgument(key.status())) return session.Usage(key.status());
  if (!key.ok()) return Fail(session, flags, key.status());
  flags.key = *std::move(key);
  auto response = (*client)->Lookup(flags.key, session.Deadline());
  if (response.ok()) return GetResult(session, flags, *stage, *std::move(response));
  // A result that a daemon out of reach may have; an artifact of this name may be in reach all the same.
  const absl::Status unknown = response.status();
  if (!absl::IsNotFound(unknown) && !MayAskAgain(unknown)) return Fail(session, flags, unknown);
  return GetArtifact(session, flags, unknown, **client);
}

}  // namespace

Command AddGet(CLI::App* parent) {
  auto flags = std::make_shared<GetFlags>();
  CLI::App* app = parent->add_subcommand("get", "Show or download a stored result or artifact");
  app->add_option("KEY", flags->key, "Request key, or at least its first four digits; or digest of an artifact")
      ->required();
  app->add_option("--emit", flags->emit, "Output of the result that -o writes")
      ->type_name("binary|asm|llir|ttgir|ttir|disassembly")
      ->capture_default_str();
  app->add_option("-o,--output", flags->output, "File of the artifact; - is standard output")->type_name("FILE");
  app->add_option("--metadata", flags->metadata, "File of the metadata of the kernel, as JSON")->type_name("FILE");
  app->add_flag("--json", flags->json,
                "Print one JSON object: for a result that of compile, for an artifact its digest and size_bytes; error "
                "says what failed");
  return {app, [flags](const Session& session) { return Run(session, *flags); }};
}

}  // namespace tritond::client
