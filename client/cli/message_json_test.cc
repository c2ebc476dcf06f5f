// SPDX-License-Identifier: Apache-2.0
#include "client/cli/message_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "proto/v1/admin.pb.h"

namespace tritond::client {
namespace {

TEST(MessageJson, NumbersAreNumbersAtAnyDepth) {
  v1::GetStatsResponse stats;
  stats.set_hits(3);
  stats.set_stored_bytes(18446744073709551615u);
  stats.set_saved_cpu_seconds(0.5);
  stats.mutable_started()->set_seconds(1700000000);
  stats.mutable_daemon()->set_max_ir_bytes(1024);
  v1::RecentJob& job = *stats.add_recent();
  job.set_key("12");
  job.set_code(3);
  job.set_peak_memory_bytes(96 << 20);
  job.add_stage_times()->set_wall_ns(1500000);
  const auto object = nlohmann::json::parse(MessageJson(stats));
  EXPECT_EQ(object["hits"], 3);
  EXPECT_EQ(object["misses"], 0);
  EXPECT_EQ(object["stored_bytes"], 18446744073709551615u);
  EXPECT_EQ(object["saved_cpu_seconds"], 0.5);
  EXPECT_EQ(object["started"], "2023-11-14T22:13:20Z");
  EXPECT_EQ(object["daemon"]["max_ir_bytes"], 1024);
  EXPECT_EQ(object["recent"][0]["key"], "12");  // Text stays text.
  EXPECT_EQ(object["recent"][0]["code"], 3);
  EXPECT_EQ(object["recent"][0]["peak_memory_bytes"], 96 << 20);
  EXPECT_EQ(object["recent"][0]["stage_times"][0]["wall_ns"], 1500000);
  EXPECT_TRUE(object["recent"][0]["stage_times"][0]["wall_ns"].is_number());
}

TEST(MessageJson, OptionsAndLabelsStayAsTheyAre) {
  v1::CompileRequest request;
  (*request.mutable_options()->mutable_fields())["fields"].set_string_value("7");
  EXPECT_EQ(nlohmann::json::parse(MessageJson(request))["options"]["fields"], "7");
  v1::Worker worker;
  (*worker.mutable_labels())["pid"] = "12";
  worker.set_pid(12);
  const auto object = nlohmann::json::parse(MessageJson(worker));
  EXPECT_EQ(object["labels"]["pid"], "12");
  EXPECT_EQ(object["pid"], 12);
}

}  // namespace
}  // namespace tritond::client
