// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/response.h"

#include <vector>

#include "google/protobuf/util/time_util.h"

namespace tritond::server {
namespace {

// Larger pieces are referred to instead of copied.
constexpr size_t kCopyBytes = 4096;

constexpr int kVarint = 0;
constexpr int kLengthDelimited = 2;

void AppendVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

size_t VarintSize(uint64_t value) {
  size_t size = 1;
  while (value >>= 7) ++size;
  return size;
}

void AppendHeader(int field, size_t size, std::string* out) {
  AppendVarint(field << 3 | kLengthDelimited, out);
  AppendVarint(size, out);
}

void AppendField(int field, absl::string_view bytes, std::string* out) {
  AppendHeader(field, bytes.size(), out);
  out->append(bytes.data(), bytes.size());
}

// Collects pieces of a message: small ones are copied together, large ones kept as views of their blob.
class Pieces {
 public:
  std::string* text() { return &text_; }
  void Add(const cache::Blob& blob) {
    if (blob.size() <= kCopyBytes) {
      text_.append(blob.data(), blob.size());
      return;
    }
    Flush();
    auto* keep_alive = new cache::Blob(blob);  // Deleted by gRPC when the slice is sent.
    slices_.emplace_back(
        const_cast<char*>(keep_alive->data()), keep_alive->size(),
        [](void* kept) { delete static_cast<cache::Blob*>(kept); }, keep_alive);
  }
  grpc::ByteBuffer Take() {
    Flush();
    return grpc::ByteBuffer(slices_.data(), slices_.size());
  }

 private:
  void Flush() {
    if (!text_.empty()) slices_.emplace_back(text_);
    text_.clear();
  }
  std::string text_;
  std::vector<grpc::Slice> slices_;
};

}  // namespace

grpc::ByteBuffer EncodeResponse(const CompileAnswer& answer, v1::Delivery delivery, uint64_t inline_bytes) {
  Pieces pieces;
  AppendField(v1::CompileResponse::kKeyFieldNumber, answer.key, pieces.text());
  AppendVarint(v1::CompileResponse::kCacheFieldNumber << 3 | kVarint, pieces.text());
  AppendVarint(answer.cache, pieces.text());
  if (answer.queue_time > absl::ZeroDuration()) {
    const auto duration =
        google::protobuf::util::TimeUtil::NanosecondsToDuration(absl::ToInt64Nanoseconds(answer.queue_time));
    AppendField(v1::CompileResponse::kQueueTimeFieldNumber, duration.SerializeAsString(), pieces.text());
  }
  if (!answer.job.empty()) AppendField(v1::CompileResponse::kJobFieldNumber, answer.job, pieces.text());
  AppendHeader(v1::CompileResponse::kResultFieldNumber, answer.result->serialized.size(), pieces.text());
  pieces.Add(answer.result->serialized);
  for (int i : InlinedArtifacts(answer, delivery, inline_bytes)) {
    const std::string& digest = answer.result->action.artifacts(i).digest();
    const cache::Blob& blob = answer.result->artifacts[i];
    const size_t size = 1 + VarintSize(digest.size()) + digest.size() + 1 + VarintSize(blob.size()) + blob.size();
    AppendHeader(v1::CompileResponse::kBlobsFieldNumber, size, pieces.text());
    AppendField(v1::Blob::kDigestFieldNumber, digest, pieces.text());
    AppendHeader(v1::Blob::kDataFieldNumber, blob.size(), pieces.text());
    pieces.Add(blob);
  }
  return pieces.Take();
}

}  // namespace tritond::server
