// SPDX-License-Identifier: Apache-2.0
#include "server/redis/redis_server.h"

#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <list>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "server/redis/redis_session.h"
#include "timing/steady/steady_time.h"

namespace tritond::server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr int kDiskThreads = 4;
constexpr std::chrono::seconds kSweep{1};

uint64_t MemoryOf(const RedisLimits& limits) { return std::max(limits.memory_bytes, 2 * limits.request_bytes); }

// Nobody is there who could type a password.
std::string NoPassword(size_t, asio::ssl::context::password_purpose) { return ""; }

// Null, with `error`, when OpenSSL does not take the texts.
std::shared_ptr<asio::ssl::context> MakeContext(const RedisTls& tls, error_code* error) {
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  // Each connection shows who it is: none goes on with what an earlier one has shown.
  SSL_CTX_set_session_cache_mode(context->native_handle(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  context->set_password_callback(NoPassword, *error);
  if (!*error) context->use_certificate_chain(asio::buffer(tls.certificate), *error);
  if (!*error) context->use_private_key(asio::buffer(tls.key), asio::ssl::context::pem, *error);
  if (!*error && !tls.client_ca.empty()) {
    context->add_certificate_authority(asio::buffer(tls.client_ca), *error);
    // A certificate, when one comes, must be of the authority.
    if (!*error) context->set_verify_mode(asio::ssl::verify_peer, *error);
  }
  return *error ? nullptr : context;
}

}  // namespace

class RedisServer::Loop {
 public:
  Loop(ValueStore& values, const AccessPolicy& access, prometheus::Registry& registry, std::string version,
       const RedisLimits& limits)
      : most_(limits.connections),
        metrics_(registry, RedisClient::CommandNames()),
        budget_(MemoryOf(limits)),
        parts_{values, access, metrics_, budget_, limits.request_bytes, std::move(version)},
        server_{parts_, limits.times, disk_threads_, waiting_, open_} {
    metrics_.connections_limit.Set(static_cast<double>(most_));
    Sweep();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Loop() {
    disk_threads_.stop();
    disk_threads_.join();
    io_.stop();
    thread_.join();
  }

  void Welcome(int fd, RedisPeer peer) {
    RedisSession::Socket socket(io_);
    error_code error;
    socket.assign(asio::generic::stream_protocol(AF_INET, 0), fd, error);
    if (error) {  // For want of memory.
      close(fd);
      return;
    }
    asio::post(io_, [this, socket = std::move(socket), peer = std::move(peer)]() mutable {
      Serve(std::move(socket), std::move(peer));
    });
  }
  void UseTls(std::shared_ptr<asio::ssl::context> context) {
    absl::MutexLock lock(&mu_);
    tls_.swap(context);
  }
  const RedisParts& parts() const { return parts_; }

 private:
  void Serve(RedisSession::Socket socket, RedisPeer peer) {
    if (open_ >= most_) {
      if (waiting_.empty()) return;
      OneToDrop()->Drop(RedisMetrics::Reason::kRoom);
    }
    std::shared_ptr<asio::ssl::context> tls;
    {
      absl::MutexLock lock(&mu_);
      tls = tls_;
    }
    // Keeps itself.
    std::make_shared<RedisSession>(std::move(socket), ++last_id_, std::move(peer), std::move(tls), server_)->Start();
  }
  RedisSession* OneToDrop() const {
    absl::flat_hash_map<absl::string_view, int> counts;
    int most = 0;
    for (const RedisSession* session : waiting_) most = std::max(most, ++counts[session->peer_group()]);
    return *std::find_if(waiting_.begin(), waiting_.end(),
                         [&](const RedisSession* session) { return counts[session->peer_group()] == most; });
  }
  void Sweep() {
    const absl::Time now = timing::SteadyNow();
    const std::list<RedisSession*> waiting = waiting_;
    for (RedisSession* session : waiting) {
      if (const auto reason = session->Overdue(now)) session->Drop(*reason);
    }
    sweep_.expires_after(kSweep);
    sweep_.async_wait([this](const error_code& error) {
      if (!error) Sweep();
    });
  }

  // What connections use comes before what holds them.
  const size_t most_;
  RedisMetrics metrics_;
  ByteBudget budget_;
  const RedisParts parts_;
  std::list<RedisSession*> waiting_;
  std::atomic<size_t> open_{0};
  uint64_t last_id_ = 0;
  absl::Mutex mu_;
  std::shared_ptr<asio::ssl::context> tls_ ABSL_GUARDED_BY(mu_);  // Shared with connections. Null: plain.
  RedisSession::Server server_;
  asio::io_context io_{1};
  asio::steady_timer sweep_{io_};
  asio::thread_pool disk_threads_{kDiskThreads};
  std::thread thread_;
};

RedisServer::RedisServer(ValueStore& values, const AccessPolicy& access, prometheus::Registry& registry,
                         std::string version, const RedisLimits& limits)
    : loop_(std::make_unique<Loop>(values, access, registry, std::move(version), limits)) {}

RedisServer::~RedisServer() = default;

absl::Status RedisServer::UseTls(const RedisTls& tls) {
  error_code error;
  std::shared_ptr<asio::ssl::context> context = MakeContext(tls, &error);
  if (context == nullptr) return absl::InvalidArgumentError(absl::StrCat("redis: tls: ", error.message()));
  loop_->UseTls(std::move(context));
  return absl::OkStatus();
}

void RedisServer::Welcome(int fd, RedisPeer peer) { loop_->Welcome(fd, std::move(peer)); }

uint64_t RedisServer::requests() const { return loop_->parts().metrics.requests(); }

void RedisServer::ShowState() {
  const RedisParts& parts = loop_->parts();
  parts.metrics.memory_bytes.Set(static_cast<double>(parts.budget.held()));
  parts.metrics.stored_bytes.Set(static_cast<double>(parts.values.size_bytes()));
  parts.metrics.entries.Set(static_cast<double>(parts.values.size()));
}

}  // namespace tritond::server
