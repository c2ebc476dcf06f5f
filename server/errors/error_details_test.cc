// SPDX-License-Identifier: Apache-2.0
#include "server/errors/error_details.h"

#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"

namespace tritond::server {
namespace {

TEST(InvalidRequest, NamesEachField) {
  const absl::Status status = InvalidRequest({{"options.num_warps", "must be 4"}, {"ir", "is empty"}});
  EXPECT_EQ(status.message(), "options.num_warps must be 4; ir is empty");
  EXPECT_EQ(ReasonOf(status), Reason::kBadRequest);
  google::rpc::BadRequest bad;
  ASSERT_TRUE(ReadDetail(status, &bad));
  ASSERT_EQ(bad.field_violations_size(), 2);
  EXPECT_EQ(bad.field_violations(1).field(), "ir");
}

TEST(WithReason, ADelayIsReadAsItWasGiven) {
  const absl::Status status = WithReason(absl::UnavailableError("later"), Reason::kDraining, absl::Milliseconds(1500));
  EXPECT_EQ(ReasonOf(status), Reason::kDraining);
  EXPECT_EQ(RetryDelayOf(status), absl::Milliseconds(1500));
}

TEST(WithJob, KeepsTheFirstJob) {
  const absl::Status status = WithJob(WithJob(absl::InternalError("bad"), "first"), "second");
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(ReadDetail(status, &info));
  EXPECT_EQ(info.metadata().at("job"), "first");
}

TEST(ToFailure, CarriesTheSameDetails) {
  const v1::Failure failure = ToFailure(InvalidRequest({{"ir", "is empty"}}));
  EXPECT_EQ(failure.code(), 3);
  EXPECT_EQ(failure.details_size(), 2);
  EXPECT_EQ(ReasonOf(FromFailure(failure)), Reason::kBadRequest);
}

}  // namespace
}  // namespace tritond::server
