// SPDX-License-Identifier: Apache-2.0
#include "client/cc/retry.h"

#include <gtest/gtest.h>

#include "absl/strings/cord.h"
#include "google/rpc/error_details.pb.h"
#include "proto/v1/compile.pb.h"

namespace tritond::client {
namespace {

absl::Status WithRetryInfo(absl::Status status, int seconds) {
  google::rpc::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(seconds);
  status.SetPayload("type.googleapis.com/google.rpc.RetryInfo",
                    absl::Cord(absl::string_view(info.SerializeAsString())));
  return status;
}

absl::Status WithReason(absl::Status status, const std::string& reason) {
  google::rpc::ErrorInfo info;
  info.set_reason(reason);
  status.SetPayload("type.googleapis.com/google.rpc.ErrorInfo",
                    absl::Cord(absl::string_view(info.SerializeAsString())));
  return status;
}

TEST(RetryDelay, DoublesFromTheFirstDelayUpToTheLargest) {
  const RetryPolicy policy{/*max_attempts=*/20, absl::Milliseconds(100), absl::Seconds(1)};
  const absl::Status lost = absl::UnavailableError("lost");
  EXPECT_EQ(RetryDelay(policy, lost, 1, 0.0), absl::Milliseconds(50));
  EXPECT_EQ(RetryDelay(policy, lost, 2, 0.0), absl::Milliseconds(100));
  EXPECT_EQ(RetryDelay(policy, lost, 3, 0.5), absl::Milliseconds(300));
  EXPECT_EQ(RetryDelay(policy, lost, 19, 0.0), absl::Milliseconds(500));
}

TEST(RetryDelay, StopsWhenTheAttemptsAreSpent) {
  const RetryPolicy policy{/*max_attempts=*/2};
  EXPECT_NE(RetryDelay(policy, absl::UnavailableError("lost"), 1, 0), absl::nullopt);
  EXPECT_EQ(RetryDelay(policy, absl::UnavailableError("lost"), 2, 0), absl::nullopt);
}

TEST(RetryDelay, NeverRepeatsWhatTheUserGotWrong) {
  EXPECT_EQ(RetryDelay({}, absl::InvalidArgumentError("bad"), 1, 0), absl::nullopt);
  EXPECT_EQ(RetryDelay({}, absl::DeadlineExceededError("late"), 1, 0), absl::nullopt);
}

TEST(RetryDelay, AServerThatHasWaitedForAWorkerIsNotAskedAgain) {
  const absl::Status no_worker = WithReason(WithRetryInfo(absl::UnavailableError("no worker"), 5), "NO_WORKER");
  EXPECT_EQ(RetryDelay({}, no_worker, 1, 0), absl::nullopt);
  EXPECT_NE(RetryDelay({}, WithReason(absl::UnavailableError("ends"), "DRAINING"), 1, 0), absl::nullopt);
}

TEST(RetryDelay, ACallDroppedByAnEndingServerIsTriedAgain) {
  EXPECT_NE(RetryDelay({}, absl::CancelledError("CANCELLED"), 1, 0), absl::nullopt);
  absl::Status answered = absl::CancelledError("the job was cancelled");
  google::rpc::ErrorInfo info;
  info.set_reason("CANCELLED");
  answered.SetPayload("type.googleapis.com/google.rpc.ErrorInfo",
                      absl::Cord(absl::string_view(info.SerializeAsString())));
  EXPECT_EQ(RetryDelay({}, answered, 1, 0), absl::nullopt);
}

TEST(DroppedByServer, IsWhatTheServersEndGaveUpAndNoAnswerOfIts) {
  EXPECT_TRUE(DroppedByServer(absl::UnavailableError("nothing listens")));
  EXPECT_TRUE(DroppedByServer(absl::CancelledError("CANCELLED")));
  EXPECT_FALSE(DroppedByServer(WithRetryInfo(absl::ResourceExhaustedError("queue full"), 1)));
  EXPECT_FALSE(DroppedByServer(absl::DeadlineExceededError("late")));
  EXPECT_FALSE(DroppedByServer(absl::OkStatus()));
}

TEST(AnotherMayHelp, SaysWhatOneDaemonLacksAndNotWhatTheKernelDoes) {
  EXPECT_TRUE(AnotherMayHelp(WithReason(absl::InvalidArgumentError("unknown"), "UNKNOWN_TARGET")));
  EXPECT_TRUE(AnotherMayHelp(WithReason(absl::FailedPreconditionError("no ptxas"), "BINARY_UNAVAILABLE")));
  EXPECT_TRUE(AnotherMayHelp(WithReason(absl::UnavailableError("no worker"), "NO_WORKER")));
  EXPECT_FALSE(AnotherMayHelp(WithReason(absl::InvalidArgumentError("bad IR"), "COMPILE_FAILED")));
  EXPECT_FALSE(AnotherMayHelp(WithReason(absl::FailedPreconditionError("killed two"), "QUARANTINED")));
  EXPECT_FALSE(AnotherMayHelp(absl::NotFoundError("not stored")));
}

TEST(IsForeign, IsWhatAProxyAnswersAndNoErrorOfTheServiceOrOfThisSide) {
  for (const auto code : {absl::StatusCode::kUnimplemented, absl::StatusCode::kUnauthenticated,
                          absl::StatusCode::kPermissionDenied, absl::StatusCode::kUnknown}) {
    EXPECT_TRUE(IsForeign(absl::Status(code, "Received http2 header with status: 404")));
    EXPECT_FALSE(IsForeign(WithReason(absl::Status(code, "said by the service"), "ANY")));
  }
  EXPECT_TRUE(IsForeign(absl::InternalError("Received http2 header with status: 400")));
  EXPECT_FALSE(IsForeign(absl::InternalError("out.cubin: cannot be written")));
  EXPECT_FALSE(IsForeign(absl::UnavailableError("lost")));
}

TEST(IsAboutTheKernel, IsWhatWouldFailEverywhere) {
  EXPECT_TRUE(IsAboutTheKernel(WithReason(absl::InvalidArgumentError("bad IR"), "COMPILE_FAILED")));
  EXPECT_FALSE(IsAboutTheKernel(WithReason(absl::InvalidArgumentError("unknown"), "UNKNOWN_TARGET")));
  absl::Status large = absl::ResourceExhaustedError("too much shared memory");
  EXPECT_FALSE(IsAboutTheKernel(large));
  large.SetPayload("type.googleapis.com/tritond.v1.CompileFailure",
                   absl::Cord(absl::string_view(v1::CompileFailure().SerializeAsString())));
  EXPECT_TRUE(IsAboutTheKernel(large));
  EXPECT_FALSE(IsAboutTheKernel(WithReason(absl::UnimplementedError("no such op here"), "COMPILE_FAILED")));
}

TEST(RetryDelay, AFullQueueIsTriedAgainWhenTheServerSaysWhen) {
  const absl::Status full = absl::ResourceExhaustedError("queue full");
  EXPECT_EQ(RetryDelay({}, full, 1, 0), absl::nullopt);
  EXPECT_EQ(RetryDelay({}, WithRetryInfo(full, 8), 1, 0.0), absl::Seconds(8));
  EXPECT_EQ(RetryDelay({}, WithRetryInfo(full, 8), 1, 0.5), absl::Seconds(10));
}

}  // namespace
}  // namespace tritond::client
