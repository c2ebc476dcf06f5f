// SPDX-License-Identifier: Apache-2.0
// Bundles: results that travel as one file. The format is described at v1.BundleRecord.
#ifndef SERVER_BUNDLE_BUNDLE_H_
#define SERVER_BUNDLE_BUNDLE_H_

#include <functional>
#include <istream>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cache/api/digest.h"
#include "proto/v1/artifact.pb.h"
#include "server/provenance/notary.h"

struct ZSTD_CCtx_s;

namespace tritond::server {

// Makes a bundle, signed by this daemon. Not thread-safe. Borrows the notary.
class BundleWriter final {
 public:
  // Takes parts of the bundle, of at most 1 MiB; its error ends the writing.
  using Sink = std::function<absl::Status(absl::string_view part)>;

  BundleWriter(const Notary& notary, Sink sink);
  ~BundleWriter();
  // Errors are the sink's.
  absl::Status Add(const v1::BundleRecord& record);
  // Writes the manifest. Once, after the last record; without it the bundle counts as damaged.
  absl::Status Finish();

 private:
  absl::Status Write(const v1::BundleRecord& record);
  absl::Status Compress(absl::string_view bytes, bool last);

  const Notary& notary_;
  cache::DigestHasher results_;  // of all signed results
  uint64_t count_ = 0;
  const Sink sink_;
  ZSTD_CCtx_s* const context_;
  std::string part_;
};

// Calls `visit` with each record of a bundle, in order. DataLoss when the bytes are no whole bundle: those records that
// came before have been visited. Otherwise the visitor's first error, which ends the reading.
absl::Status ReadBundle(std::istream& in, const std::function<absl::Status(v1::BundleRecord)>& visit);

// Decides about a whole bundle: every record, then the manifest. Not thread-safe.
class BundleVerifier final {
 public:
  // Takes a signed record apart, or says why it does not count: Notary::Read, or Notary::TakeApart where there is no
  // list of trusted keys.
  using Reader = std::function<Notary::Answer(const Notary::Use& use, absl::string_view record)>;

  explicit BundleVerifier(Reader read) : read_(std::move(read)) {}
  // What the notary trusts counts. Borrows it.
  explicit BundleVerifier(Notary& notary)
      : BundleVerifier([&notary](const Notary::Use& use, absl::string_view record) {
          return notary.Read(Origin::kBundle, use, record);
        }) {}

  // Whether a record can be believed. A trusted daemon has signed its result for its key, its request has that key, and
  // every byte string is what its digest says. DataLoss names what does not fit; FailedPrecondition the signer that
  // does not count.
  absl::Status Visit(const v1::BundleRecord& record);
  // After the last record: whether a trusted daemon has signed the bundle, and it is whole. Errors as above.
  absl::Status Finish() const;

 private:
  absl::Status VisitManifest(const v1::BundleRecord& record);

  const Reader read_;
  cache::DigestHasher results_;  // of all signed results so far
  uint64_t count_ = 0;
  bool whole_ = false;  // the manifest was there
};

}  // namespace tritond::server

#endif  // SERVER_BUNDLE_BUNDLE_H_
