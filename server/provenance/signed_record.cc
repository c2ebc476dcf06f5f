// SPDX-License-Identifier: Apache-2.0
#include "server/provenance/signed_record.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

constexpr absl::string_view kMagic = "tritond";
constexpr uint8_t kVersion = 1;
// Nothing else that this key may ever sign begins so.
constexpr absl::string_view kSignatureDomain{"tritond signed record\0", 22};

template <typename Integer>
void Append(Integer value, std::string* out) {
  for (int shift = 8 * (sizeof(value) - 1); shift >= 0; shift -= 8)
    out->push_back(static_cast<char>(static_cast<uint8_t>(static_cast<uint64_t>(value) >> shift)));
}

// Takes fields from the front of bytes. After the first one that is not there everything fails.
class Reader final {
 public:
  explicit Reader(absl::string_view bytes) : rest_(bytes) {}

  absl::string_view Take(uint64_t size) {
    ok_ = ok_ && size <= rest_.size();
    if (!ok_) return {};
    const absl::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  template <typename Integer>
  Integer TakeInteger() {
    uint64_t value = 0;
    for (const char c : Take(sizeof(Integer))) value = value << 8 | static_cast<uint8_t>(c);
    return static_cast<Integer>(value);
  }
  cache::Digest TakeDigest() {
    absl::StatusOr<cache::Digest> digest = cache::Digest::FromBytes(Take(cache::Digest::kSizeBytes));
    return digest.ok() ? *digest : cache::Digest();
  }
  absl::string_view rest() const { return rest_; }
  bool ok() const { return ok_; }

 private:
  absl::string_view rest_;
  bool ok_ = true;
};

bool IsPurpose(uint8_t purpose) {
  return purpose >= static_cast<uint8_t>(Purpose::kResult) && purpose <= static_cast<uint8_t>(Purpose::kTuning);
}

}  // namespace

bool LooksSigned(absl::string_view bytes) { return absl::StartsWith(bytes, kMagic); }

absl::StatusOr<RecordView> ReadRecord(absl::string_view bytes) {
  const absl::Status malformed = absl::InvalidArgumentError("no signed record of version 1");
  Reader reader(bytes);
  RecordView record;
  if (reader.Take(kMagic.size()) != kMagic || reader.TakeInteger<uint8_t>() != kVersion) return malformed;
  const auto purpose = reader.TakeInteger<uint8_t>();
  record.facts.purpose = static_cast<Purpose>(purpose);
  record.facts.key = reader.TakeDigest();
  record.facts.signer = reader.TakeDigest();
  record.facts.time = absl::FromUnixNanos(reader.TakeInteger<int64_t>());
  const auto sources = reader.TakeInteger<uint8_t>();
  if (!IsPurpose(purpose) || sources > kMostSources) return malformed;
  for (int i = 0; i < sources; ++i) record.facts.sources.push_back(reader.TakeDigest());
  const auto scope_size = reader.TakeInteger<uint16_t>();
  if (scope_size > kMostScopeBytes) return malformed;
  record.facts.scope = std::string(reader.Take(scope_size));
  record.payload = reader.Take(reader.TakeInteger<uint64_t>());
  const size_t signed_size = bytes.size() - reader.rest().size();
  record.before_signature = bytes.substr(0, signed_size);
  record.signature = reader.Take(PublicKey::kSignatureBytes);
  if (!reader.ok() || !reader.rest().empty()) return malformed;
  return record;
}

std::string WriteRecord(const RecordFacts& facts, absl::string_view payload, const SigningKey& key) {
  if (facts.sources.size() > kMostSources || facts.scope.size() > kMostScopeBytes) return "";
  const cache::Digest& signer = key.public_key().id();
  std::string record(kMagic);
  record.reserve(256 + payload.size());
  Append(kVersion, &record);
  Append(static_cast<uint8_t>(facts.purpose), &record);
  absl::StrAppend(&record, facts.key.bytes(), signer.bytes());
  Append(absl::ToUnixNanos(facts.time), &record);
  Append(static_cast<uint8_t>(facts.sources.size()), &record);
  for (const cache::Digest& source : facts.sources) absl::StrAppend(&record, source.bytes());
  Append(static_cast<uint16_t>(facts.scope.size()), &record);
  absl::StrAppend(&record, facts.scope);
  Append(static_cast<uint64_t>(payload.size()), &record);
  absl::StrAppend(&record, payload);
  return absl::StrCat(record, key.Sign(absl::StrCat(kSignatureDomain, record)));
}

bool VerifySignature(const RecordView& record, const PublicKey& key) {
  return key.Verifies(absl::StrCat(kSignatureDomain, record.before_signature), record.signature);
}

}  // namespace tritond::server
