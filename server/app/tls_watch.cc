// SPDX-License-Identifier: Apache-2.0
#include "server/app/tls_watch.h"

#include <grpc/grpc.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

std::string LastError() {
  char text[256] = "";
  ERR_error_string_n(ERR_get_error(), text, sizeof(text));
  return text;
}

absl::Status Bad(const std::string& path, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("tls: ", path, ": ", why));
}

absl::StatusOr<std::string> ReadText(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) return Bad(path, errno == 0 ? "cannot be read" : std::strerror(errno));
  return text;
}

Owned<BIO> Over(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), [](BIO* bio) { BIO_free(bio); }};
}

Owned<X509> NextCertificate(BIO* bio) { return {PEM_read_bio_X509(bio, nullptr, nullptr, nullptr), X509_free}; }

// Whether reading ended where the text does, rather than at a certificate that is cut off or damaged.
bool AtEnd() { return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE; }

// Nobody is there who could type one.
int NoPassword(char*, int, int, void*) { return -1; }

}  // namespace

// gRPC's C++ has no credentials that ask for each connection, its C has.
class TlsWatch::Credentials final : public grpc::ServerCredentials {
 public:
  explicit Credentials(TlsWatch& watch) : watch_(watch) {}
  // None is used here.
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return watch_.AddPort(address, server);
  }

  TlsWatch& watch_;
};

TlsWatch::TlsWatch(TlsFiles files, LogSink log) : files_(std::move(files)), log_(std::move(log)) {}

absl::StatusOr<std::unique_ptr<TlsWatch>> TlsWatch::Open(TlsFiles files, LogSink log) {
  std::unique_ptr<TlsWatch> watch(new TlsWatch(std::move(files), std::move(log)));
  if (absl::StatusOr<bool> taken = watch->Take(); !taken.ok()) return taken.status();
  return watch;
}

std::shared_ptr<grpc::ServerCredentials> TlsWatch::MakeCredentials() { return std::make_shared<Credentials>(*this); }

int TlsWatch::AddPort(const std::string& address, grpc_server* server) {
  Listener* listener = nullptr;
  {
    absl::MutexLock lock(&mu_);
    listener = listeners_.emplace_back(new Listener{*this}).get();
  }
  grpc_server_credentials* credentials =
      grpc_ssl_server_credentials_create_with_options(grpc_ssl_server_credentials_create_options_using_config_fetcher(
          files_.client_ca.empty() ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                   : GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY,
          Fetch, listener));
  const int port = grpc_server_add_http2_port(server, address.c_str(), credentials);
  grpc_server_credentials_release(credentials);
  return port;
}

grpc_ssl_certificate_config_reload_status TlsWatch::Fetch(void* listener, grpc_ssl_server_certificate_config** config) {
  Listener& asks = *static_cast<Listener*>(listener);
  const TlsWatch& watch = asks.watch;
  absl::MutexLock lock(&watch.mu_);
  if (asks.set == watch.sets_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  asks.set = watch.sets_;
  const TlsTexts& texts = watch.served_;
  const grpc_ssl_pem_key_cert_pair pair{texts.key.c_str(), texts.certificate.c_str()};
  // gRPC aborts without authorities, also where it asks for no client certificate and so never reads them.
  const std::string& authorities = texts.client_ca.empty() ? texts.certificate : texts.client_ca;
  *config = grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

absl::StatusOr<TlsTexts> TlsWatch::Read() const {
  TlsTexts texts;
  for (const auto& [path, text] :
       {std::pair(&files_.certificate, &texts.certificate), std::pair(&files_.key, &texts.key),
        std::pair(&files_.client_ca, &texts.client_ca)}) {
    if (path->empty()) continue;
    absl::StatusOr<std::string> read = ReadText(*path);
    if (!read.ok()) return read.status();
    *text = *std::move(read);
  }
  return texts;
}

absl::Status TlsWatch::Check(const TlsTexts& texts) const {
  const Owned<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  ERR_clear_error();
  const Owned<BIO> chain = Over(texts.certificate);
  const Owned<X509> own = NextCertificate(chain.get());
  if (own == nullptr || SSL_CTX_use_certificate(context.get(), own.get()) != 1)
    return Bad(files_.certificate, LastError());
  while (const Owned<X509> next = NextCertificate(chain.get()))
    if (SSL_CTX_add1_chain_cert(context.get(), next.get()) != 1) return Bad(files_.certificate, LastError());
  if (!AtEnd()) return Bad(files_.certificate, LastError());

  ERR_clear_error();
  const Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(Over(texts.key).get(), nullptr, NoPassword, nullptr),
                            EVP_PKEY_free);
  if (key == nullptr || SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1)
    return Bad(files_.key, LastError());

  if (files_.client_ca.empty()) return absl::OkStatus();
  ERR_clear_error();
  const Owned<BIO> authorities = Over(texts.client_ca);
  bool any = false;
  while (NextCertificate(authorities.get()) != nullptr) any = true;
  return any && AtEnd() ? absl::OkStatus() : Bad(files_.client_ca, LastError());
}

absl::StatusOr<bool> TlsWatch::Take() {
  absl::StatusOr<TlsTexts> texts = Read();
  if (!texts.ok()) return texts.status();
  const TlsTexts before = served();
  if (texts->certificate == before.certificate && texts->key == before.key && texts->client_ca == before.client_ca)
    return false;
  if (absl::Status status = Check(*texts); !status.ok()) return status;
  absl::MutexLock lock(&mu_);
  served_ = *std::move(texts);
  ++sets_;
  return true;
}

void TlsWatch::Reload() {
  const absl::StatusOr<bool> taken = Take();
  std::string problem;
  if (!taken.ok()) problem = absl::StrCat("the TLS files from before stay in use: ", taken.status().message());
  if (!problem.empty() && problem != this->problem()) log_({LogEvent::Level::kWarning, "message", problem, {}});
  if (taken.ok() && *taken) log_({LogEvent::Level::kInfo, "message", "renewed TLS files are in use", {}});
  absl::MutexLock lock(&mu_);
  problem_ = std::move(problem);
}

TlsTexts TlsWatch::served() const {
  absl::MutexLock lock(&mu_);
  return served_;
}

std::string TlsWatch::problem() const {
  absl::MutexLock lock(&mu_);
  return problem_;
}

}  // namespace tritond::server
