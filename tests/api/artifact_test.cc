// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "proto/request_key/request_key.h"
#include "tests/support/daemon_fixture.h"

namespace tritond::tests {
namespace {

class ArtifactTest : public DaemonTest {
 protected:
  grpc::Status Fetch(const std::string& digest, uint64_t offset, uint64_t limit, std::string* bytes) {
    grpc::ClientContext context;
    v1::FetchRequest request;
    request.set_digest(digest);
    request.set_offset(offset);
    request.set_limit(limit);
    auto reader = artifacts->Fetch(&context, request);
    v1::FetchResponse response;
    while (reader->Read(&response)) {
      EXPECT_EQ(response.offset(), offset + bytes->size());
      if (bytes->empty()) total_ = response.total_size_bytes();
      EXPECT_LE(response.data().size(), size_t{1} << 20);
      bytes->append(response.data());
    }
    return reader->Finish();
  }
  uint64_t total_ = 0;
};

TEST_F(ArtifactTest, ALargeArtifactIsNotInlinedButFetched) {
  Start();
  v1::CompileRequest request = Request();
  SetOption(&request, "artifact_bytes", 5 << 20);
  v1::CompileResponse response, hit;
  ASSERT_TRUE(Compile(request, &response).ok());
  ASSERT_TRUE(Compile(request, &hit).ok());
  EXPECT_EQ(hit.cache(), v1::CACHE_STATUS_HIT);
  EXPECT_EQ(response.blobs_size(), 0);
  EXPECT_EQ(hit.blobs_size(), 0);
  const v1::Artifact& artifact = response.result().artifacts(0);
  EXPECT_EQ(artifact.size_bytes(), uint64_t{5} << 20);
  std::string bytes;
  ASSERT_TRUE(Fetch(artifact.digest(), 0, 0, &bytes).ok());
  EXPECT_EQ(total_, artifact.size_bytes());
  EXPECT_EQ(proto::Sha256Hex(bytes), artifact.digest());
}

TEST_F(ArtifactTest, TheFirstCallerCanFetchAResultThatIsLargerThanTheLimit) {
  config.max_stored_mb = 1;
  Start();
  v1::CompileRequest request = Request();
  SetOption(&request, "artifact_bytes", 5 << 20);
  v1::CompileResponse response, next;
  ASSERT_TRUE(Compile(request, &response).ok());
  const std::string digest = response.result().artifacts(0).digest();
  const server::ResultIndex& index = daemon().broker().store().index();
  Await([&] { return index.size() == 3; });  // Its steps are kept after the answer.
  std::string bytes;
  ASSERT_TRUE(Fetch(digest, 0, 0, &bytes).ok());
  EXPECT_EQ(proto::Sha256Hex(bytes), digest);
  ASSERT_TRUE(Compile(Request("module {} next"), &next).ok());
  Await([&] { return index.size_bytes() < (1 << 20); });
  EXPECT_EQ(Fetch(digest, 0, 0, &bytes).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ArtifactTest, ABrokenFetchResumesAtItsOffset) {
  Start();
  v1::CompileResponse response;
  ASSERT_TRUE(Compile(Request(), &response).ok());
  const v1::Blob& blob = response.blobs(0);
  std::string head, tail;
  ASSERT_TRUE(Fetch(blob.digest(), 0, 10, &head).ok());
  EXPECT_EQ(head, blob.data().substr(0, 10));
  ASSERT_TRUE(Fetch(blob.digest(), 10, 0, &tail).ok());
  EXPECT_EQ(head + tail, blob.data());
  std::string none;
  EXPECT_TRUE(Fetch(blob.digest(), blob.data().size(), 0, &none).ok());
  EXPECT_EQ(Fetch(blob.digest(), blob.data().size() + 1, 0, &none).error_code(), grpc::StatusCode::OUT_OF_RANGE);
  EXPECT_EQ(Fetch(std::string(64, '1'), 0, 0, &none).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Fetch("nonsense", 0, 0, &none).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(none, "");
}

TEST_F(ArtifactTest, FindMissingNamesWhatIsNotThere) {
  Start();
  v1::CompileResponse compiled;
  ASSERT_TRUE(Compile(Request(), &compiled).ok());
  v1::FindMissingRequest request;
  request.add_digests(std::string(64, '1'));
  request.add_digests(compiled.blobs(0).digest());
  request.add_digests(std::string(64, '2'));
  v1::FindMissingResponse response;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(artifacts->FindMissing(&context, request, &response).ok());
  }
  EXPECT_THAT(response.missing(), testing::ElementsAre(std::string(64, '1'), std::string(64, '2')));
  request.add_digests("nonsense");
  grpc::ClientContext context;
  const grpc::Status status = artifacts->FindMissing(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf<google::rpc::BadRequest>(status)->field_violations(0).field(), "digests[3]");
}

TEST_F(ArtifactTest, DigestsAloneAreSentWhenAskedFor) {
  Start();
  v1::CompileRequest request = Request();
  request.set_delivery(v1::DELIVERY_DIGESTS);
  v1::CompileResponse response;
  ASSERT_TRUE(Compile(request, &response).ok());
  EXPECT_EQ(response.blobs_size(), 0);
  EXPECT_EQ(response.result().artifacts_size(), 1);
}

}  // namespace
}  // namespace tritond::tests
