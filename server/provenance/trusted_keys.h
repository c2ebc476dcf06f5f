// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_PROVENANCE_TRUSTED_KEYS_H_
#define SERVER_PROVENANCE_TRUSTED_KEYS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/provenance/signing_key.h"

namespace tritond::server {

// The public keys of those whose records count. A value; copies share the keys.
class TrustedKeys final {
 public:
  struct Entry {
    PublicKey key;
    std::string name;  // for people
    bool revoked = false;
  };

  // Reads one key a line, `ed25519:BASE64 NAME [revoked]`; '#' begins a comment. InvalidArgument names the line and
  // what is wrong with it: the key, the name, a word too many, a key that is listed twice.
  static absl::StatusOr<TrustedKeys> Parse(absl::string_view text);
  // The line of one key, without its end.
  static std::string FormatLine(const Entry& entry);
  // Whether `name` can stand in a line: 1 to 128 of letters, digits and ._:/@-, and not "revoked".
  static bool IsName(absl::string_view name);

  // Null when it is not listed. Revoked keys are listed. Valid as long as this object.
  const Entry* Find(const cache::Digest& id) const;
  // False, and nothing changes, when the key is listed already.
  bool Add(Entry entry);
  const std::vector<Entry>& entries() const { return entries_; }
  // Whether everything that `earlier` believed is believed still.
  bool Believes(const TrustedKeys& earlier) const;

 private:
  std::vector<Entry> entries_;
  absl::flat_hash_map<cache::Digest, size_t> by_id_;
};

}  // namespace tritond::server

#endif  // SERVER_PROVENANCE_TRUSTED_KEYS_H_
