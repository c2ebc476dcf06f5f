// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "tests/support/daemon_fixture.h"

namespace tritond::tests {
namespace {

class BatchTest : public DaemonTest {};

TEST_F(BatchTest, EachRequestGetsItsOwnAnswer) {
  Start();
  v1::CompileBatchRequest batch;
  for (int i = 0; i < 200; ++i) {
    *batch.add_requests() =
        Request(i % 10 == 3 ? absl::StrCat("error invalid number ", i, "\n") : absl::StrCat("module ", i));
  }
  SetOption(batch.mutable_requests(7), "num_warps", 5);
  grpc::ClientContext context;
  auto reader = compile->CompileBatch(&context, batch);
  std::set<uint32_t> succeeded, failed;
  v1::CompileBatchResponse response;
  while (reader->Read(&response)) {
    if (response.has_failure()) {
      EXPECT_EQ(response.failure().code(), static_cast<int>(grpc::StatusCode::INVALID_ARGUMENT));
      failed.insert(response.index());
    } else {
      EXPECT_EQ(response.response().blobs_size(), 1);
      succeeded.insert(response.index());
    }
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(failed.size(), 21u);
  EXPECT_EQ(succeeded.size(), 179u);
  EXPECT_EQ(failed.count(7), 1u);
}

TEST_F(BatchTest, ABatchOfHitsAndAnEmptyBatchEnd) {
  Start();
  v1::CompileResponse compiled;
  ASSERT_TRUE(Compile(Request(), &compiled).ok());
  for (int size : {0, 1, 500}) {
    v1::CompileBatchRequest batch;
    for (int i = 0; i < size; ++i) *batch.add_requests() = Request();
    grpc::ClientContext context;
    auto reader = compile->CompileBatch(&context, batch);
    v1::CompileBatchResponse response;
    int hits = 0;
    while (reader->Read(&response)) hits += response.response().cache() == v1::CACHE_STATUS_HIT;
    EXPECT_TRUE(reader->Finish().ok());
    EXPECT_EQ(hits, size);
  }
  EXPECT_EQ(Stats().compiles(), 1u);
}

TEST_F(BatchTest, CancellingABatchFreesItsJobs) {
  config.workers = 1;
  Start();
  v1::CompileBatchRequest batch;
  for (int i = 0; i < 100; ++i) {
    *batch.add_requests() = Request(absl::StrCat("module ", i));
    SetOption(batch.mutable_requests(i), "wait_for_file", Path("never"));
  }
  grpc::ClientContext context;
  auto reader = compile->CompileBatch(&context, batch);
  Await([&] { return Stats().queues(0).queued() > 10; });
  context.TryCancel();
  v1::CompileBatchResponse response;
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  Await([&] { return Stats().queues(0).queued() == 0; });
  v1::CompileResponse compiled;
  EXPECT_TRUE(Compile(Request(), &compiled).ok());
}

}  // namespace
}  // namespace tritond::tests
