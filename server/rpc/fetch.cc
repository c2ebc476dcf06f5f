// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/errors/parse_digest.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;

class FetchReactor final : public grpc::ServerWriteReactor<v1::FetchResponse> {
 public:
  // Sends the part of `blob` that the request wants, or the error; at least one message. Called once.
  void Begin(const v1::FetchRequest& request, const absl::StatusOr<cache::Blob>& blob) {
    if (absl::IsNotFound(blob.status()))
      return Fail(absl::NotFoundError(absl::StrCat("no artifact ", request.digest(), " is stored")));
    if (!blob.ok()) return Fail(blob.status());
    if (request.offset() > blob->size())
      return Fail(absl::OutOfRangeError(absl::StrCat("the artifact has only ", blob->size(), " bytes")));
    const uint64_t rest = blob->size() - request.offset();
    offset_ = request.offset();
    blob_ = blob->Slice(offset_, request.limit() == 0 ? rest : std::min<uint64_t>(request.limit(), rest));
    chunk_.set_total_size_bytes(blob->size());
    Next();
  }
  void OnWriteDone(bool ok) override {
    chunk_.Clear();
    if (!ok || sent_ == blob_.size()) {
      Finish(grpc::Status::OK);
    } else {
      Next();
    }
  }
  void OnDone() override { delete this; }

 private:
  void Fail(const absl::Status& status) { Finish(ToGrpc(status)); }
  void Next() {
    const cache::Blob piece = blob_.Slice(sent_, kChunkBytes);
    chunk_.set_offset(offset_ + sent_);
    chunk_.set_data(piece.data(), piece.size());
    sent_ += piece.size();
    StartWrite(&chunk_);
  }

  cache::Blob blob_;
  uint64_t offset_ = 0;
  size_t sent_ = 0;
  v1::FetchResponse chunk_;
};

}  // namespace

grpc::ServerWriteReactor<v1::FetchResponse>* Fetch(CompileBroker& broker, grpc::CallbackServerContext* context,
                                                   const v1::FetchRequest* request) {
  absl::StatusOr<cache::Digest> digest = ParseDigest("digest", request->digest());
  if (!digest.ok()) return new FailedWriter<v1::FetchResponse>(digest.status());
  auto* reactor = new FetchReactor;  // Deletes itself.
  absl::StatusOr<cache::Blob> own = broker.own_blobs().Get(*digest);
  if (absl::IsNotFound(own.status()) || absl::IsDataLoss(own.status()))
    broker.store().OnLostArtifact(request->digest());
  if (own.ok() || broker.cluster() == nullptr) {
    reactor->Begin(*request, own);
  } else {
    broker.RunBlocking(
        [&broker, reactor, request, digest = *digest] { reactor->Begin(*request, broker.blobs().Get(digest)); });
  }
  return reactor;
}

}  // namespace tritond::server
