// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;

class FetchReactor final : public grpc::ServerWriteReactor<v1::FetchResponse> {
 public:
  // `blob` is the part to send, which begins at `offset` of `total` bytes. Sends at least one message.
  FetchReactor(cache::Blob blob, uint64_t offset, uint64_t total) : blob_(std::move(blob)), offset_(offset) {
    chunk_.set_total_size_bytes(total);
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
  void Next() {
    const cache::Blob piece = blob_.Slice(sent_, kChunkBytes);
    chunk_.set_offset(offset_ + sent_);
    chunk_.set_data(piece.data(), piece.size());
    sent_ += piece.size();
    StartWrite(&chunk_);
  }

  const cache::Blob blob_;
  const uint64_t offset_;
  size_t sent_ = 0;
  v1::FetchResponse chunk_;
};

}  // namespace

grpc::ServerWriteReactor<v1::FetchResponse>* Fetch(Engine& engine, grpc::CallbackServerContext* context,
                                                   const v1::FetchRequest* request) {
  auto fail = [](const absl::Status& status) { return new FailedWriter<v1::FetchResponse>(status); };
  absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(request->digest());
  if (!digest.ok()) return fail(InvalidRequest({{"digest", "must be 64 hexadecimal digits"}}));
  absl::StatusOr<cache::Blob> blob = engine.blobs().Get(*digest);
  if (absl::IsNotFound(blob.status())) {
    return fail(absl::NotFoundError(absl::StrCat("no artifact ", request->digest(), " is stored")));
  }
  if (!blob.ok()) return fail(blob.status());
  if (request->offset() > blob->size()) {
    return fail(absl::OutOfRangeError(absl::StrCat("the artifact has only ", blob->size(), " bytes")));
  }
  const uint64_t rest = blob->size() - request->offset();
  const uint64_t count = request->limit() == 0 ? rest : std::min<uint64_t>(request->limit(), rest);
  return new FetchReactor(blob->Slice(request->offset(), count), request->offset(), blob->size());
}

}  // namespace tritond::server
