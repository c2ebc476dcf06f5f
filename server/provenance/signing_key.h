// SPDX-License-Identifier: Apache-2.0
// Ed25519 (RFC 8032), by OpenSSL.
#ifndef SERVER_PROVENANCE_SIGNING_KEY_H_
#define SERVER_PROVENANCE_SIGNING_KEY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cache/api/digest.h"

struct evp_pkey_st;

namespace tritond::server {

// What signatures are verified with. A value; copies share the key. Thread-safe like any const value.
class PublicKey final {
 public:
  static constexpr size_t kSizeBytes = 32;
  static constexpr size_t kSignatureBytes = 64;

  // InvalidArgument unless `bytes` are the 32 bytes of a key.
  static absl::StatusOr<PublicKey> FromBytes(absl::string_view bytes);
  // Reads what ToText writes. InvalidArgument says what is wrong.
  static absl::StatusOr<PublicKey> FromText(absl::string_view text);

  // "ed25519:" and the 32 bytes in base64, with padding.
  std::string ToText() const;
  // Names the key: the SHA-256 of its 32 bytes.
  const cache::Digest& id() const { return id_; }
  // Whether this key's owner signed exactly these bytes. One message has one signature: altered ones do not verify.
  bool Verifies(absl::string_view message, absl::string_view signature) const;

 private:
  PublicKey() = default;

  std::string bytes_;
  cache::Digest id_;
  std::shared_ptr<evp_pkey_st> key_;  // Shared by copies; OpenSSL locks it.
};

// The first 16 hexadecimal digits of a key's id, for people.
std::string ShortId(const cache::Digest& id);

// What signs. Movable only, so that the private key is in one place. Thread-safe.
class SigningKey final {
 public:
  // A new key. Internal when there is no randomness.
  static absl::StatusOr<SigningKey> Generate();
  // Reads a private key in PEM (PKCS #8, without a password), as ToPem and `openssl genpkey -algorithm ed25519` write
  // it. InvalidArgument for anything else; the message never quotes the text.
  static absl::StatusOr<SigningKey> FromPem(absl::string_view pem);
  SigningKey(SigningKey&&) = default;
  SigningKey& operator=(SigningKey&&) = default;

  std::string ToPem() const;
  const PublicKey& public_key() const { return public_key_; }
  // 64 bytes. The same for the same message.
  std::string Sign(absl::string_view message) const;

 private:
  using Key = std::unique_ptr<evp_pkey_st, void (*)(evp_pkey_st*)>;

  SigningKey(Key key, PublicKey public_key);
  static absl::StatusOr<SigningKey> FromKey(Key key);

  Key key_;
  PublicKey public_key_;
};

}  // namespace tritond::server

#endif  // SERVER_PROVENANCE_SIGNING_KEY_H_
