// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_CERTIFICATES_H_
#define TESTS_SUPPORT_CERTIFICATES_H_

#include <openssl/x509.h>

#include <memory>
#include <string>

namespace tritond::tests {

// PEM texts.
struct KeyPair {
  std::string certificate;
  std::string key;
};

// A certificate authority of a test: elliptic curve keys, valid from an hour ago for a day.
class CertificateAuthority final {
 public:
  explicit CertificateAuthority(const std::string& common_name);
  // Of the authority itself.
  const std::string& certificate() const { return own_.certificate; }
  // For servers and clients alike; `common_name` is also a DNS name, next to localhost and 127.0.0.1.
  KeyPair Issue(const std::string& common_name) const;

 private:
  KeyPair own_;
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
};

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_CERTIFICATES_H_
