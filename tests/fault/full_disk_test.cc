// SPDX-License-Identifier: Apache-2.0
// A disk that is full, and then is not any more.
#include <gtest/gtest.h>
#include <httplib.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/fault/daemon_process.h"

namespace tritond::tests {
namespace {

// The value of a metric without labels; -1 when it is not there.
double Metric(int http_port, const std::string& name) {
  const auto page = httplib::Client("127.0.0.1", http_port).Get("/metrics");
  if (!page) return -1;
  const size_t at = page->body.find("\n" + name + " ");
  double value = -1;
  if (at == std::string::npos) return value;
  const size_t begin = at + name.size() + 2;
  static_cast<void>(absl::SimpleAtod(page->body.substr(begin, page->body.find('\n', begin) - begin), &value));
  return value;
}

TEST(FullDisk, CompilesGoOnWithoutBeingKeptUntilThereIsSpaceAgain) {
  const int http_port = FreePort();
  DaemonProcess daemon;
  daemon.http_port = http_port;
  daemon.memory_cache_mb = 0;
  daemon.preload = TRITOND_FULL_DISK;
  ASSERT_TRUE(daemon.Start());
  Stubs stubs(daemon.address());
  uint64_t next = 0;
  const auto compile = [&](uint64_t number) {
    const v1::CompileRequest request = NumberedRequest(number, number % 2 == 0 ? 200000 : 0);
    v1::CompileResponse response;
    const grpc::Status status = Compile(stubs, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(WrongWith(request, response), "");
    return response.cache() == v1::CACHE_STATUS_HIT;
  };
  for (; next < 10; ++next) EXPECT_FALSE(compile(next));
  EXPECT_EQ(Metric(http_port, "tritond_store_failures_total"), 0);

  std::ofstream(daemon.folder() + "/FULL").close();
  for (const uint64_t end = next + 10; next < end; ++next) EXPECT_FALSE(compile(next));
  EXPECT_GT(Metric(http_port, "tritond_store_failures_total"), 0);
  for (uint64_t number = 0; number < 10; ++number) EXPECT_TRUE(compile(number)) << "what was kept is still a hit";

  std::filesystem::remove(daemon.folder() + "/FULL");
  // RocksDB looks for space every few seconds.
  ASSERT_TRUE(Await([&] {
    compile(++next);
    return compile(next);
  })) << daemon.Log();
  EXPECT_EQ(daemon.Terminate(), 0);
  ASSERT_TRUE(daemon.Start());
  EXPECT_TRUE(compile(next));
  for (uint64_t number = 0; number < 10; ++number) EXPECT_TRUE(compile(number));
}

TEST(FullDisk, ASubmittedJobIsRefusedRatherThanPromised) {
  DaemonProcess daemon;
  daemon.preload = TRITOND_FULL_DISK;
  ASSERT_TRUE(daemon.Start());
  Stubs stubs(daemon.address());
  const auto submit = [&](uint64_t number) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(10)));
    v1::SubmitRequest request;
    *request.mutable_request() = NumberedRequest(number);
    v1::Job job;
    return stubs.compile->Submit(&context, request, &job).error_code();
  };
  EXPECT_EQ(submit(1), grpc::StatusCode::OK);
  std::ofstream(daemon.folder() + "/FULL").close();
  EXPECT_EQ(submit(2), grpc::StatusCode::RESOURCE_EXHAUSTED) << daemon.Log();
  std::filesystem::remove(daemon.folder() + "/FULL");
  uint64_t number = 3;
  EXPECT_TRUE(Await([&] { return submit(number++) == grpc::StatusCode::OK; }));
}

}  // namespace
}  // namespace tritond::tests
