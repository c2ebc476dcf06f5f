// SPDX-License-Identifier: Apache-2.0
// triton-client bundle list, extract: what a bundle holds, without a daemon. As on import, everything is verified
// before anything is printed or written. Signatures only against a list of trusted keys, since bundles do not hold the
// keys.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/cli/commands.h"
#include "client/cli/name_prefix.h"
#include "client/cli/output_file.h"
#include "client/cli/parse_json.h"
#include "client/cli/report.h"
#include "client/cli/stage_names.h"
#include "proto/plain_text/plain_text.h"
#include "server/bundle/bundle.h"

namespace tritond::client {
namespace {

namespace fs = std::filesystem;

struct ContentsFlags {
  std::string file;
  std::vector<std::string> keys;  // or their beginnings; none: all
  std::string trusted_keys;
  std::string out_dir;
  bool json = false;
};

struct BundledResult {
  v1::BundleRecord record;
  v1::ActionResult action;
  server::RecordFacts facts;
};

using Reader = server::BundleVerifier::Reader;

// How records count: by the list of trusted keys, or by all but their signatures. InvalidArgument for a wrong list.
absl::StatusOr<Reader> MakeReader(const std::string& trusted_keys) {
  if (trusted_keys.empty()) return Reader(server::Notary::TakeApart);
  auto text = ReadFile(trusted_keys);
  if (!text.ok()) return text.status();
  auto keys = server::TrustedKeys::Parse(*text);
  if (!keys.ok()) return absl::InvalidArgumentError(absl::StrCat(trusted_keys, ": ", keys.status().message()));
  auto own = server::SigningKey::Generate();  // A notary has a key of its own. Nobody knows this one.
  if (!own.ok()) return own.status();
  const auto notary = std::make_shared<server::Notary>(
      *std::move(own), *std::move(keys), [](const std::string&) {}, absl::Now);
  return Reader([notary](const server::Notary::Use& use, absl::string_view record) {
    return notary->Read(server::Origin::kBundle, use, record);
  });
}

absl::Status ReadRecords(const std::string& path, const std::function<absl::Status(v1::BundleRecord)>& visit) {
  std::error_code ignored;
  // Others may block, or are at their end when they are read again.
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored))
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::InvalidArgumentError(absl::StrCat(path, ": ", std::strerror(errno)));
  return server::ReadBundle(file, visit);
}

// The keys of all results of a bundle that is whole and counts. InvalidArgument when the file cannot be read, else what
// BundleVerifier says.
absl::StatusOr<std::vector<std::string>> Verify(const std::string& path, const Reader& reader) {
  std::vector<std::string> keys;
  server::BundleVerifier verifier(reader);
  absl::Status status = ReadRecords(path, [&](const v1::BundleRecord& record) {
    if (record.signed_manifest().empty()) keys.push_back(record.key());
    return verifier.Visit(record);
  });
  if (status.ok()) status = verifier.Finish();
  if (absl::IsInvalidArgument(status)) return status;
  if (!status.ok()) return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
  return keys;
}

// Full keys of what the user asks for; none: all.
absl::StatusOr<std::set<std::string>> Expand(const std::vector<std::string>& prefixes,
                                             const std::vector<std::string>& keys) {
  std::set<std::string> wanted;
  for (const std::string& prefix : prefixes) {
    auto key = ExpandPrefix(prefix, keys);
    if (!key.ok()) return absl::InvalidArgumentError(absl::StrCat("KEY: ", key.status().message()));
    wanted.insert(*std::move(key));
  }
  return wanted;
}

// A result of a bundle that was verified.
BundledResult Parse(v1::BundleRecord record) {
  BundledResult result;
  result.record = std::move(record);
  auto signed_result = server::ReadRecord(result.record.signed_result());
  if (!signed_result.ok()) return result;
  result.action.ParseFromString(std::string(signed_result->payload));
  result.facts = std::move(signed_result->facts);
  return result;
}

// Calls `visit` with each result that the flags ask for, once the whole bundle is verified; then prints how many they
// were. Prints the first error instead; gives an ExitCode.
int VisitResults(const Session& session, const ContentsFlags& flags,
                 const std::function<absl::Status(const BundledResult&)>& visit) {
  const auto reader = MakeReader(flags.trusted_keys);
  if (!reader.ok()) return session.Usage(reader.status());
  const auto keys = Verify(flags.file, *reader);
  if (absl::IsInvalidArgument(keys.status())) return session.Usage(keys.status());
  if (!keys.ok()) return session.Fail(keys.status());
  const auto wanted = Expand(flags.keys, *keys);
  if (!wanted.ok()) return session.Usage(wanted.status());
  uint64_t results = 0, artifacts = 0, bytes = 0;
  const absl::Status status = ReadRecords(flags.file, [&](v1::BundleRecord record) {
    const bool is_asked = record.signed_manifest().empty() && (wanted->empty() || wanted->count(record.key()) > 0);
    if (!is_asked) return absl::OkStatus();
    const BundledResult result = Parse(std::move(record));
    ++results;
    artifacts += static_cast<uint64_t>(result.action.artifacts_size());
    for (const v1::Artifact& artifact : result.action.artifacts()) bytes += artifact.size_bytes();
    return visit(result);
  });
  if (!status.ok()) return session.Fail(status);
  if (!flags.json)
    session.console.out << results << " results, " << artifacts << " artifacts, " << HumanBytes(bytes) << "\n";
  session.console.out.flush();
  if (flags.trusted_keys.empty())
    session.console.err << "triton-client: digests and keys are verified; signatures are not, without --trusted-keys"
                        << std::endl;
  return kDone;
}

