// SPDX-License-Identifier: Apache-2.0
#include "client/cli/report.h"

#include <google/protobuf/util/time_util.h>

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cc/status.h"
#include "client/cli/parse_json.h"
#include "client/cli/source_excerpt.h"
#include "client/cli/stage_names.h"
#include "proto/plain_text/nearest_word.h"

namespace tritond::client {
namespace {

// The word of a severity, and its colour on terminals: red, magenta, cyan.
std::string Severity(v1::Diagnostic::Severity severity, bool colour) {
  const bool warning = severity == v1::Diagnostic::SEVERITY_WARNING,
             remark = severity == v1::Diagnostic::SEVERITY_REMARK;
  const char* word = warning ? "warning:" : remark ? "remark:" : "error:";
  const char* code = warning ? "35" : remark ? "36" : "31";
  return colour ? absl::StrCat("\x1b[1;", code, "m", word, "\x1b[0m") : word;
}

std::string Describe(const std::string& path, const v1::Diagnostic& diagnostic, bool colour) {
  std::string place = path;
  if (diagnostic.line() > 0) absl::StrAppend(&place, ":", diagnostic.line(), ":", diagnostic.column());
  std::string text = absl::StrCat(place, ": ", Severity(diagnostic.severity(), colour), " ", diagnostic.message());
  if (diagnostic.stage() != v1::STAGE_UNSPECIFIED) absl::StrAppend(&text, " [", StageName(diagnostic.stage()), "]");
  return text;
}

// The first error that the compiler gave a place for, else the status itself.
std::string FirstError(const Outcome& outcome, bool colour = false) {
  const absl::Status& status = outcome.response.status();
  if (const auto failure = Detail<v1::CompileFailure>(status)) {
    for (const v1::Diagnostic& diagnostic : failure->diagnostics()) {
      if (diagnostic.severity() <= v1::Diagnostic::SEVERITY_ERROR) return Describe(outcome.path, diagnostic, colour);
    }
  }
  return absl::StrCat(outcome.path, ": ", Severity(v1::Diagnostic::SEVERITY_ERROR, colour), " ", ErrorText(status));
}

template <typename Diagnostics>
std::string DescribeAll(const Outcome& outcome, const Diagnostics& diagnostics, bool colour) {
  std::string text;
  for (const v1::Diagnostic& diagnostic : diagnostics) {
    absl::StrAppend(&text, Describe(outcome.path, diagnostic, colour), "\n",
                    SourceExcerpt(outcome.ir, diagnostic.line(), diagnostic.column(), colour));
  }
  return text;
}

template <typename Times>
nlohmann::json StagesMs(const Times& times) {
  nlohmann::json stages = nlohmann::json::object();
  for (const v1::StageTime& time : times) {
    stages[StageName(time.stage())] = static_cast<double>(time.wall_ns() / 1000) / 1000;
  }
  return stages;
}

// Of a key's id, for people: as `tritond keys list` prints it.
constexpr size_t kShortId = 16;

// What a compile took, and who made it with what, as its result or its failure says.
struct Usage {
  std::vector<v1::StageTime> stages;
  double cpu_seconds = 0;
  uint64_t peak_memory_bytes = 0;
  std::string worker, daemon, build_id;
  std::string signer, created;  // of results only
};

template <typename Message>
Usage UsageIn(const Message& message) {
  return {{message.stage_times().begin(), message.stage_times().end()},
          message.cost_cpu_seconds(),
          message.peak_memory_bytes(),
          message.worker(),
          message.daemon(),
          message.build_id(),
          "",
          ""};
}

Usage UsageOf(const Outcome& outcome) {
  if (outcome.response.ok()) {
    const v1::ActionResult& result = outcome.response->result();
    Usage usage = UsageIn(result);
    usage.signer = result.signer();
    if (result.has_created()) usage.created = google::protobuf::util::TimeUtil::ToString(result.created());
    return usage;
  }
  const auto failure = Detail<v1::CompileFailure>(outcome.response.status());
  return failure ? UsageIn(*failure) : Usage();
}

void AddUsage(const Usage& usage, nlohmann::ordered_json* line) {
  (*line)["cpu_s"] = usage.cpu_seconds > 0 ? nlohmann::json(usage.cpu_seconds) : nlohmann::json();
  (*line)["peak_memory_bytes"] =
      usage.peak_memory_bytes > 0 ? nlohmann::json(usage.peak_memory_bytes) : nlohmann::json();
  (*line)["worker"] = usage.worker;
  (*line)["daemon"] = usage.daemon;
  (*line)["build"] = usage.build_id;
  (*line)["signer"] = usage.signer;
  (*line)["created"] = usage.created;
}

// Their names; after a likely mistake, the option that was meant, of those that the metadata echoes.
std::vector<std::string> IgnoredOptions(const v1::ActionResult& result) {
  const nlohmann::json metadata = ParseJson(result.metadata_json());
  const std::set<std::string> ignored(result.ignored_options().begin(), result.ignored_options().end());
  std::vector<std::string> known, names;
  if (metadata.is_object()) {
    for (const auto& entry : metadata.items()) {
      if (ignored.count(entry.key()) == 0) known.push_back(entry.key());
    }
  }
  for (const std::string& name : ignored) {
    const std::string meant = proto::NearestWord(name, known);
    names.push_back(meant.empty() ? name : absl::StrCat(name, " (did you mean ", meant, "?)"));
  }
  return names;
}

}  // namespace

std::string JsonLine(const Outcome& outcome, bool details) {
  nlohmann::ordered_json line = {{"name", outcome.name}};
  if (!outcome.target.empty()) line["target"] = outcome.target;
  line["key"] = "";
  line["cache"] = "";
  line["artifacts"] = nlohmann::json::object();
  line["stages_ms"] = nlohmann::json::object();
  line["error"] = nullptr;
  if (details) AddUsage(UsageOf(outcome), &line);
  if (outcome.response.ok()) {
    const v1::CompileResponse& response = *outcome.response;
    line["key"] = response.key();
    line["cache"] = CacheName(response.cache());
    for (const v1::Artifact& artifact : response.result().artifacts()) {
      line["artifacts"][StageName(artifact.kind())] = artifact.digest();
    }
    line["stages_ms"] = StagesMs(response.result().stage_times());
  } else {
    if (const auto failure = Detail<v1::CompileFailure>(outcome.response.status())) {
      line["key"] = failure->key();
      line["stages_ms"] = StagesMs(failure->stage_times());
    }
    line["error"] = FirstError(outcome);
  }
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string TextLine(const Outcome& outcome) {
  const std::string name = absl::StrCat(outcome.name, outcome.target.empty() ? "" : "  ", outcome.target);
  if (!outcome.response.ok()) return absl::StrCat(name, "  failed");
  const v1::CompileResponse& response = *outcome.response;
  std::string line = absl::StrCat(name, "  ", CacheName(response.cache()), "  ", HumanTime(outcome.elapsed));
  for (const v1::Artifact& artifact : response.result().artifacts()) {
    absl::StrAppend(&line, "  ", artifact.format(), " ", HumanBytes(artifact.size_bytes()));
  }
  absl::StrAppend(&line, "  key ", response.key().substr(0, 12));
  const std::vector<std::string> ignored = IgnoredOptions(response.result());
  if (!ignored.empty()) absl::StrAppend(&line, "  ignored options: ", absl::StrJoin(ignored, ", "));
  return line;
}

std::string Complaints(const Outcome& outcome, bool colour) {
  if (outcome.response.ok()) return DescribeAll(outcome, outcome.response->result().diagnostics(), colour);
  std::string text;
  if (const auto failure = Detail<v1::CompileFailure>(outcome.response.status()))
    text = DescribeAll(outcome, failure->diagnostics(), colour);
  return text.empty() ? absl::StrCat(FirstError(outcome, colour), "\n") : text;
}

std::string Details(const Outcome& outcome) {
  const Usage usage = UsageOf(outcome);
  std::string text;
  for (const v1::StageTime& time : usage.stages) {
    absl::StrAppendFormat(&text, "  %-8s %10s\n", StageName(time.stage()),
                          HumanTime(absl::Nanoseconds(time.wall_ns())));
  }
  if (usage.cpu_seconds > 0)
    absl::StrAppendFormat(&text, "  %-8s %10s\n", "CPU", HumanTime(absl::Seconds(usage.cpu_seconds)));
  if (usage.peak_memory_bytes > 0)
    absl::StrAppendFormat(&text, "  %-8s %10s\n", "memory", HumanBytes(usage.peak_memory_bytes));
  if (!usage.worker.empty()) {
    absl::StrAppend(&text, "  by ", usage.worker, usage.daemon.empty() ? "" : " of ", usage.daemon, "\n");
  }
  if (!usage.created.empty()) absl::StrAppend(&text, "  made ", usage.created, "\n");
  if (!usage.signer.empty()) absl::StrAppend(&text, "  signed with key ", usage.signer.substr(0, kShortId), "\n");
  return text;
}

std::string PrettyMetadata(const v1::ActionResult& result) {
  const auto metadata = ParseJson(result.metadata_json());
  return metadata.is_discarded() ? absl::StrCat(result.metadata_json(), "\n") : absl::StrCat(metadata.dump(1), "\n");
}

std::string HumanBytes(uint64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  if (bytes < 1024 * 1024) return absl::StrFormat("%.1f KiB", static_cast<double>(bytes) / 1024);
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1024 * 1024));
}

std::string HumanPeak(uint64_t bytes) { return bytes == 0 ? "-" : HumanBytes(bytes); }

std::string HumanTime(absl::Duration duration) {
  const double ms = absl::ToDoubleMilliseconds(duration);
  return ms < 10'000 ? absl::StrFormat("%.1f ms", ms) : absl::StrFormat("%.1f s", ms / 1000);
}

}  // namespace tritond::client
