// SPDX-License-Identifier: Apache-2.0
// triton-client bundle export, import: results for a machine that cannot reach this daemon.
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/known_names.h"
#include "client/cli/message_json.h"
#include "client/cli/output_file.h"
#include "client/cli/report.h"

namespace tritond::client {
namespace {

constexpr size_t kPartBytes = 1 << 20;

struct BundleFlags {
  std::string file;
  std::vector<std::string> keys;
  bool json = false;
};

int Export(const Session& session, const BundleFlags& flags) {
  auto client = session.Connect();
  if (!client.ok()) return session.NotConnected(client.status());
  std::vector<std::string> keys;
  for (const std::string& word : flags.keys) {
    auto key = FindKey(session, **client, word);
    if (!key.ok()) return session.NotConnected(key.status());
    keys.push_back(*std::move(key));
  }
  OutputFile file(flags.file);
  uint64_t total = 0;
  const auto sink = [&](absl::string_view part) {
    total += part.size();
    return file.Write(part);
  };
  absl::Status status = sink("");
  if (status.ok()) status = (*client)->ExportBundle(keys, sink, session.Deadline());
  if (status.ok()) status = file.Commit();
  if (!status.ok()) return session.Fail(status);
  const nlohmann::ordered_json line = {{"file", flags.file}, {"size_bytes", total}};
  session.console.out << (flags.json ? line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                                     : absl::StrCat(flags.file, "  ", HumanBytes(total)))
                      << std::endl;
  return kDone;
}

int Import(const Session& session, const BundleFlags& flags) {
  std::ifstream file(flags.file, std::ios::binary);
  if (!file) return session.Usage(absl::InvalidArgumentError(absl::StrCat(flags.file, ": cannot be read")));
  auto client = session.Connect();
  if (!client.ok()) return session.NotConnected(client.status());
  const auto source = [&]() -> absl::StatusOr<std::string> {
    std::string part(kPartBytes, '\0');
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    if (file.bad()) return absl::InternalError(absl::StrCat(flags.file, ": cannot be read"));
    part.resize(static_cast<size_t>(file.gcount()));
    return part;
  };
  const auto imported = (*client)->ImportBundle(source, session.Deadline());
  if (!imported.ok()) return session.Fail(imported.status());
  session.console.out << (flags.json ? MessageJson(*imported)
                                     : absl::StrCat(imported->results(), " results, ", imported->artifacts(),
                                                    " artifacts, ", HumanBytes(imported->bytes())))
                      << std::endl;
  return kDone;
}

}  // namespace

Command AddBundleExport(CLI::App* parent) {
  auto flags = std::make_shared<BundleFlags>();
  CLI::App* app = parent->add_subcommand("export", "Write results and their artifacts into one file");
  app->add_option("FILE", flags->file, "The bundle, for example kernels.bundle")->required();
  app->add_option("KEY", flags->keys, "Request keys, or the first digits of each (default: all stored results)");
  app->add_flag("--json", flags->json, "Print one JSON object: file, size_bytes");
  return {app, [flags](const Session& session) { return Export(session, *flags); }};
}

Command AddBundleImport(CLI::App* parent) {
  auto flags = std::make_shared<BundleFlags>();
  CLI::App* app = parent->add_subcommand("import", "Store the results of a bundle");
  app->add_option("FILE", flags->file, "A bundle that bundle export wrote")->required();
  app->add_flag("--json", flags->json, "Print one JSON object: results, artifacts, bytes");
  return {app, [flags](const Session& session) { return Import(session, *flags); }};
}

}  // namespace tritond::client
