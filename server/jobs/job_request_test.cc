// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/job_request.h"

#include <gtest/gtest.h>

namespace tritond::server {
namespace {

proto::PreparedRequest Prepared() {
  v1::CompileRequest request;
  request.set_target("cuda:90");
  request.set_tenant("tenant");
  request.set_ir("module {\n  // gone\n  x\n}\n");
  return *proto::Prepare(request);
}

TEST(JobRequest, ComesBackPrepared) {
  const proto::PreparedRequest prepared = Prepared();
  std::optional<JobRequest> read = DecodeJobRequest(EncodeJobRequest(prepared));
  ASSERT_TRUE(read.has_value());
  ASSERT_TRUE(read->source.has_value());
  const proto::PreparedRequest again(std::move(read->message), *std::move(read->source));
  EXPECT_EQ(again.Key("build"), prepared.Key("build"));
  EXPECT_EQ(again.message().tenant(), "tenant");
  EXPECT_EQ(again.source().ToSource({2, 3}), (proto::TextPlace{3, 3}));
  EXPECT_EQ(again.size_bytes(), prepared.size_bytes());
}

TEST(JobRequest, OtherBytesGiveNone) {
  const std::string record = EncodeJobRequest(Prepared());
  EXPECT_FALSE(DecodeJobRequest("").has_value());
  EXPECT_FALSE(DecodeJobRequest("x\n").has_value());
  EXPECT_FALSE(DecodeJobRequest("99999999999999999999\n").has_value());
  EXPECT_FALSE(DecodeJobRequest("400000\n" + record).has_value());
  EXPECT_FALSE(DecodeJobRequest(record.substr(0, record.size() - 1)).has_value());
}

}  // namespace
}  // namespace tritond::server
