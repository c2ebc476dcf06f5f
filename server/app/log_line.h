// SPDX-License-Identifier: Apache-2.0
// What the daemon writes into its log, and how a line of it looks.
#ifndef SERVER_APP_LOG_LINE_H_
#define SERVER_APP_LOG_LINE_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tritond::server {

struct LogEvent {
  enum class Level { kDebug, kInfo, kWarning, kError };
  Level level = Level::kInfo;
  std::string event;    // one word for programs: "message", "compile_ended", "call"
  std::string message;  // for people; may be empty
  // More for programs: job, key, tenant, worker and the like. Those that are empty are left out.
  std::vector<std::pair<std::string, std::string>> fields;
};
using LogSink = std::function<void(const LogEvent&)>;

enum class LogFormat { kText, kJson };

// One line, without its end. JSON: {"time", "level", "event", "message", the fields …}, all of them strings. Text:
// time, level and message, then the fields as NAME=VALUE, quoted where they would otherwise fall apart. Control
// characters and bytes that are no text are escaped in both, so that nobody who is quoted writes to a terminal.
std::string FormatLogLine(const LogEvent& event, absl::Time time, LogFormat format);

}  // namespace tritond::server

#endif  // SERVER_APP_LOG_LINE_H_
