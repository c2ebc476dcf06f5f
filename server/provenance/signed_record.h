// SPDX-License-Identifier: Apache-2.0
// The form in which what a daemon vouches for is stored, shared and bundled: its exact bytes with who signed them for
// what. Version 1, integers big-endian:
//
//   7   "tritond"
//   1   version: 1
//   1   purpose
//   32  the key that it was made for
//   32  the signer: the SHA-256 of its public key
//   8   when, in nanoseconds since 1970
//   1   how many sources, at most 16; each the id of a signer, 32 bytes
//   2   size of the scope, then the scope
//   8   size of the payload, then the payload
//   64  Ed25519 signature over kSignatureDomain and everything above
//
// Everything is in the signature, and there is one way to write a record: a record with any other bit does not verify.
#ifndef SERVER_PROVENANCE_SIGNED_RECORD_H_
#define SERVER_PROVENANCE_SIGNED_RECORD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cache/api/digest.h"
#include "server/provenance/signing_key.h"

namespace tritond::server {

// What a record may be used as. A record of one purpose is nothing for another.
enum class Purpose : uint8_t {
  kResult = 1,     // a result of the key
  kError = 2,      // a deterministic error of the key
  kToldError = 3,  // an error for one asker, the scope
  kOffer = 4,      // a request that the scope, an asker, wants compiled under the key
  kManifest = 5,   // what a bundle holds
  kTuning = 6,     // what a search found for the key: which candidate or configuration is best
};

inline constexpr size_t kMostSources = 16;
inline constexpr size_t kMostScopeBytes = 4096;

// What is said of a payload. `sources` are the signers whose records the payload was made from: whoever does not
// believe one of these must not believe the record either.
struct RecordFacts {
  Purpose purpose = Purpose::kResult;
  cache::Digest key;
  cache::Digest signer;
  absl::Time time;
  std::vector<cache::Digest> sources;
  std::string scope;
};

// A record that was taken apart. Says nothing about whether it is true. Views into the bytes that it was read from.
struct RecordView {
  RecordFacts facts;
  absl::string_view payload;
  absl::string_view before_signature;
  absl::string_view signature;
};

// Whether the bytes begin as a record of any version does.
bool LooksSigned(absl::string_view bytes);

// InvalidArgument unless `bytes` are exactly one record of this version; they need not verify.
absl::StatusOr<RecordView> ReadRecord(absl::string_view bytes);

// Signs; `facts.signer` is the key's. Empty, which no reader takes, when there are more than kMostSources or the scope
// is longer than kMostScopeBytes.
std::string WriteRecord(const RecordFacts& facts, absl::string_view payload, const SigningKey& key);

// Whether the record's signature is this key's.
bool VerifySignature(const RecordView& record, const PublicKey& key);

}  // namespace tritond::server

#endif  // SERVER_PROVENANCE_SIGNED_RECORD_H_
