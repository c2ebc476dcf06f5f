// SPDX-License-Identifier: Apache-2.0
// hiredis before 1.0 has no TLS. It dials, writes commands as text and reads replies from text. With TLS the bytes in
// between go through OpenSSL, over the same socket with the same timeouts.
#include "cache/store/redis_connection.h"

#include <arpa/inet.h>
#include <hiredis/hiredis.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::cache {
namespace {

void FreeReply(redisReply* reply) { freeReplyObject(reply); }

// The reason of OpenSSL's first error in this thread, which is then forgotten.
std::string OpenSslReason() {
  const char* reason = ERR_reason_error_string(ERR_peek_error());
  ERR_clear_error();
  return reason == nullptr ? "no reason is known" : reason;
}

absl::Status WrongFile(absl::string_view what, const std::string& file) {
  return absl::InvalidArgumentError(absl::StrCat("TLS to the engine: ", what, " ", file, ": ", OpenSslReason()));
}

bool IsAddress(const std::string& host) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 || inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

}  // namespace

RedisConnection::RedisConnection(std::string node, Context context, Ssl ssl)
    : node_(std::move(node)), context_(std::move(context)), ssl_(std::move(ssl)) {}

absl::StatusOr<RedisConnection::SslContext> RedisConnection::ReadFiles(const RedisTls& tls) {
  if (tls.certificate_file.empty() != tls.key_file.empty())
    return absl::InvalidArgumentError("TLS to the engine: a certificate and its key go together");
  SslContext context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (context == nullptr) return absl::UnavailableError(absl::StrCat("TLS: ", OpenSslReason()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (SSL_CTX_load_verify_file(context.get(), tls.ca_file.c_str()) != 1)
    return WrongFile("the authorities of", tls.ca_file);
  if (tls.certificate_file.empty()) return context;
  if (SSL_CTX_use_certificate_chain_file(context.get(), tls.certificate_file.c_str()) != 1)
    return WrongFile("the certificate of", tls.certificate_file);
  if (SSL_CTX_use_PrivateKey_file(context.get(), tls.key_file.c_str(), SSL_FILETYPE_PEM) != 1)
    return WrongFile("the key of", tls.key_file);
  return context;
}

absl::Status RedisConnection::CheckTls(const RedisTls& tls) {
  if (!tls.ca_file.empty()) return ReadFiles(tls).status();
  if (tls.certificate_file.empty() && tls.key_file.empty() && tls.server_name.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("TLS to the engine needs the authorities of its certificates");
}

absl::StatusOr<RedisConnection::Ssl> RedisConnection::Handshake(const RedisTls& tls, const std::string& host,
                                                                int descriptor) {
  absl::StatusOr<SslContext> context = ReadFiles(tls);
  if (!context.ok()) return absl::FailedPreconditionError(context.status().message());
  Ssl ssl(SSL_new(context->get()), SSL_free);
  const std::string& name = tls.server_name.empty() ? host : tls.server_name;
  X509_VERIFY_PARAM* expected = SSL_get0_param(ssl.get());
  const bool set = IsAddress(name) ? X509_VERIFY_PARAM_set1_ip_asc(expected, name.c_str()) == 1
                                   : X509_VERIFY_PARAM_set1_host(expected, name.data(), name.size()) == 1 &&
                                         SSL_set_tlsext_host_name(ssl.get(), name.c_str()) == 1;
  if (!set || SSL_set_fd(ssl.get(), descriptor) != 1)
    return absl::UnavailableError(absl::StrCat("TLS: ", OpenSslReason()));
  if (SSL_connect(ssl.get()) == 1) return ssl;
  const long verified = SSL_get_verify_result(ssl.get());  // NOLINT(google-runtime-int): OpenSSL's
  if (verified != X509_V_OK) {
    ERR_clear_error();
    return absl::FailedPreconditionError(
        absl::StrCat("TLS: the certificate is not good for ", name, ": ", X509_verify_cert_error_string(verified)));
  }
  return absl::UnavailableError(
      absl::StrCat("TLS: the handshake failed: ",
                   ERR_peek_error() == 0 ? "the node broke off, or did not answer in time" : OpenSslReason()));
}

absl::StatusOr<std::unique_ptr<RedisConnection>> RedisConnection::Dial(const std::string& node, const std::string& host,
                                                                       int port, const RedisTls& tls,
                                                                       absl::Duration connect_timeout,
                                                                       absl::Duration call_timeout) {
  const auto failed = [&](absl::string_view why) {
    return absl::UnavailableError(absl::StrCat("redis ", node, ": ", why));
  };
  Context context(redisConnectWithTimeout(host.c_str(), port, absl::ToTimeval(connect_timeout)), redisFree);
  if (context == nullptr) return failed("out of memory");
  if (context->err != 0) return failed(context->errstr);
  Ssl ssl(nullptr, SSL_free);
  if (!tls.ca_file.empty()) {
    redisSetTimeout(context.get(), absl::ToTimeval(connect_timeout));
    absl::StatusOr<Ssl> shaken = Handshake(tls, host, context->fd);
    if (absl::IsFailedPrecondition(shaken.status())) return shaken.status();
    if (!shaken.ok()) return failed(shaken.status().message());
    ssl = *std::move(shaken);
  }
  redisSetTimeout(context.get(), absl::ToTimeval(call_timeout));
  redisEnableKeepAlive(context.get());
  return std::unique_ptr<RedisConnection>(new RedisConnection(node, std::move(context), std::move(ssl)));
}

absl::Status RedisConnection::Broken(absl::string_view why) const {
  return absl::UnavailableError(absl::StrCat("redis ", node_, ": ", why));
}

absl::Status RedisConnection::Send(const Command& command) {
  std::vector<const char*> words;
  std::vector<size_t> sizes;
  for (absl::string_view word : command) {
    words.push_back(word.data());
    sizes.push_back(word.size());
  }
  if (ssl_ == nullptr) {
    redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), words.data(), sizes.data());
    return absl::OkStatus();
  }
  char* text = nullptr;
  const int size = redisFormatCommandArgv(&text, static_cast<int>(words.size()), words.data(), sizes.data());
  if (size < 0) return Broken("out of memory");
  const bool sent = SSL_write(ssl_.get(), text, size) == size;  // All of it: partial writes are not enabled.
  redisFreeCommand(text);
  if (sent) return absl::OkStatus();
  ERR_clear_error();
  return Broken("the connection broke while a command was sent");
}

absl::StatusOr<RedisReply> RedisConnection::Receive() {
  void* reply = nullptr;
  if (ssl_ == nullptr) {
    if (redisGetReply(context_.get(), &reply) != REDIS_OK) return Broken(context_->errstr);
    return RedisReply(static_cast<redisReply*>(reply), FreeReply);
  }
  char bytes[16384];
  while (true) {
    if (redisReaderGetReply(context_->reader, &reply) != REDIS_OK) return Broken(context_->reader->errstr);
    if (reply != nullptr) return RedisReply(static_cast<redisReply*>(reply), FreeReply);
    const int got = SSL_read(ssl_.get(), bytes, sizeof(bytes));
    if (got <= 0) {
      const bool late = SSL_get_error(ssl_.get(), got) == SSL_ERROR_WANT_READ;
      ERR_clear_error();
      return Broken(late ? "no answer in time" : "the connection broke");
    }
    redisReaderFeed(context_->reader, bytes, got);
  }
}

absl::StatusOr<std::vector<RedisReply>> RedisConnection::Exchange(absl::Span<const Command> commands) {
  for (const Command& command : commands) {
    if (absl::Status sent = Send(command); !sent.ok()) return sent;
  }
  std::vector<RedisReply> replies;
  while (replies.size() < commands.size()) {
    absl::StatusOr<RedisReply> reply = Receive();
    if (!reply.ok()) return reply.status();
    replies.push_back(*std::move(reply));
  }
  return replies;
}

}  // namespace tritond::cache
