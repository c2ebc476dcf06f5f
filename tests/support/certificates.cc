// SPDX-License-Identifier: Apache-2.0
#include "tests/support/certificates.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

namespace tritond::tests {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

Key MakeKey() { return Key(EVP_EC_gen("P-256"), EVP_PKEY_free); }

template <typename Write>
std::string ToPem(Write write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  write(bio.get());
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<size_t>(size));
}

KeyPair ToPems(X509* certificate, EVP_PKEY* key) {
  return {ToPem([&](BIO* bio) { PEM_write_bio_X509(bio, certificate); }),
          ToPem([&](BIO* bio) { PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); })};
}

void AddExtension(X509* certificate, int id, const std::string& value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, id, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

Certificate MakeCertificate(const std::string& common_name, EVP_PKEY* key) {
  Certificate certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), X509_VERSION_3);
  uint32_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial));
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 24 * 3600);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1, 0);
  return certificate;
}

}  // namespace

CertificateAuthority::CertificateAuthority(const std::string& common_name) : key_(MakeKey()) {
  const Certificate certificate = MakeCertificate(common_name, key_.get());
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get()));
  AddExtension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(certificate.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  X509_sign(certificate.get(), key_.get(), EVP_sha256());
  own_ = ToPems(certificate.get(), key_.get());
}

KeyPair CertificateAuthority::Issue(const std::string& common_name) const {
  const Key key = MakeKey();
  const Certificate certificate = MakeCertificate(common_name, key.get());
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new_mem_buf(own_.certificate.data(), -1), BIO_free);
  const Certificate issuer(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), X509_free);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer.get()));
  AddExtension(certificate.get(), NID_basic_constraints, "critical,CA:FALSE");
  AddExtension(certificate.get(), NID_ext_key_usage, "serverAuth,clientAuth");
  AddExtension(certificate.get(), NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,DNS:" + common_name);
  X509_sign(certificate.get(), key_.get(), EVP_sha256());
  return ToPems(certificate.get(), key.get());
}

}  // namespace tritond::tests
