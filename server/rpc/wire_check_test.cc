// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/wire_check.h"

#include <gmock/gmock.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/v1/compile.pb.h"
#include "server/rpc/status.h"

namespace tritond::server {
namespace {

using testing::HasSubstr;

constexpr WireLimits kLimits{1 << 20, 1000, 32};

template <typename Message>
absl::Status Check(const std::string& bytes, const WireLimits& limits = kLimits) {
  google::protobuf::io::ArrayInputStream input(bytes.data(), static_cast<int>(bytes.size()));
  return CheckWire(&input, bytes.size(), *Message::descriptor(), limits);
}

std::string Repeat(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

v1::CompileRequest Kernel() {
  v1::CompileRequest request;
  request.set_ir(std::string(1 << 19, 'x'));
  request.set_target("cuda:90");
  request.add_outputs(v1::STAGE_BINARY);
  auto& options = *request.mutable_options()->mutable_fields();
  options["num_warps"].set_number_value(4);
  options["names"].mutable_list_value()->add_values()->set_string_value("a");
  return request;
}

TEST(WireCheck, SoundMessagesPass) {
  EXPECT_TRUE(Check<v1::CompileRequest>(Kernel().SerializeAsString()).ok());
  EXPECT_TRUE(Check<v1::CompileRequest>("").ok());
  v1::CompileBatchRequest batch;
  *batch.add_requests() = Kernel();
  EXPECT_TRUE(Check<v1::CompileBatchRequest>(batch.SerializeAsString()).ok());
}

TEST(WireCheck, SizeIsBounded) {
  const absl::Status large = Check<v1::CompileRequest>(std::string((1 << 20) + 1, 'x'));
  EXPECT_EQ(large.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonOf(large), Reason::kMessageTooLarge);
  EXPECT_THAT(std::string(large.message()), HasSubstr("1048576"));
}

TEST(WireCheck, ManyEmptyMessagesAreTooMany) {
  const std::string empty_request("\x0a\x00", 2);
  EXPECT_TRUE(Check<v1::CompileBatchRequest>(Repeat(empty_request, 1000)).ok());
  const absl::Status many = Check<v1::CompileBatchRequest>(Repeat(empty_request, 1001));
  EXPECT_EQ(ReasonOf(many), Reason::kTooManyFields);
  EXPECT_THAT(std::string(many.message()), HasSubstr("1000"));
}

TEST(WireCheck, ManyKeysOrValuesOfOptionsAreTooMany) {
  v1::CompileRequest keys, values;
  for (int i = 0; i < 1000; ++i) {
    (*keys.mutable_options()->mutable_fields())[std::to_string(i)];
    (*values.mutable_options()->mutable_fields())["list"].mutable_list_value()->add_values();
  }
  EXPECT_EQ(ReasonOf(Check<v1::CompileRequest>(keys.SerializeAsString())), Reason::kTooManyFields);
  EXPECT_EQ(ReasonOf(Check<v1::CompileRequest>(values.SerializeAsString())), Reason::kTooManyFields);
}

TEST(WireCheck, PackedListsAndUnknownFieldsCount) {
  v1::CompileRequest packed;
  for (int i = 0; i < 10000; ++i) packed.add_outputs(v1::STAGE_UNSPECIFIED);
  EXPECT_EQ(ReasonOf(Check<v1::CompileRequest>(packed.SerializeAsString())), Reason::kTooManyFields);
  EXPECT_EQ(ReasonOf(Check<v1::CompileRequest>(Repeat("\xf8\x7f\x01", 1001))), Reason::kTooManyFields);
}

TEST(WireCheck, DeepNestingIsRefused) {
  v1::CompileRequest request;
  google::protobuf::Value* value = &(*request.mutable_options()->mutable_fields())["deep"];
  for (int i = 0; i < 20; ++i) value = value->mutable_list_value()->add_values();
  EXPECT_EQ(ReasonOf(Check<v1::CompileRequest>(request.SerializeAsString())), Reason::kBadMessage);
  // Groups of unknown fields, too.
  EXPECT_EQ(ReasonOf(Check<v1::CompileRequest>(Repeat("\xfb\x7f", 500))), Reason::kBadMessage);
}

TEST(WireCheck, MessagesCutOffOrOfAWrongLengthAreRefused) {
  const std::string whole = Kernel().SerializeAsString();
  for (size_t size = 1; size < whole.size(); size += whole.size() / 50) {
    v1::CompileRequest parsed;
    EXPECT_EQ(Check<v1::CompileRequest>(whole.substr(0, size)).ok(), parsed.ParseFromString(whole.substr(0, size)));
  }
  for (const std::string& bytes : std::vector<std::string>{"\x0a\x7f", "\x0a\xff\xff\xff\xff\x7f", "\x0c", "\x0f",
                                                           std::string("\x00\x01", 2), "\x80"}) {
    EXPECT_EQ(ReasonOf(Check<v1::CompileRequest>(bytes)), Reason::kBadMessage);
  }
}

}  // namespace
}  // namespace tritond::server
