// SPDX-License-Identifier: Apache-2.0
#include "client/cc/status.h"

#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace tritond::client {
namespace {

TEST(Status, KeepsCodeMessageAndDetails) {
  google::rpc::Status rich;
  v1::CompileFailure failure;
  failure.set_key("k");
  rich.add_details()->PackFrom(failure);
  const absl::Status status =
      FromGrpc(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "bad IR", rich.SerializeAsString()));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "bad IR");
  ASSERT_TRUE(Detail<v1::CompileFailure>(status));
  EXPECT_EQ(Detail<v1::CompileFailure>(status)->key(), "k");
  EXPECT_FALSE(Detail<v1::CrashReport>(status));
}

TEST(Status, IgnoresDetailsThatCannotBeParsed) {
  const absl::Status status = FromGrpc(grpc::Status(grpc::StatusCode::INTERNAL, "broken", "\xff\xff"));
  EXPECT_EQ(status, absl::InternalError("broken"));
}

TEST(Status, AMessageTooLargeForGrpcIsReportedWithItsLimitAndItsFlag) {
  const auto text = [](const char* message) {
    return std::string(FromGrpc(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, message)).message());
  };
  EXPECT_EQ(text("Received message larger than max (3145761 vs. 2097152)"),
            "a message of 3145761 bytes is larger than the 2097152 that its receiver takes (--max-message-mb of the "
            "server)");
  EXPECT_NE(text("received initial metadata size exceeds limit").find("--token-file"), std::string::npos);
  EXPECT_EQ(text("no memory (1 vs. 2)"), "no memory (1 vs. 2)");
}

TEST(Status, ACallThatWasCutOffForWantOfMemoryMayBeRepeated) {
  const absl::Status status =
      FromGrpc(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "Received RST_STREAM with error code 11"));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("--max-incoming-mb"), std::string::npos);
}

TEST(Status, AFailureOfABatchItemReadsLikeAnRpcError) {
  v1::Failure failure;
  failure.set_code(3);
  failure.set_message("no such target");
  EXPECT_EQ(FromFailure(failure), absl::InvalidArgumentError("no such target"));
}

TEST(WhyUnavailable, TellsARefusalFromAClosedDoorAndFromTls) {
  const std::string prefix = "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: ";
  EXPECT_EQ(WhyUnavailable(prefix + "Failed to connect to remote host: Connection refused", false),
            "nothing listens there (connection refused)");
  EXPECT_NE(WhyUnavailable(prefix + "Permission denied", false).find("permission denied"), std::string::npos);
  EXPECT_NE(WhyUnavailable(prefix + "Ssl handshake failed: SSL_ERROR_SSL: certificate verify failed", true)
                .find("does not verify"),
            std::string::npos);
  EXPECT_NE(WhyUnavailable(prefix + "Socket closed", false).find("does it want TLS"), std::string::npos);
  for (const char* message : {"Trying to connect an http1.x server", "Failed parsing HTTP/2"})
    EXPECT_NE(WhyUnavailable(prefix + message, false).find("port 7433"), std::string::npos) << message;
  EXPECT_EQ(WhyUnavailable("connections fail; last error: something new", false), "something new");
}

TEST(ErrorText, NamesTheFieldsOfABadRequestOnOneLine) {
  google::rpc::Status rich;
  google::rpc::BadRequest bad;
  auto* violation = bad.add_field_violations();
  violation->set_field("target");
  violation->set_description("unknown");
  rich.add_details()->PackFrom(bad);
  const grpc::Status status(grpc::StatusCode::INVALID_ARGUMENT, "bad\nrequest", rich.SerializeAsString());
  EXPECT_EQ(ErrorText(FromGrpc(status)), "bad | request; target: unknown");
}

}  // namespace
}  // namespace tritond::client
