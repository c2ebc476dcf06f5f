// SPDX-License-Identifier: Apache-2.0
// Compressed messages are refused unread, whatever method they are for and whoever sends them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/fault/daemon_process.h"
#include "tests/support/raw_connection.h"
#include "tests/support/sanitizer.h"

namespace tritond::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kUnimplemented[] =
    "grpc-status\x02"
    "12";

// Packed it fits into a stream's first window, so that it is there before the other end says anything.
constexpr int kBombMegabytes = 56;

constexpr const char* kMethods[] = {"/tritond.v1.CompileService/Describe",
                                    "/tritond.v1.CompileService/Compile",
                                    "/tritond.v1.CompileService/Lookup",
                                    "/tritond.v1.CompileService/CompileBatch",
                                    "/tritond.v1.CompileService/Submit",
                                    "/tritond.v1.CompileService/Watch",
                                    "/tritond.v1.CompileService/GetJob",
                                    "/tritond.v1.CompileService/ListJobs",
                                    "/tritond.v1.CompileService/Cancel",
                                    "/tritond.v1.ArtifactService/FindKeys",
                                    "/tritond.v1.ArtifactService/FindMissing",
                                    "/tritond.v1.ArtifactService/Fetch",
                                    "/tritond.v1.ArtifactService/Export",
                                    "/tritond.v1.ArtifactService/Import",
                                    "/tritond.v1.AutotuneService/Autotune",
                                    "/tritond.v1.AutotuneService/GetTuning",
                                    "/tritond.v1.AdminService/ListWorkers",
                                    "/tritond.v1.AdminService/GetStats",
                                    "/tritond.v1.AdminService/Evict",
                                    "/tritond.v1.AdminService/Explain",
                                    "/tritond.v1.WorkerService/Attach",
                                    "/grpc.health.v1.Health/Check",
                                    "/grpc.health.v1.Health/Watch",
                                    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"};

// `megabytes` of zeros: as gzip, or as zlib's format, which gRPC calls deflate.
std::string Bomb(int megabytes, bool gzip) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip ? 15 + 16 : 15, 9, Z_DEFAULT_STRATEGY);
  std::string zeros(1 << 20, '\0'), packed, buffer(1 << 20, '\0');
  for (int i = 0; i <= megabytes; ++i) {
    stream.next_in = reinterpret_cast<Bytef*>(zeros.data());
    stream.avail_in = i < megabytes ? static_cast<uInt>(zeros.size()) : 0;
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream.avail_out = static_cast<uInt>(buffer.size());
      deflate(&stream, i < megabytes ? Z_NO_FLUSH : Z_FINISH);
      packed.append(buffer, 0, buffer.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  }
  deflateEnd(&stream);
  return packed;
}

// The most that has been resident so far, in MiB.
uint64_t PeakOf(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;) {
    uint64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes >> 10;
  }
  return 0;
}

class CompressionTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(daemon.Start()); }
  // What comes back until the call's status has.
  std::string Call(const std::string& method, const std::string& message, const http2::Headers& headers) {
    RawConnection connection;
    EXPECT_TRUE(connection.Dial(daemon.port()));
    connection.Send(http2::Preface() + http2::Call(1, method, message, headers));
    return connection.ReadUntil("grpc-status", absl::ToDoubleSeconds(WithinReason(absl::Seconds(10))));
  }

  DaemonProcess daemon;
};

TEST_F(CompressionTest, EveryMethodRefusesItWithoutUnpacking) {
  const uint64_t before = PeakOf(daemon.pid());
  for (const char* encoding : {"gzip", "deflate"}) {
    const std::string bomb = http2::Message(Bomb(kBombMegabytes, encoding == std::string("gzip")), /*compressed=*/true);
    for (const char* method : kMethods) {
      EXPECT_THAT(Call(method, bomb, {{"grpc-encoding", encoding}}), HasSubstr(kUnimplemented))
          << method << ", " << encoding;
    }
  }
  EXPECT_LT(PeakOf(daemon.pid()), before + kBombMegabytes / 2);
}

TEST_F(CompressionTest, MessagesOfAMissingOrUnknownEncodingAreNotUnpacked) {
  const uint64_t before = PeakOf(daemon.pid());
  const std::string bomb = http2::Message(Bomb(kBombMegabytes, true), /*compressed=*/true);
  for (const http2::Headers& headers :
       {http2::Headers{}, http2::Headers{{"grpc-encoding", "identity"}}, http2::Headers{{"grpc-encoding", "br"}},
        http2::Headers{{"grpc-encoding", "stream/gzip"}}, http2::Headers{{"content-encoding", "gzip"}},
        http2::Headers{{"grpc-internal-stream-encoding-request", "gzip"}},
        http2::Headers{{"grpc-internal-encoding-request", "gzip"}}}) {
    const std::string answer = Call("/tritond.v1.CompileService/Compile", bomb, headers);
    EXPECT_THAT(answer, HasSubstr("grpc-status"));
    EXPECT_THAT(answer, Not(HasSubstr("grpc-status\x01"
                                      "0")));
  }
  EXPECT_LT(PeakOf(daemon.pid()), before + kBombMegabytes / 2);
}

TEST_F(CompressionTest, AClientThatCompressesReadsWhy) {
  Stubs stubs(daemon.address());
  for (const grpc_compression_algorithm algorithm : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    grpc::ClientContext context;
    context.set_compression_algorithm(algorithm);
    v1::CompileRequest request = NumberedRequest(1);
    request.set_ir(std::string(100000, ' ') + request.ir());
    v1::CompileResponse response;
    const grpc::Status status = stubs.compile->Compile(&context, request, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr("ompression"));
  }
  v1::CompileResponse response;
  EXPECT_TRUE(Compile(stubs, NumberedRequest(1), &response).ok());
}

}  // namespace
}  // namespace tritond::tests
