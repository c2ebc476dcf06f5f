// SPDX-License-Identifier: Apache-2.0
#include "server/app/log_line.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "proto/plain_text/plain_text.h"

namespace tritond::server {
namespace {

const absl::Time kTime = absl::FromUnixMillis(1700000000123);

TEST(FormatLogLine, TextIsForPeople) {
  EXPECT_EQ(FormatLogLine({LogEvent::Level::kWarning, "message", "the disk is slow", {}}, kTime, LogFormat::kText),
            "2023-11-14T22:13:20.123Z warning the disk is slow");
  EXPECT_EQ(
      FormatLogLine({LogEvent::Level::kInfo, "compile_ended", "", {{"job", "1"}, {"label", "a b"}, {"tenant", ""}}},
                    kTime, LogFormat::kText),
      "2023-11-14T22:13:20.123Z info compile_ended job=1 label=\"a b\"");
}

TEST(FormatLogLine, JsonIsOneObjectALine) {
  const std::string line =
      FormatLogLine({LogEvent::Level::kError, "compile_ended", "no\nsuch \"op\"", {{"job", "1"}, {"tenant", ""}}},
                    kTime, LogFormat::kJson);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(line),
            nlohmann::json::parse(R"({"time": "2023-11-14T22:13:20.123Z", "level": "error", "event": "compile_ended",
                                      "message": "no\nsuch \"op\"", "job": "1"})"));
}

TEST(FormatLogLine, TextsOfCallersForgeNoLine) {
  const LogEvent event{
      LogEvent::Level::kInfo, "message", "worker: x\n2023 error forged", {{"label", "a\nlevel=error"}}};
  for (LogFormat format : {LogFormat::kText, LogFormat::kJson})
    EXPECT_EQ(FormatLogLine(event, kTime, format).find('\n'), std::string::npos);
}

TEST(FormatLogLine, TextsOfCallersDoNotControlATerminal) {
  std::string everything;
  for (int c = 0; c < 256; ++c) everything.push_back(static_cast<char>(c));
  everything +=
      "\xc2\x9b"
      "31m \xe2\x80\xae";
  const LogEvent event{
      LogEvent::Level::kInfo, "compile_ended", everything, {{"label", everything}, {"worker", everything}}};
  for (LogFormat format : {LogFormat::kText, LogFormat::kJson})
    EXPECT_TRUE(proto::IsPlainText(FormatLogLine(event, kTime, format))) << FormatLogLine(event, kTime, format);
  // What can be read stays readable.
  const LogEvent fine{LogEvent::Level::kInfo, "message", "", {{"tenant", "K\xc3\xb6ln"}}};
  EXPECT_NE(FormatLogLine(fine, kTime, LogFormat::kText).find("tenant=K\xc3\xb6ln"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(FormatLogLine(fine, kTime, LogFormat::kJson))["tenant"], "K\xc3\xb6ln");
}

TEST(FormatLogLine, BytesThatAreNoTextStayValidJson) {
  const std::string line = FormatLogLine({LogEvent::Level::kInfo, "message", "\xff", {}}, kTime, LogFormat::kJson);
  EXPECT_FALSE(nlohmann::json::parse(line, nullptr, false).is_discarded());
}

}  // namespace
}  // namespace tritond::server
