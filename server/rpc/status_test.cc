// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/status.h"

#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace tritond::server {
namespace {

template <typename Detail>
bool Find(const grpc::Status& status, Detail* detail) {
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return false;
  for (const auto& any : details.details()) {
    if (any.UnpackTo(detail)) return true;
  }
  return false;
}

TEST(ToGrpc, EveryErrorHasAnErrorInfo) {
  const grpc::Status status = ToGrpc(absl::NotFoundError("nothing"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "nothing");
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(Find(status, &info));
  EXPECT_EQ(info.reason(), "NOT_FOUND");
  EXPECT_EQ(info.domain(), "tritond");
}

TEST(ToGrpc, OkHasNoDetails) {
  EXPECT_TRUE(ToGrpc(absl::OkStatus()).ok());
  EXPECT_EQ(ToGrpc(absl::OkStatus()).error_details(), "");
}

TEST(ToGrpc, DetailsReachTheCaller) {
  const grpc::Status status = ToGrpc(InvalidRequest({{"options.num_warps", "must be 4"}, {"ir", "is empty"}}));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "options.num_warps must be 4; ir is empty");
  google::rpc::BadRequest bad;
  ASSERT_TRUE(Find(status, &bad));
  ASSERT_EQ(bad.field_violations_size(), 2);
  EXPECT_EQ(bad.field_violations(1).field(), "ir");
}

}  // namespace
}  // namespace tritond::server
