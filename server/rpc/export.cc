// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "server/bundle/bundle.h"
#include "server/errors/parse_digest.h"
#include "server/rpc/blocking_stream.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {
namespace {

using ChunkWriter = BlockingWriter<v1::BundleChunk>;

absl::Status AddBlob(CompileBroker& broker, const v1::Artifact& artifact, v1::BundleRecord* record) {
  absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(artifact.digest());
  if (!digest.ok()) return absl::NotFoundError(absl::StrCat("the request of ", record->key(), " was not stored"));
  absl::StatusOr<cache::Blob> bytes = broker.blobs().Get(*digest);
  if (!bytes.ok()) return bytes.status();
  v1::Blob& blob = *record->add_blobs();
  blob.set_digest(artifact.digest());
  blob.set_data(bytes->data(), bytes->size());
  return absl::OkStatus();
}

absl::StatusOr<v1::BundleRecord> RecordOf(CompileBroker& broker, const std::string& key) {
  absl::StatusOr<std::shared_ptr<const StoredResult>> result = broker.FindStored(key);
  if (!result.ok()) return result.status();
  v1::BundleRecord record;
  record.set_key(key);
  record.set_signed_result((*result)->record.data(), (*result)->record.size());
  const v1::ActionResult& action = (*result)->action;
  absl::Status status;
  for (const v1::Artifact& artifact : action.artifacts()) status.Update(AddBlob(broker, artifact, &record));
  status.Update(AddBlob(broker, action.request(), &record));
  if (!status.ok()) return status;
  return record;
}

absl::Status MissingOf(CompileBroker& broker, const std::vector<std::string>& keys) {
  std::string missing;
  for (const std::string& key : keys)
    if (!broker.FindStored(key).ok()) absl::StrAppend(&missing, missing.empty() ? "" : ", ", key);
  return missing.empty() ? absl::OkStatus() : absl::NotFoundError(absl::StrCat("no result is stored under ", missing));
}

// Of everything, results that vanish or were stored without their request are left out; of named keys nothing is.
absl::Status ExportTo(CompileBroker& broker, std::vector<std::string> keys, ChunkWriter& out) {
  const bool everything = keys.empty();
  if (everything) {
    for (const cache::Digest& key : broker.store().index().Keys()) keys.push_back(key.ToHex());
  }
  absl::Status status = everything ? absl::OkStatus() : MissingOf(broker, keys);
  if (!status.ok()) return status;
  BundleWriter bundle(broker.notary(), [&](absl::string_view part) {
    v1::BundleChunk chunk;
    chunk.set_data(part.data(), part.size());
    return out.Write(chunk) ? absl::OkStatus() : absl::CancelledError("the caller has gone");
  });
  for (const std::string& key : keys) {
    absl::StatusOr<v1::BundleRecord> record = RecordOf(broker, key);
    if (everything && absl::IsNotFound(record.status())) continue;
    status = record.ok() ? bundle.Add(*record) : record.status();
    if (!status.ok()) return status;
  }
  return bundle.Finish();
}

}  // namespace

grpc::ServerWriteReactor<v1::BundleChunk>* Export(CompileBroker& broker, StreamSlots& slots,
                                                  grpc::CallbackServerContext* context,
                                                  const v1::ExportRequest* request) {
  if (const absl::Status status = CheckDigests("keys", request->keys()); !status.ok())
    return new FailedWriter<v1::BundleChunk>(status);
  std::vector<std::string> keys(request->keys().begin(), request->keys().end());
  if (!slots.Take()) return new FailedWriter<v1::BundleChunk>(slots.Full());
  return new ChunkWriter(slots, *context,
                         [&broker, keys = std::move(keys)](ChunkWriter& out) { return ExportTo(broker, keys, out); });
}

}  // namespace tritond::server
