// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_STORE_REDIS_CONNECTION_H_
#define CACHE_STORE_REDIS_CONNECTION_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

struct redisContext;
struct redisReply;
struct ssl_ctx_st;
struct ssl_st;

namespace tritond::cache {

// PEM files and a name. They are read at each dial, so that renewed ones count from the next connection on.
struct RedisTls {
  std::string ca_file;           // authorities of the engine's certificates; empty: no TLS, and the rest must be empty
  std::string certificate_file;  // this daemon's certificate chain and its key, where the engine asks for one
  std::string key_file;
  std::string server_name;  // that every node's certificate must have; empty: each node's own host
};

using RedisReply = std::unique_ptr<redisReply, void (*)(redisReply*)>;

// One connection to a node, with or without TLS. For one thread at a time; calls block.
class RedisConnection final {
 public:
  using Command = std::vector<absl::string_view>;

  // InvalidArgument when a file cannot be used, the key is not the certificate's, or one of the two is missing.
  static absl::Status CheckTls(const RedisTls& tls);

  // `node` names the node in errors. Each wait for the node is bounded: `connect_timeout` while dialling and in the TLS
  // handshake, `call_timeout` after that. Unavailable when it is not reached; FailedPrecondition when its certificate
  // does not verify, or a file of `tls` cannot be used.
  static absl::StatusOr<std::unique_ptr<RedisConnection>> Dial(const std::string& node, const std::string& host,
                                                               int port, const RedisTls& tls,
                                                               absl::Duration connect_timeout,
                                                               absl::Duration call_timeout);

  // One round trip, with a reply for each command. Unavailable when the connection broke: then it is of no use any
  // more.
  absl::StatusOr<std::vector<RedisReply>> Exchange(absl::Span<const Command> commands);

 private:
  using Context = std::unique_ptr<redisContext, void (*)(redisContext*)>;
  using Ssl = std::unique_ptr<ssl_st, void (*)(ssl_st*)>;
  using SslContext = std::unique_ptr<ssl_ctx_st, void (*)(ssl_ctx_st*)>;

  RedisConnection(std::string node, Context context, Ssl ssl);
  static absl::StatusOr<SslContext> ReadFiles(const RedisTls& tls);
  static absl::StatusOr<Ssl> Handshake(const RedisTls& tls, const std::string& host, int descriptor);
  absl::Status Broken(absl::string_view why) const;
  absl::Status Send(const Command& command);
  // Reads until a reply is whole.
  absl::StatusOr<RedisReply> Receive();

  const std::string node_;
  Context context_;
  Ssl ssl_;  // null: no TLS. Ends before the context, which owns the socket.
};

}  // namespace tritond::cache

#endif  // CACHE_STORE_REDIS_CONNECTION_H_
