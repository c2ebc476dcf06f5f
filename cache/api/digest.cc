// SPDX-License-Identifier: Apache-2.0
#include "cache/api/digest.h"

#include <openssl/evp.h>

#include <cstdio>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace tritond::cache {
namespace {

// OpenSSL looks an algorithm up by name, under locks, whenever a digest starts; fetching it once avoids that.
const EVP_MD* Sha256() {
  static const EVP_MD* const md = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return md;
}

// Without SHA-256 nothing here can be named: an OpenSSL that refuses it is a broken installation.
void CheckOpenssl(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "SHA-256 is unavailable: OpenSSL's %s failed\n", what);
  std::abort();
}

}  // namespace

Digest Digest::Of(absl::string_view bytes) {
  DigestHasher hasher;
  hasher.Update(bytes);
  return hasher.Finish();
}

absl::StatusOr<Digest> Digest::FromHex(absl::string_view hex) {
  if (hex.size() != 2 * kSizeBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a digest has 64 hexadecimal digits, not ", hex.size()));
  }
  for (char c : hex) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c)) && (c < 'a' || c > 'f')) {
      return absl::InvalidArgumentError("a digest has lower-case hexadecimal digits only");
    }
  }
  return FromBytes(absl::HexStringToBytes(hex));
}

absl::StatusOr<Digest> Digest::FromBytes(absl::string_view bytes) {
  if (bytes.size() != kSizeBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a digest has 32 bytes, not ", bytes.size()));
  }
  Digest digest;
  std::memcpy(digest.value_.data(), bytes.data(), kSizeBytes);
  return digest;
}

std::string Digest::ToHex() const { return absl::BytesToHexString(bytes()); }

DigestHasher::DigestHasher() : context_(EVP_MD_CTX_new()) {
  CheckOpenssl(context_ != nullptr, "EVP_MD_CTX_new");
  CheckOpenssl(EVP_DigestInit_ex2(context_, Sha256(), nullptr) == 1, "EVP_DigestInit_ex2");
}

DigestHasher::~DigestHasher() { EVP_MD_CTX_free(context_); }

void DigestHasher::Update(absl::string_view bytes) {
  CheckOpenssl(EVP_DigestUpdate(context_, bytes.data(), bytes.size()) == 1, "EVP_DigestUpdate");
}

Digest DigestHasher::Finish() {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  CheckOpenssl(EVP_DigestFinal_ex(context_, bytes, &size) == 1 && size == Digest::kSizeBytes, "EVP_DigestFinal_ex");
  CheckOpenssl(EVP_DigestInit_ex2(context_, Sha256(), nullptr) == 1, "EVP_DigestInit_ex2");
  return *Digest::FromBytes({reinterpret_cast<const char*>(bytes), size});
}

}  // namespace tritond::cache
