// SPDX-License-Identifier: Apache-2.0
// A request is prepared once: its text is read and hashed when it comes, and what is made of it goes with it.
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/support/daemon_fixture.h"
#include "tests/support/work_counter.h"

namespace tritond::tests {
namespace {

class RequestCostTest : public DaemonTest {
 protected:
  // A request whose text nobody else has.
  static v1::CompileRequest Marked(const std::string& marker) {
    return Request(absl::StrCat("module {\n  // ", marker, "\n  ", marker, "\n", std::string(2000, ' '), "}\n"));
  }
  // Stops the daemon, so that all that it does for what it has answered is counted.
  WorkCounts Finish() {
    Stop();
    return WorkDone();
  }
  std::string Submit(const v1::CompileRequest& request) {
    v1::SubmitRequest submit;
    *submit.mutable_request() = request;
    v1::Job job;
    grpc::ClientContext context;
    EXPECT_TRUE(compile->Submit(&context, submit, &job).ok());
    return job.id();
  }
  void AwaitEnd(const std::string& id) {
    grpc::ClientContext context;
    v1::WatchRequest request;
    request.set_id(id);
    auto stream = compile->Watch(&context, request);
    v1::Job job;
    while (stream->Read(&job)) {
    }
    EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED);
  }
};

TEST_F(RequestCostTest, AHitReadsAndHashesTheTextOnce) {
  Start();
  v1::CompileResponse response;
  ASSERT_TRUE(Compile(Marked("kernel_of_hit"), &response).ok());
  CountWork("kernel_of_hit");
  ASSERT_TRUE(Compile(Marked("kernel_of_hit"), &response).ok());
  EXPECT_EQ(response.cache(), v1::CACHE_STATUS_HIT);
  const WorkCounts counts = Finish();
  EXPECT_EQ(counts.texts_read, 1);
  EXPECT_EQ(counts.texts_hashed, 1);
  EXPECT_EQ(counts.binaries_hashed, 0);
}

TEST_F(RequestCostTest, AMissReadsTheTextOnceAndHashesEachArtifactOnce) {
  Start();
  CountWork("kernel_of_miss");
  v1::CompileResponse response;
  ASSERT_TRUE(Compile(Marked("kernel_of_miss"), &response).ok());
  EXPECT_EQ(response.cache(), v1::CACHE_STATUS_MISS);
  const WorkCounts counts = Finish();
  EXPECT_EQ(counts.texts_read, 1);
  EXPECT_EQ(counts.texts_hashed, 2) << "for the key, and for the name of the stored request";
  EXPECT_EQ(counts.binaries_hashed, 1);
  EXPECT_EQ(counts.steps_hashed, 1);
}

TEST_F(RequestCostTest, ASubmittedJobReadsTheTextOnce) {
  Start();
  CountWork("kernel_of_job");
  AwaitEnd(Submit(Marked("kernel_of_job")));
  const WorkCounts counts = Finish();
  EXPECT_EQ(counts.texts_read, 1);
  EXPECT_EQ(counts.texts_hashed, 3) << "for the key, when the journal gives it back, and for the stored request's name";
  EXPECT_EQ(counts.binaries_hashed, 1);
}

}  // namespace
}  // namespace tritond::tests
