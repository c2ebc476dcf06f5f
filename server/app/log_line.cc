// SPDX-License-Identifier: Apache-2.0
#include "server/app/log_line.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/plain_text/plain_text.h"

namespace tritond::server {
namespace {

const char* LevelName(LogEvent::Level level) {
  switch (level) {
    case LogEvent::Level::kDebug:
      return "debug";
    case LogEvent::Level::kInfo:
      return "info";
    case LogEvent::Level::kWarning:
      return "warning";
    case LogEvent::Level::kError:
      return "error";
  }
  return "";
}

bool IsOfWord(char c) { return c != ' ' && c != '"' && c != '=' && c != '\\'; }

std::string Word(const std::string& value) {
  if (std::all_of(value.begin(), value.end(), IsOfWord) && proto::IsPlainText(value)) return value;
  return absl::StrCat("\"", proto::EscapeToPlain(absl::Utf8SafeCEscape(value)), "\"");
}

// A line stays one line, whatever a worker said in it.
std::string OneLine(const std::string& message) {
  return proto::EscapeToPlain(absl::StrReplaceAll(message, {{"\n", " | "}, {"\r", " "}, {"\t", " "}}));
}

}  // namespace

std::string FormatLogLine(const LogEvent& event, absl::Time time, LogFormat format) {
  const std::string stamp = absl::FormatTime("%Y-%m-%d%ET%H:%M:%E3SZ", time, absl::UTCTimeZone());
  if (format == LogFormat::kJson) {
    nlohmann::ordered_json json{{"time", stamp}, {"level", LevelName(event.level)}, {"event", event.event}};
    if (!event.message.empty()) json["message"] = event.message;
    for (const auto& [name, value] : event.fields) {
      if (!value.empty()) json[name] = value;
    }
    // ASCII alone: a terminal that shows the line meets no control character.
    return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  }
  std::string line = absl::StrCat(stamp, " ", LevelName(event.level), " ",
                                  event.message.empty() ? event.event : OneLine(event.message));
  for (const auto& [name, value] : event.fields) {
    if (!value.empty()) absl::StrAppend(&line, " ", name, "=", Word(value));
  }
  return line;
}

}  // namespace tritond::server
