// SPDX-License-Identifier: Apache-2.0
#include "server/app/tls_watch.h"

#include <fcntl.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kRefreshSeconds = 2;

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

absl::Status WriteText(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const bool written = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (fd >= 0) close(fd);
  if (!written) return absl::UnavailableError(absl::StrCat("tls: cannot write ", path, ": ", std::strerror(error)));
  return absl::OkStatus();
}

}  // namespace

TlsWatch::TlsWatch(TlsFiles files, std::string folder, LogSink log)
    : files_(std::move(files)), folder_(std::move(folder)), log_(std::move(log)) {}

absl::StatusOr<std::unique_ptr<TlsWatch>> TlsWatch::Open(TlsFiles files, std::string folder, LogSink log) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (mkdir(folder.c_str(), 0700) != 0)
    return absl::UnavailableError(absl::StrCat("tls: cannot make ", folder, ": ", std::strerror(errno)));
  std::unique_ptr<TlsWatch> watch(new TlsWatch(std::move(files), std::move(folder), std::move(log)));
  if (absl::StatusOr<bool> taken = watch->Take(); !taken.ok()) return taken.status();
  return watch;
}

TlsWatch::~TlsWatch() {
  std::error_code error;
  fs::remove_all(folder_, error);
}

std::shared_ptr<grpc::ServerCredentials> TlsWatch::MakeCredentials() const {
  using grpc::experimental::FileWatcherCertificateProvider;
  const std::string current = folder_ + "/current/";
  const bool asks = !files_.client_ca.empty();
  grpc::experimental::TlsServerCredentialsOptions options(std::make_shared<FileWatcherCertificateProvider>(
      current + "key", current + "certificate", asks ? current + "client_ca" : "", kRefreshSeconds));
  options.watch_identity_key_cert_pairs();
  if (asks) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(options);
}

absl::StatusOr<TlsWatch::Texts> TlsWatch::Read() const {
  Texts texts;
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

absl::Status TlsWatch::Check(const Texts& texts) const {
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

// gRPC reads key and certificate one after the other, so a set comes as a whole: by a link that is renamed. The set
// before it stays for whoever reads it now.
absl::Status TlsWatch::Publish(const Texts& texts) {
  const std::string set = absl::StrCat(sets_ + 1), path = absl::StrCat(folder_, "/", set), link = folder_ + "/next";
  std::error_code error;
  fs::remove_all(path, error);
  fs::remove(link, error);
  absl::Status status;
  if (mkdir(path.c_str(), 0700) != 0) status = absl::UnavailableError(absl::StrCat("tls: cannot make ", path));
  if (status.ok()) status = WriteText(path + "/certificate", texts.certificate);
  if (status.ok()) status = WriteText(path + "/key", texts.key);
  if (status.ok() && !files_.client_ca.empty()) status = WriteText(path + "/client_ca", texts.client_ca);
  if (!status.ok()) return status;
  const std::string current = folder_ + "/current";
  if (symlink(set.c_str(), link.c_str()) != 0 || rename(link.c_str(), current.c_str()) != 0)
    return absl::UnavailableError(absl::StrCat("tls: cannot write ", current, ": ", std::strerror(errno)));
  ++sets_;
  fs::remove_all(absl::StrCat(folder_, "/", sets_ - 2), error);
  return absl::OkStatus();
}

absl::StatusOr<bool> TlsWatch::Take() {
  absl::StatusOr<Texts> texts = Read();
  if (!texts.ok()) return texts.status();
  if (texts->certificate == served_.certificate && texts->key == served_.key && texts->client_ca == served_.client_ca)
    return false;
  absl::Status status = Check(*texts);
  if (status.ok()) status = Publish(*texts);
  if (!status.ok()) return status;
  served_ = *std::move(texts);
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

std::string TlsWatch::problem() const {
  absl::MutexLock lock(&mu_);
  return problem_;
}

}  // namespace tritond::server
