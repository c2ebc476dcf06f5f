// SPDX-License-Identifier: Apache-2.0
// triton-client drain, resume, evict, quarantine list, quarantine release: for those who run daemons. Each of the
// servers is told, and the status is 0 only when all of them obeyed.
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/commands.h"
#include "client/cli/each_server.h"
#include "client/cli/message_json.h"
#include "client/cli/name_prefix.h"

namespace tritond::client {
namespace {

int Drain(const Session& session, bool resume, bool json) {
  return AskEach(session, Answers::kAll, [&](Client& client, const std::string& address) {
    const auto drained = client.Drain(resume, session.Deadline());
    if (!drained.ok()) return drained.status();
    if (json) {
      session.console.out << WithServer(session, address, MessageJson(*drained)) << std::endl;
      return absl::OkStatus();
    }
    session.console.out << address << "  ";
    if (drained->draining()) {
      session.console.out << "draining, " << drained->remaining() << " jobs remain" << std::endl;
    } else {
      session.console.out << "takes compiles" << std::endl;
    }
    return absl::OkStatus();
  });
}

struct EvictFlags {
  std::vector<std::string> keys;
  bool everything = false;
  bool json = false;
};

int Evict(const Session& session, const EvictFlags& flags) {
  if (flags.everything == !flags.keys.empty()) {
    return session.Usage(absl::InvalidArgumentError("name either request keys or --everything"));
  }
  v1::EvictRequest request;
  request.set_everything(flags.everything);
  for (const std::string& key : flags.keys) request.add_keys(key);
  return AskEach(session, Answers::kAll, [&](Client& client, const std::string& address) {
    const auto evicted = client.Evict(request, session.Deadline());
    if (!evicted.ok()) return evicted.status();
    if (flags.json) {
      session.console.out << WithServer(session, address, MessageJson(*evicted)) << std::endl;
      return absl::OkStatus();
    }
    session.console.out << address << "  " << evicted->results() << " results, " << evicted->artifacts()
                        << " artifacts";
    if (evicted->shared_results() + evicted->shared_artifacts() > 0)
      session.console.out << "; " << evicted->shared_results() << " records, " << evicted->shared_artifacts()
                          << " artifacts of the cluster's engine";
    session.console.out << std::endl;
    return absl::OkStatus();
  });
}

int ListQuarantine(const Session& session, bool json) {
  return AskEach(session, Answers::kOne, [&](Client& client, const std::string& address) {
    const auto list = client.ListQuarantine(session.Deadline());
    if (!list.ok()) return list.status();
    std::ostream& out = session.console.out;
    for (const v1::QuarantineEntry& entry : list->entries()) {
      if (json) {
        out << WithServer(session, address, MessageJson(entry)) << "\n";
        continue;
      }
      const absl::Time since = absl::FromUnixSeconds(entry.since().seconds());
      out << entry.key() << "  " << absl::FormatTime("%Y-%m-%d %H:%M:%S", since, absl::LocalTimeZone()) << "  "
          << (entry.label().empty() ? "-" : entry.label());
      if (HasSeveralServers(session)) out << "  at " << address;
      out << "\n";
      for (const std::string& report : entry.reports()) out << "  " << report << "\n";
    }
    out.flush();
    return absl::OkStatus();
  });
}

struct ReleaseFlags {
  std::string key;  // or its beginning
  bool json = false;
};

// The key in quarantine that begins so; `word` itself where none does, for the server to answer.
absl::StatusOr<std::string> FindQuarantined(const Session& session, const std::string& word) {
  if (IsDigest(word)) return word;
  std::vector<std::string> keys;
  AskEach(session, Answers::kOne, [&](Client& client, const std::string&) {
    const auto list = client.ListQuarantine(session.Deadline());
    if (list.ok()) {
      for (const v1::QuarantineEntry& entry : list->entries()) keys.push_back(entry.key());
    }
    return absl::OkStatus();  // What fails here fails again when the key is released, and is said then.
  });
  auto key = ExpandPrefix(word, keys);
  return absl::IsNotFound(key.status()) ? word : key;
}

// A kernel may be in quarantine at some of the daemons only.
int Release(const Session& session, const ReleaseFlags& flags) {
  const auto found = FindQuarantined(session, flags.key);
  if (!found.ok()) return session.Usage(found.status());
  const std::string& key = *found;
  bool released = false;
  const int code = AskEach(session, Answers::kAll, [&](Client& client, const std::string& address) {
    const absl::Status status = client.Release(key, session.Deadline());
    if (absl::IsNotFound(status) && HasSeveralServers(session)) return absl::OkStatus();
    if (!status.ok()) return status;
    released = true;
    const nlohmann::ordered_json line = {{"key", key}, {"released", true}};
    session.console.out << (flags.json ? WithServer(session, address, line.dump())
                                       : absl::StrCat(address, "  released ", key))
                        << std::endl;
    return absl::OkStatus();
  });
  if (code != kDone || released) return code;
  return session.Fail(absl::NotFoundError(absl::StrCat(key, " is in quarantine at none of the servers")));
}

Command AddDrainFlags(CLI::App* app, bool resume) {
  auto json = std::make_shared<bool>(false);
  app->add_flag("--json", *json, "Print one JSON object a line for each server");
  return {app, [json, resume](const Session& session) { return Drain(session, resume, *json); }};
}

}  // namespace

Command AddDrain(CLI::App* parent) {
  CLI::App* app = parent->add_subcommand(
      "drain",
      "Let the daemon refuse new compiles, and wait at most --timeout for accepted ones; it still serves hits");
  return AddDrainFlags(app, /*resume=*/false);
}

Command AddResume(CLI::App* parent) {
  CLI::App* app = parent->add_subcommand("resume", "Let a draining daemon accept compiles again");
  return AddDrainFlags(app, /*resume=*/true);
}

Command AddEvict(CLI::App* parent) {
  auto flags = std::make_shared<EvictFlags>();
  CLI::App* app = parent->add_subcommand(
      "evict", "Remove stored results from the daemon and its engine; other daemons keep their own copies");
  app->add_option("KEY", flags->keys, "Request keys, all 64 digits of each");
  app->add_flag("--everything", flags->everything, "All results");
  app->add_flag("--json", flags->json, "Print one JSON object a line for each server");
  return {app, [flags](const Session& session) { return Evict(session, *flags); }};
}

Command AddQuarantineList(CLI::App* parent) {
  auto json = std::make_shared<bool>(false);
  CLI::App* app = parent->add_subcommand("list", "List the kernels that killed workers, with their crash reports");
  app->add_flag("--json", *json, "Print one JSON object a line for each kernel");
  return {app, [json](const Session& session) { return ListQuarantine(session, *json); }};
}

Command AddQuarantineRelease(CLI::App* parent) {
  auto flags = std::make_shared<ReleaseFlags>();
  CLI::App* app = parent->add_subcommand("release", "Allow a kernel to be compiled again");
  app->add_option("KEY", flags->key, "Key that quarantine list prints, or its first digits")->required();
  app->add_flag("--json", flags->json, "Print one JSON object a line for each server");
  return {app, [flags](const Session& session) { return Release(session, *flags); }};
}

}  // namespace tritond::client
