// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/response.h"

#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

namespace tritond::server {
namespace {

CompileAnswer Answer(size_t artifact_bytes) {
  auto result = std::make_shared<StoredResult>();
  for (int i = 0; i < 2; ++i) {
    v1::Artifact& artifact = *result->action.add_artifacts();
    artifact.set_kind(i == 0 ? v1::STAGE_ASM : v1::STAGE_BINARY);
    artifact.set_digest(std::string(64, 'a' + i));
    artifact.set_size_bytes(artifact_bytes);
    result->artifacts.emplace_back(std::string(artifact_bytes, 'x' + i));
  }
  result->action.set_metadata_json("{\"num_warps\":4}");
  result->serialized = cache::Blob(result->action.SerializeAsString());
  CompileAnswer answer;
  answer.key = std::string(64, 'f');
  answer.cache = v1::CACHE_STATUS_MISS;
  answer.result = result;
  answer.queue_time = absl::Milliseconds(1500);
  return answer;
}

v1::CompileResponse Decode(grpc::ByteBuffer bytes) {
  grpc::Slice slice;
  EXPECT_TRUE(bytes.DumpToSingleSlice(&slice).ok());
  v1::CompileResponse response;
  EXPECT_TRUE(response.ParseFromArray(slice.begin(), static_cast<int>(slice.size())));
  return response;
}

TEST(EncodeResponse, GivesTheSameBytesAsTheMessageAtEverySize) {
  for (size_t size : {0, 1, 100, 127, 128, 4096, 4097, 20000, 1000000}) {
    const CompileAnswer answer = Answer(size);
    const v1::CompileResponse decoded = Decode(EncodeResponse(answer, v1::DELIVERY_INLINE, 3 << 20));
    EXPECT_TRUE(
        google::protobuf::util::MessageDifferencer::Equals(decoded, ToMessage(answer, v1::DELIVERY_INLINE, 3 << 20)));
    ASSERT_EQ(decoded.blobs_size(), 2);
    EXPECT_EQ(decoded.blobs(1).data(), std::string(size, 'y'));
    EXPECT_EQ(decoded.queue_time().seconds(), 1);
  }
}

TEST(EncodeResponse, LeavesOutWhatDoesNotFitIntoOneMessage) {
  const v1::CompileResponse decoded = Decode(EncodeResponse(Answer(1000), v1::DELIVERY_INLINE, 1500));
  ASSERT_EQ(decoded.blobs_size(), 1);
  EXPECT_EQ(decoded.result().artifacts_size(), 2);
}

TEST(EncodeResponse, SendsNoBytesToThoseWhoWantDigests) {
  EXPECT_EQ(Decode(EncodeResponse(Answer(10), v1::DELIVERY_DIGESTS, 3 << 20)).blobs_size(), 0);
}

TEST(EncodeResponse, LeavesOutWhatWasNotLoaded) {
  CompileAnswer answer = Answer(1000);
  auto copy = std::make_shared<StoredResult>(*answer.result);
  copy->artifacts[0] = cache::Blob();
  answer.result = copy;
  const v1::CompileResponse decoded = Decode(EncodeResponse(answer, v1::DELIVERY_INLINE, 3 << 20));
  ASSERT_EQ(decoded.blobs_size(), 1);
  EXPECT_EQ(decoded.blobs(0).digest(), decoded.result().artifacts(1).digest());
}

}  // namespace
}  // namespace tritond::server
