// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_PROVENANCE_NOTARY_H_
#define SERVER_PROVENANCE_NOTARY_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "cache/api/record_guard.h"
#include "server/provenance/signed_record.h"
#include "server/provenance/signing_key.h"
#include "server/provenance/trusted_keys.h"

namespace tritond::server {

// Why a record does not count.
enum class Refusal {
  kUnsigned,       // no signed record at all, as daemons of earlier versions wrote it
  kMalformed,      // begins as one, and is none
  kWrongKey,       // made for another key, purpose or asker
  kUnknownSigner,  // by a key that is not trusted, or made from what such a key signed
  kRevoked,        // the same with a revoked key
  kBadSignature,   // not signed by the key that it names
  kExpired,        // an error that was signed too long ago
};
inline constexpr int kRefusals = 7;
// "unsigned", "malformed", "wrong_key", "unknown_signer", "revoked", "bad_signature", "expired".
const char* RefusalName(Refusal refusal);

// Where a record came from.
enum class Origin { kOwn, kEngine, kBundle };
inline constexpr int kOrigins = 3;
// "own", "engine", "bundle".
const char* OriginName(Origin origin);

// Signs what this daemon vouches for, and decides what counts that it reads. A record must be made for what it is used
// as, and signed by a key that is trusted now, the daemon's own among them. Counts and reports what it refuses.
// Thread-safe.
class Notary final {
 public:
  // What a record is to be used as.
  struct Use {
    Purpose purpose = Purpose::kResult;
    cache::Digest key;
    absl::string_view scope = {};
    absl::Duration lifetime = absl::InfiniteDuration();  // since it was signed; clocks may be kClockSkew apart
  };
  static constexpr absl::Duration kClockSkew = absl::Minutes(5);
  using Log = std::function<void(const std::string&)>;

  // `log` takes warnings for the operator, from any thread. `clock` gives wall time.
  Notary(SigningKey key, TrustedKeys trusted, Log log, std::function<absl::Time()> clock);
  ~Notary();

  // Of the key that signs now.
  PublicKey public_key() const { return key()->public_key(); }
  // A record of this daemon's, from what `sources` signed.
  std::string Sign(Purpose purpose, const cache::Digest& key, absl::string_view payload,
                   std::vector<cache::Digest> sources = {}, absl::string_view scope = {}) const;

  // The signers that must count for what is made from a record to count. They are the record's and its sources'
  // signers. This daemon's own key, which signs what is made, is left out.
  std::vector<cache::Digest> SourcesOf(const RecordFacts& facts) const;

  // Takes the record apart if it counts for this use; else says why not, and counts it.
  struct Answer {
    std::optional<Refusal> refusal;
    RecordView record;  // without a refusal
  };
  Answer Read(Origin origin, const Use& use, absl::string_view record);
  // The same without trust: whether the record is made for this use. Neither its signature nor its time is checked.
  static Answer TakeApart(const Use& use, absl::string_view record);
  // How many were refused.
  uint64_t refused(Origin origin, Refusal refusal) const;

  // For caches of results.
  cache::RecordGuard& own_guard();
  cache::RecordGuard& engine_guard();

  // Whether the signer and all sources count now. Takes the record's word for who they are: for records that were read
  // before, when fewer keys may have been revoked.
  bool Believes(const RecordFacts& facts) const;

  // Replaces the trusted keys; the daemon's own stays trusted unless the list revokes it. True when something that was
  // believed is not any more: then what was read before must be read anew.
  bool Trust(TrustedKeys trusted);
  // The same, and signs with this key from now on. An earlier own key counts on only if the list has it.
  bool Adopt(SigningKey key, TrustedKeys trusted);
  std::shared_ptr<const TrustedKeys> trusted() const;  // Shared: replaced as a whole.
  // The name that the trusted keys give a signer; "": they do not have it.
  std::string NameOf(const cache::Digest& signer) const;
  // Whether the signer's records count now.
  bool Trusts(const cache::Digest& signer) const;

 private:
  class Guard;

  std::shared_ptr<const SigningKey> key() const;  // Shared: replaced as a whole.
  static std::optional<Refusal> JudgeSigners(const RecordFacts& facts, const TrustedKeys& trusted);
  std::optional<Refusal> Judge(const Use& use, absl::string_view record, RecordView* view) const;
  void Report(Origin origin, const Use& use, Refusal refusal, const RecordView& view);

  const Log log_;
  const std::function<absl::Time()> clock_;
  const std::unique_ptr<Guard> own_guard_, engine_guard_;
  mutable absl::Mutex mu_;
  std::shared_ptr<const SigningKey> key_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<const TrustedKeys> trusted_ ABSL_GUARDED_BY(mu_);
  struct Count {
    uint64_t refused = 0;
    uint64_t unreported = 0;
    absl::Time reported = absl::InfinitePast();
  };
  std::array<std::array<Count, kRefusals>, kOrigins> counts_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tritond::server

#endif  // SERVER_PROVENANCE_NOTARY_H_
