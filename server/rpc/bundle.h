// SPDX-License-Identifier: Apache-2.0
// Bundles: results that travel as one file. The format is described at v1.BundleRecord.
#ifndef SERVER_RPC_BUNDLE_H_
#define SERVER_RPC_BUNDLE_H_

#include <functional>
#include <istream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/v1/artifact.pb.h"

struct ZSTD_CCtx_s;

namespace tritond::server {

// Makes a bundle. Not thread-safe.
class BundleWriter final {
 public:
  // Takes parts of the bundle, of at most 1 MiB; its error ends the writing.
  using Sink = std::function<absl::Status(absl::string_view part)>;

  explicit BundleWriter(Sink sink);
  ~BundleWriter();
  // Errors are the sink's.
  absl::Status Add(const v1::BundleRecord& record);
  // Once, after the last record; without it the bundle counts as damaged.
  absl::Status Finish();

 private:
  absl::Status Compress(absl::string_view bytes, bool last);

  const Sink sink_;
  ZSTD_CCtx_s* const context_;
  std::string part_;
};

// Calls `visit` with each record of a bundle, in order. DataLoss when the bytes are no whole bundle: those records that
// came before have been visited. Otherwise the visitor's first error, which ends the reading.
absl::Status ReadBundle(std::istream& in, const std::function<absl::Status(v1::BundleRecord)>& visit);

// Whether a record can be believed: its request's key is the record's, and every byte string is what its digest says.
// DataLoss names what does not fit.
absl::Status VerifyRecord(const v1::BundleRecord& record);

}  // namespace tritond::server

#endif  // SERVER_RPC_BUNDLE_H_
