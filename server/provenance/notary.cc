// SPDX-License-Identifier: Apache-2.0
#include "server/provenance/notary.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

constexpr char kOwnName[] = "this-daemon";
constexpr absl::Duration kReportEvery = absl::Seconds(10);

// Nobody but someone who changes bytes, a disk among them, makes these. They are of no use to anybody.
bool IsDamage(Refusal refusal) {
  return refusal == Refusal::kUnsigned || refusal == Refusal::kMalformed || refusal == Refusal::kWrongKey ||
         refusal == Refusal::kBadSignature;
}

// Whether something that was believed is not any more.
bool Replace(const SigningKey& own, TrustedKeys trusted, std::shared_ptr<const TrustedKeys>* held) {
  trusted.Add({own.public_key(), kOwnName, false});
  auto now = std::make_shared<const TrustedKeys>(std::move(trusted));
  const bool less = *held != nullptr && !now->Believes(**held);
  *held = std::move(now);
  return less;
}

}  // namespace

const char* RefusalName(Refusal refusal) {
  switch (refusal) {
    case Refusal::kUnsigned:
      return "unsigned";
    case Refusal::kMalformed:
      return "malformed";
    case Refusal::kWrongKey:
      return "wrong_key";
    case Refusal::kUnknownSigner:
      return "unknown_signer";
    case Refusal::kRevoked:
      return "revoked";
    case Refusal::kBadSignature:
      return "bad_signature";
    case Refusal::kExpired:
      return "expired";
  }
  return "unsigned";
}

const char* OriginName(Origin origin) {
  switch (origin) {
    case Origin::kOwn:
      return "own";
    case Origin::kEngine:
      return "engine";
    case Origin::kBundle:
      return "bundle";
  }
  return "own";
}

class Notary::Guard final : public cache::RecordGuard {
 public:
  Guard(Notary& notary, Origin origin) : notary_(notary), origin_(origin) {}

  absl::Status Check(const cache::Digest& key, absl::string_view record) override {
    const std::optional<Refusal> refusal = notary_.Read(origin_, {Purpose::kResult, key}, record).refusal;
    if (!refusal.has_value()) return absl::OkStatus();
    const std::string message = absl::StrCat("the record of ", key.ToHex(), " is refused: ", RefusalName(*refusal));
    return IsDamage(*refusal) ? absl::DataLossError(message) : absl::NotFoundError(message);
  }

 private:
  Notary& notary_;
  const Origin origin_;
};

Notary::Notary(SigningKey key, TrustedKeys trusted, Log log, std::function<absl::Time()> clock)
    : log_(std::move(log)),
      clock_(std::move(clock)),
      own_guard_(std::make_unique<Guard>(*this, Origin::kOwn)),
      engine_guard_(std::make_unique<Guard>(*this, Origin::kEngine)) {
  Adopt(std::move(key), std::move(trusted));
}

Notary::~Notary() = default;

cache::RecordGuard& Notary::own_guard() { return *own_guard_; }
cache::RecordGuard& Notary::engine_guard() { return *engine_guard_; }

std::string Notary::Sign(Purpose purpose, const cache::Digest& key, absl::string_view payload,
                         std::vector<cache::Digest> sources, absl::string_view scope) const {
  return WriteRecord({purpose, key, {}, clock_(), std::move(sources), std::string(scope)}, payload, *this->key());
}

std::vector<cache::Digest> Notary::SourcesOf(const RecordFacts& facts) const {
  std::vector<cache::Digest> sources = facts.sources;
  sources.push_back(facts.signer);
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  sources.erase(std::remove(sources.begin(), sources.end(), public_key().id()), sources.end());
  return sources;
}

std::optional<Refusal> Notary::JudgeSigners(const RecordFacts& facts, const TrustedKeys& trusted) {
  std::vector<cache::Digest> signers = facts.sources;
  signers.push_back(facts.signer);
  for (const cache::Digest& id : signers) {
    const TrustedKeys::Entry* entry = trusted.Find(id);
    if (entry == nullptr) return Refusal::kUnknownSigner;
    if (entry->revoked) return Refusal::kRevoked;
  }
  return std::nullopt;
}

bool Notary::Believes(const RecordFacts& facts) const { return !JudgeSigners(facts, *trusted()).has_value(); }