// The kernel's name, from its metadata; "" where it has none.
std::string NameOf(const v1::ActionResult& action) {
  const auto metadata = ParseJson(action.metadata_json());
  if (!metadata.is_object() || !metadata.contains("name") || !metadata["name"].is_string()) return "";
  return metadata["name"].get<std::string>();
}

std::string ResultJson(const BundledResult& result, bool verified) {
  nlohmann::ordered_json line = {{"key", result.record.key()},
                                 {"name", NameOf(result.action)},
                                 {"target", result.action.target()},
                                 {"build", result.action.build_id()},
                                 {"artifacts", nlohmann::ordered_json::object()},
                                 {"size_bytes", 0},
                                 {"signer", result.facts.signer.ToHex()},
                                 {"signed_unix_ms", absl::ToUnixMillis(result.facts.time)},
                                 {"signature_verified", verified}};
  uint64_t bytes = 0;
  for (const v1::Artifact& artifact : result.action.artifacts()) {
    line["artifacts"][StageName(artifact.kind())] = artifact.digest();
    bytes += artifact.size_bytes();
  }
  line["size_bytes"] = bytes;
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string ResultLine(const BundledResult& result) {
  std::string line =
      absl::StrFormat("%s  %-32s %-12s", result.record.key(), NameOf(result.action), result.action.target());
  for (const v1::Artifact& artifact : result.action.artifacts())
    absl::StrAppend(&line, "  ", artifact.format(), " ", HumanBytes(artifact.size_bytes()));
  absl::StrAppend(&line, "  signed by ", server::ShortId(result.facts.signer));
  return proto::EscapeToPlain(line);
}

int List(const Session& session, const ContentsFlags& flags) {
  return VisitResults(session, flags, [&](const BundledResult& result) {
    session.console.out << (flags.json ? ResultJson(result, !flags.trusted_keys.empty()) : ResultLine(result)) << "\n";
    return absl::OkStatus();
  });
}

// A file name from text that strangers wrote: letters, digits and . and - stay, and it begins with a letter or digit.
std::string FileName(absl::string_view text) {
  std::string name(text.substr(0, 150));
  for (char& c : name) {
    if (!absl::ascii_isalnum(c) && c != '.' && c != '-') c = '_';
  }
  return name.empty() || !absl::ascii_isalnum(name[0]) ? absl::StrCat("kernel", name) : name;
}

// DIR/KEY/NAME.FORMAT for every artifact, and NAME.json. Gives their paths.
absl::StatusOr<std::vector<std::string>> WriteResult(const BundledResult& result, const std::string& out_dir,
                                                     std::ostream& out) {
  const fs::path folder = fs::path(out_dir) / result.record.key();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return absl::InternalError(absl::StrCat(folder.string(), ": ", error.message()));
  const std::string name = FileName(NameOf(result.action));
  std::vector<std::string> files;
  const auto write = [&](absl::string_view format, const std::string& bytes) {
    const std::string file = (folder / absl::StrCat(name, ".", FileName(format))).string();
    for (const std::string& other : files) {
      if (other == file) return absl::DataLossError(absl::StrCat(file, ": the result has two artifacts of this name"));
    }
    files.push_back(file);
    return WriteFile(file, bytes, out);
  };
  absl::Status status = write("json", PrettyMetadata(result.action));
  for (int i = 0; i < result.action.artifacts_size() && status.ok(); ++i)
    status = write(result.action.artifacts(i).format(), result.record.blobs(i).data());
  if (!status.ok()) return status;
  return files;
}

int Extract(const Session& session, const ContentsFlags& flags) {
  std::ostream& out = session.console.out;
  return VisitResults(session, flags, [&](const BundledResult& result) {
    const auto files = WriteResult(result, flags.out_dir, out);
    if (!files.ok()) return files.status();
    if (flags.json) {
      const nlohmann::ordered_json line = {
          {"key", result.record.key()}, {"name", NameOf(result.action)}, {"files", *files}};
      out << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    } else {
      for (const std::string& file : *files) out << file << "\n";
    }
    return absl::OkStatus();
  });
}

void AddFlags(CLI::App* app, ContentsFlags* flags) {
  app->add_option("FILE", flags->file, "A bundle that bundle export wrote")->required();
  app->add_option("KEY", flags->keys, "Request keys, or the first digits of each (default: all)");
  app->add_option("--trusted-keys", flags->trusted_keys,
                  "List of trusted keys, as tritond keys trust writes it: also verify the signatures")
      ->type_name("FILE");
  app->add_flag("--json", flags->json, "Print one JSON object a line for each result");
}

}  // namespace

Command AddBundleList(CLI::App* parent) {
  auto flags = std::make_shared<ContentsFlags>();
  CLI::App* app = parent->add_subcommand("list", "Verify a bundle and list its results; needs no daemon");
  AddFlags(app, flags.get());
  return {app, [flags](const Session& session) { return List(session, *flags); }};
}

Command AddBundleExtract(CLI::App* parent) {
  auto flags = std::make_shared<ContentsFlags>();
  CLI::App* app = parent->add_subcommand(
      "extract", "Verify a bundle and write its results: DIR/KEY/NAME.cubin and NAME.json; needs no daemon");
  AddFlags(app, flags.get());
  app->add_option("--out-dir", flags->out_dir, "Folder of the output, with one folder for each result")
      ->type_name("DIR")
      ->required();
  return {app, [flags](const Session& session) { return Extract(session, *flags); }};
}

}  // namespace tritond::client
