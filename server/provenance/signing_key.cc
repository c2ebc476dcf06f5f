// SPDX-License-Identifier: Apache-2.0
#include "server/provenance/signing_key.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/strip.h"

namespace tritond::server {
namespace {

constexpr absl::string_view kPrefix = "ed25519:";

const unsigned char* Bytes(absl::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

using Context = std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)>;
using Bio = std::unique_ptr<BIO, int (*)(BIO*)>;

// A key file that wants a password is refused, never asked about at a terminal.
int NoPassword(char*, int, int, void*) { return -1; }

}  // namespace

absl::StatusOr<PublicKey> PublicKey::FromBytes(absl::string_view bytes) {
  PublicKey key;
  if (bytes.size() != kSizeBytes) return absl::InvalidArgumentError("a public key has 32 bytes");
  key.key_.reset(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, Bytes(bytes), bytes.size()), EVP_PKEY_free);
  ERR_clear_error();
  if (key.key_ == nullptr) return absl::InvalidArgumentError("no Ed25519 key");
  key.bytes_ = std::string(bytes);
  key.id_ = cache::Digest::Of(bytes);
  return key;
}

absl::StatusOr<PublicKey> PublicKey::FromText(absl::string_view text) {
  std::string bytes;
  if (!absl::ConsumePrefix(&text, kPrefix)) return absl::InvalidArgumentError("a public key begins with ed25519:");
  // One key has one spelling, so that a list cannot hold it twice.
  if (!absl::Base64Unescape(text, &bytes) || bytes.size() != kSizeBytes || absl::Base64Escape(bytes) != text)
    return absl::InvalidArgumentError("after ed25519: must come 32 bytes in base64");
  return FromBytes(bytes);
}

std::string PublicKey::ToText() const { return std::string(kPrefix) + absl::Base64Escape(bytes_); }

bool PublicKey::Verifies(absl::string_view message, absl::string_view signature) const {
  const Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  const bool good =
      context != nullptr && signature.size() == kSignatureBytes &&
      EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
      EVP_DigestVerify(context.get(), Bytes(signature), signature.size(), Bytes(message), message.size()) == 1;
  ERR_clear_error();
  return good;
}

std::string ShortId(const cache::Digest& id) { return id.ToHex().substr(0, 16); }

SigningKey::SigningKey(Key key, PublicKey public_key) : key_(std::move(key)), public_key_(std::move(public_key)) {}

absl::StatusOr<SigningKey> SigningKey::FromKey(Key key) {
  std::string bytes(PublicKey::kSizeBytes, '\0');
  size_t size = bytes.size();
  if (EVP_PKEY_get_raw_public_key(key.get(), reinterpret_cast<unsigned char*>(bytes.data()), &size) != 1)
    return absl::InternalError("a private key without its public one");
  absl::StatusOr<PublicKey> public_key = PublicKey::FromBytes(bytes);
  if (!public_key.ok()) return public_key.status();
  return SigningKey(std::move(key), *std::move(public_key));
}

absl::StatusOr<SigningKey> SigningKey::Generate() {
  Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free);
  ERR_clear_error();
  if (key == nullptr) return absl::InternalError("cannot make a signing key: no random numbers");
  return FromKey(std::move(key));
}

absl::StatusOr<SigningKey> SigningKey::FromPem(absl::string_view pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  Key key(bio == nullptr ? nullptr : PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr), EVP_PKEY_free);
  ERR_clear_error();
  if (key == nullptr) return absl::InvalidArgumentError("holds no private key in PEM");
  if (EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519)
    return absl::InvalidArgumentError("holds a private key that is not Ed25519");
  return FromKey(std::move(key));
}

std::string SigningKey::ToPem() const {
  const Bio bio(BIO_new(BIO_s_secmem()), BIO_free);
  char* text = nullptr;
  if (bio == nullptr || PEM_write_bio_PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return "";
  const long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<size_t>(size));
}

std::string SigningKey::Sign(absl::string_view message) const {
  const Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::string signature(PublicKey::kSignatureBytes, '\0');
  size_t size = signature.size();
  const bool signed_it = context != nullptr &&
                         EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
                         EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                                        Bytes(message), message.size()) == 1;
  ERR_clear_error();
  // Without memory. Such a record is refused like any that nobody signed.
  return signed_it ? signature : std::string(PublicKey::kSignatureBytes, '\0');
}

}  // namespace tritond::server