Notary::Answer Notary::TakeApart(const Use& use, absl::string_view record) {
  if (!LooksSigned(record)) return {Refusal::kUnsigned, {}};
  absl::StatusOr<RecordView> read = ReadRecord(record);
  if (!read.ok()) return {Refusal::kMalformed, {}};
  const RecordFacts& facts = read->facts;
  const bool fits = facts.purpose == use.purpose && facts.key == use.key && facts.scope == use.scope;
  return {fits ? std::nullopt : std::optional<Refusal>(Refusal::kWrongKey), *std::move(read)};
}

std::optional<Refusal> Notary::Judge(const Use& use, absl::string_view record, RecordView* view) const {
  Answer apart = TakeApart(use, record);
  *view = std::move(apart.record);
  if (apart.refusal.has_value()) return apart.refusal;
  const RecordFacts& facts = view->facts;
  const std::shared_ptr<const TrustedKeys> trusted = this->trusted();
  const TrustedKeys::Entry* signer = trusted->Find(facts.signer);
  if (signer == nullptr) return Refusal::kUnknownSigner;
  if (!VerifySignature(*view, signer->key)) return Refusal::kBadSignature;
  if (const std::optional<Refusal> refusal = JudgeSigners(facts, *trusted)) return refusal;
  if (clock_() - facts.time > use.lifetime + kClockSkew || facts.time - clock_() > use.lifetime + kClockSkew)
    return Refusal::kExpired;
  return std::nullopt;
}

Notary::Answer Notary::Read(Origin origin, const Use& use, absl::string_view record) {
  Answer answer;
  answer.refusal = Judge(use, record, &answer.record);
  if (answer.refusal.has_value()) Report(origin, use, *answer.refusal, answer.record);
  return answer;
}

// Names nothing but digests: what a stranger wrote does not get into a log.
void Notary::Report(Origin origin, const Use& use, Refusal refusal, const RecordView& view) {
  uint64_t unreported = 0;
  {
    absl::MutexLock lock(&mu_);
    Count& count = counts_[static_cast<int>(origin)][static_cast<int>(refusal)];
    ++count.refused;
    ++count.unreported;
    const absl::Time now = clock_();
    if (now - count.reported < kReportEvery && now >= count.reported) return;
    count.reported = now;
    unreported = std::exchange(count.unreported, 0);
  }
  const bool named = refusal != Refusal::kUnsigned && refusal != Refusal::kMalformed;
  log_(absl::StrCat("provenance: refused a record of ", use.key.ToHex(), " (", OriginName(origin),
                    "): ", RefusalName(refusal), named ? absl::StrCat(", signer ", ShortId(view.facts.signer)) : "",
                    unreported > 1 ? absl::StrCat("; and ", unreported - 1, " more since the last such line") : ""));
}

uint64_t Notary::refused(Origin origin, Refusal refusal) const {
  absl::MutexLock lock(&mu_);
  return counts_[static_cast<int>(origin)][static_cast<int>(refusal)].refused;
}

bool Notary::Trust(TrustedKeys trusted) {
  absl::MutexLock lock(&mu_);
  return Replace(*key_, std::move(trusted), &trusted_);
}

bool Notary::Adopt(SigningKey key, TrustedKeys trusted) {
  auto fresh = std::make_shared<const SigningKey>(std::move(key));
  absl::MutexLock lock(&mu_);
  key_ = std::move(fresh);  // Under one lock: what the key signs is trusted from its first record on.
  return Replace(*key_, std::move(trusted), &trusted_);
}

std::shared_ptr<const SigningKey> Notary::key() const {
  absl::MutexLock lock(&mu_);
  return key_;
}

std::shared_ptr<const TrustedKeys> Notary::trusted() const {
  absl::MutexLock lock(&mu_);
  return trusted_;
}

std::string Notary::NameOf(const cache::Digest& signer) const {
  const std::shared_ptr<const TrustedKeys> trusted = this->trusted();
  const TrustedKeys::Entry* entry = trusted->Find(signer);
  return entry == nullptr ? "" : entry->name;
}

bool Notary::Trusts(const cache::Digest& signer) const {
  const std::shared_ptr<const TrustedKeys> trusted = this->trusted();
  const TrustedKeys::Entry* entry = trusted->Find(signer);
  return entry != nullptr && !entry->revoked;
}

}  // namespace tritond::server
