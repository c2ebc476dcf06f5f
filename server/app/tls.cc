// SPDX-License-Identifier: Apache-2.0
#include "server/app/tls.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

constexpr unsigned kRefreshSeconds = 2;

std::string LastError() {
  char text[256] = "";
  ERR_error_string_n(ERR_get_error(), text, sizeof(text));
  return text;
}

// gRPC would only say so when the first client comes.
absl::Status CheckFiles(const TlsFiles& files) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  ERR_clear_error();
  const auto bad = [](const std::string& path) {
    return absl::InvalidArgumentError(absl::StrCat("tls: ", path, ": ", LastError()));
  };
  if (SSL_CTX_use_certificate_chain_file(context.get(), files.certificate.c_str()) != 1) return bad(files.certificate);
  if (SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1) return bad(files.key);
  if (SSL_CTX_check_private_key(context.get()) != 1) return bad(files.key);
  if (files.client_ca.empty()) return absl::OkStatus();
  if (SSL_CTX_load_verify_locations(context.get(), files.client_ca.c_str(), nullptr) != 1) return bad(files.client_ca);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeTlsCredentials(const TlsFiles& files) {
  absl::Status status = CheckFiles(files);
  if (!status.ok()) return status;
  using grpc::experimental::FileWatcherCertificateProvider;
  grpc::experimental::TlsServerCredentialsOptions options(
      std::make_shared<FileWatcherCertificateProvider>(files.key, files.certificate, files.client_ca, kRefreshSeconds));
  options.watch_identity_key_cert_pairs();
  if (!files.client_ca.empty()) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(options);
}

}  // namespace tritond::server
