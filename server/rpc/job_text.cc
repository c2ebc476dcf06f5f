// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/job_text.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

absl::StatusOr<cache::Blob> ReadBlob(cache::Cache& blobs, const std::string& digest) {
  absl::StatusOr<cache::Digest> key = cache::Digest::FromHex(digest);
  if (!key.ok()) return key.status();
  absl::StatusOr<cache::Blob> blob = blobs.Get(*key);
  if (absl::IsNotFound(blob.status())) return absl::NotFoundError("it is not stored any more");
  return blob;
}

}  // namespace

absl::StatusOr<v1::CompileRequest> ReadJobRequest(cache::Cache& blobs, const JobRecord& record) {
  if (record.request.empty()) return absl::NotFoundError("the request of a compile that failed is not kept");
  absl::StatusOr<cache::Blob> blob = ReadBlob(blobs, record.request);
  if (!blob.ok()) return blob.status();
  v1::CompileRequest request;
  if (!request.ParseFromArray(blob->data(), static_cast<int>(blob->size())))
    return absl::DataLossError("the stored request cannot be read");
  return request;
}

absl::StatusOr<std::string> ReadJobText(cache::Cache& blobs, const JobRecord& record, absl::string_view stage) {
  if (stage == "binary") return absl::InvalidArgumentError("a binary is no text");
  if (!record.input.empty() && stage == record.input) {
    absl::StatusOr<v1::CompileRequest> request = ReadJobRequest(blobs, record);
    if (!request.ok()) return request.status();
    return std::move(*request->mutable_ir());
  }
  for (const JobRecord::Text& text : record.texts) {
    if (text.stage != stage) continue;
    absl::StatusOr<cache::Blob> blob = ReadBlob(blobs, text.digest);
    if (!blob.ok()) return blob.status();
    return std::string(blob->data(), blob->size());
  }
  return absl::NotFoundError(absl::StrCat("stage ", stage, " was not asked for, so it is not kept"));
}

}  // namespace tritond::server
