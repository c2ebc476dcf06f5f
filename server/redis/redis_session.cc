// SPDX-License-Identifier: Apache-2.0
// A connection goes round in a circle: Read, Parse, Execute, Write, and Parse again, until all that was read is
// answered. It waits for its peer (Read, Write; it is in Server::waiting then), for the disk (Execute), or for memory
// (AwaitRoom).
#include "server/redis/redis_session.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "timing/steady/steady_time.h"
#include "timing/turns/turns.h"

namespace tritond::server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr size_t kBufferBytes = 16 << 10;
constexpr size_t kMostBuffers = 16;  // of one write
constexpr absl::Duration kLinger = absl::Seconds(2);
// Who has waited longer for room tries less often: each try costs a look at the disk.
constexpr absl::Duration kLeastRetry = absl::Milliseconds(5), kMostRetry = absl::Milliseconds(250);

// The common name of the certificate that the peer has shown; none: it has shown none.
std::vector<std::string> CommonNames(SSL* ssl) {
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(ssl), X509_free);
  if (certificate == nullptr || SSL_get_verify_result(ssl) != X509_V_OK) return {};
  std::vector<std::string> names;
  const X509_NAME* subject = X509_get_subject_name(certificate.get());
  for (int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) {
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    if (size >= 0) names.emplace_back(reinterpret_cast<const char*>(text), static_cast<size_t>(size));
    OPENSSL_free(text);
  }
  return names;
}

Credentials CredentialsOf(const RedisPeer& peer, bool tls) {
  Credentials credentials;
  credentials.encrypted = tls || peer.local;  // Nobody on the way can read it.
  return credentials;
}

}  // namespace

RedisSession::RedisSession(Socket socket, uint64_t id, RedisPeer peer, std::shared_ptr<asio::ssl::context> tls,
                           Server& server)
    : tls_context_(std::move(tls)),
      socket_(std::move(socket)),
      server_(server),
      peer_(std::move(peer)),
      client_(server.parts, id, CredentialsOf(peer_, tls_context_ != nullptr)),
      retry_(socket_.get_executor()),
      buffer_(kBufferBytes, '\0') {
  if (tls_context_ != nullptr) tls_.emplace(socket_, *tls_context_);
  server_.parts.metrics.connections.Set(static_cast<double>(++server_.open));
}

RedisSession::~RedisSession() {
  EndWaiting();
  server_.parts.metrics.connections.Set(static_cast<double>(--server_.open));
}

void RedisSession::Start() {
  if (!tls_.has_value()) return Read();
  BeginWaiting(Phase::kHandshake);
  tls_->async_handshake(asio::ssl::stream_base::server,
                        [self = shared_from_this()](const error_code& error) { self->OnHandshake(error); });
}

void RedisSession::OnHandshake(const error_code& error) {
  EndWaiting();
  if (error) return;
  client_.SetCommonNames(CommonNames(tls_->native_handle()));
  Read();
}

void RedisSession::BeginWaiting(Phase phase) {
  phase_ = phase;
  since_ = timing::SteadyNow();
  place_ = server_.waiting.insert(server_.waiting.end(), this);
}

void RedisSession::EndWaiting() {
  if (place_.has_value()) server_.waiting.erase(*place_);
  place_.reset();
}

void RedisSession::Drop(Reason reason) {
  EndWaiting();
  // At the end of what it asked for it goes by itself.
  if (phase_ != Phase::kClosing) server_.parts.metrics.CountClosed(reason);
  error_code ignored;
  socket_.close(ignored);
}

std::optional<RedisMetrics::Reason> RedisSession::Overdue(absl::Time now) const {
  const absl::Duration waits = now - since_;
  switch (phase_) {
    case Phase::kIdle:
      return waits > server_.times.idle ? std::optional(Reason::kIdle) : std::nullopt;
    case Phase::kClosing:
      return waits > kLinger ? std::optional(Reason::kStalled) : std::nullopt;
    default:
      return waits > server_.times.stalled ? std::optional(Reason::kStalled) : std::nullopt;
  }
}

void RedisSession::Read() {
  BeginWaiting(parser_.in_request() ? Phase::kRequest : Phase::kIdle);
  const absl::Span<char> tail = parser_.Tail();
  const bool into_tail = !tail.empty();
  const asio::mutable_buffer to = into_tail ? asio::buffer(tail.data(), tail.size()) : asio::buffer(buffer_);
  auto read = [self = shared_from_this(), into_tail](const error_code& error, size_t bytes) {
    self->OnRead(error, bytes, into_tail);
  };
  if (tls_.has_value()) {
    tls_->async_read_some(to, std::move(read));
  } else {
    socket_.async_read_some(to, std::move(read));
  }
}

void RedisSession::OnRead(const error_code& error, size_t bytes, bool into_tail) {
  EndWaiting();
  if (error) return;
  server_.parts.metrics.received_bytes.Increment(static_cast<double>(bytes));
  if (into_tail) {
    parser_.FillTail(bytes);
  } else {
    input_ = absl::string_view(buffer_.data(), bytes);
  }
  Parse();
}

void RedisSession::Parse() {
  phase_ = Phase::kRunning;
  while (true) {
    const RequestParser::State state = parser_.Read(&input_);
    if (state == RequestParser::State::kRequest) {
      requests_.push_back(parser_.Take());
      continue;
    }
    // Who may have how much room depends on what the requests before do.
    if (!requests_.empty()) return Execute();
    if (state == RequestParser::State::kNeedsBytes) return Read();
    if (state == RequestParser::State::kMalformed) return RefuseMalformed();
    if (!MakeRoomForRequest()) return AwaitRoom(&RedisSession::Parse);
  }
}

bool RedisSession::MakeRoomForRequest() {
  const uint64_t needed = parser_.needed_bytes(), limit = client_.RequestLimit();
  if (needed > limit) {
    SkipRequest(RedisRequest::Kind::kTooLarge);
    return true;
  }
  // Twice as much each time, so that many words do not take many turns.
  const uint64_t room = std::max(needed, std::min(2 * held_bytes_, limit));
  std::optional<ByteBudget::Hold> hold = server_.parts.budget.Take(room - held_bytes_);
  if (!hold.has_value()) {
    if (!without_room_) return false;
    SkipRequest(RedisRequest::Kind::kNoRoom);
    return true;
  }
  if (request_holds_.empty()) held_since_ = timing::SteadyNow();
  request_holds_.push_back(*std::move(hold));
  held_bytes_ = room;
  parser_.GiveRoom(room);
  EndAwaitingRoom();
  return true;
}

void RedisSession::SkipRequest(RedisRequest::Kind kind) {
  parser_.Skip(kind);
  request_holds_.clear();
  held_bytes_ = 0;
  EndAwaitingRoom();
}

void RedisSession::Execute() {
  const bool may_block = std::any_of(requests_.begin() + static_cast<std::ptrdiff_t>(next_), requests_.end(),
                                     [](const RedisRequest& request) { return RedisClient::MayBlock(request); });
  if (!may_block) return OnRun(RunRequests());
  asio::post(server_.disk_threads, [self = shared_from_this()]() mutable {
    thread_local const bool gives_way = (timing::GiveWay(), true);  // Each of these threads, once.
    static_cast<void>(gives_way);
    const RedisClient::Progress progress = self->RunRequests();
    const auto sockets = self->socket_.get_executor();
    asio::post(sockets, [self = std::move(self), progress] { self->OnRun(progress); });  // Its end is there too.
  });
}

RedisClient::Progress RedisSession::RunRequests() {
  while (next_ < requests_.size() && !client_.ends() && answer_.out.size_bytes() < RedisClient::kFlushBytes) {
    const RedisClient::Progress progress = client_.Run(requests_[next_], without_room_, &answer_);
    if (progress != RedisClient::Progress::kDone) return progress;
    requests_[next_].words = {};  // And its memory.
    ++next_;
  }
  return RedisClient::Progress::kDone;
}

void RedisSession::OnRun(RedisClient::Progress progress) {
  if (!socket_.is_open()) return;
  const bool no_room = progress == RedisClient::Progress::kNoRoom;
  if (!no_room) EndAwaitingRoom();
  pieces_ = answer_.out.Take();
  if (pieces_.empty() && no_room) return AwaitRoom(&RedisSession::Execute);
  if (pieces_.empty()) return AfterAnswers();
  if (request_holds_.empty() && !answer_.holds.empty()) held_since_ = timing::SteadyNow();
  piece_ = offset_ = 0;
  Write();
}

void RedisSession::Write() {
  std::vector<asio::const_buffer> buffers;
  for (size_t i = piece_, skip = offset_; i < pieces_.size() && buffers.size() < kMostBuffers; ++i, skip = 0)
    buffers.emplace_back(pieces_[i].data() + skip, pieces_[i].size() - skip);
  BeginWaiting(Phase::kAnswer);
  auto written = [self = shared_from_this()](const error_code& error, size_t bytes) { self->OnWritten(error, bytes); };
  if (tls_.has_value()) {
    tls_->async_write_some(buffers, std::move(written));
  } else {
    socket_.async_write_some(buffers, std::move(written));
  }
}

void RedisSession::OnWritten(const error_code& error, size_t bytes) {
  EndWaiting();
  if (error) return;
  server_.parts.metrics.sent_bytes.Increment(static_cast<double>(bytes));
  offset_ += bytes;
  while (piece_ < pieces_.size() && offset_ >= pieces_[piece_].size()) offset_ -= pieces_[piece_++].size();
  if (piece_ < pieces_.size()) return Write();
  pieces_.clear();
  answer_.holds.clear();
  AfterAnswers();
}

void RedisSession::AfterAnswers() {
  phase_ = Phase::kRunning;
  if (client_.ends() || (!parser_.problem().empty() && requests_.empty())) {
    error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    BeginWaiting(Phase::kClosing);
    return Linger();
  }
  if (next_ < requests_.size()) return Execute();
  requests_.clear();
  next_ = 0;
  // Those of a request that is being read were taken after the others were done.
  request_holds_.clear();
  held_bytes_ = 0;
  Parse();
}

void RedisSession::AwaitRoom(void (RedisSession::*retry)()) {
  const absl::Time now = timing::SteadyNow();
  if (room_since_ == absl::InfinitePast()) room_since_ = now;
  const absl::Duration waited = now - room_since_;
  without_room_ = waited >= server_.times.room;
  if (waited >= server_.times.waited) DropLongestHolder();
  retry_.expires_after(absl::ToChronoMilliseconds(std::clamp(waited / 4, kLeastRetry, kMostRetry)));
  retry_.async_wait([self = shared_from_this(), retry](const error_code& error) {
    if (!error && self->socket_.is_open()) ((*self).*retry)();
  });
}

void RedisSession::EndAwaitingRoom() {
  room_since_ = absl::InfinitePast();
  without_room_ = false;
}

void RedisSession::DropLongestHolder() {
  const absl::Time now = timing::SteadyNow();
  RedisSession* longest = nullptr;
  for (RedisSession* other : server_.waiting) {
    const bool holds = !other->request_holds_.empty() || !other->answer_.holds.empty();
    if (!holds || now - other->held_since_ < server_.times.held) continue;
    if (longest == nullptr || other->held_since_ < longest->held_since_) longest = other;
  }
  if (longest != nullptr) longest->Drop(Reason::kMemory);
}

void RedisSession::RefuseMalformed() {
  server_.parts.metrics.CountClosed(Reason::kMalformed);
  answer_.out.Error(absl::StrCat("ERR Protocol error: ", parser_.problem()));
  pieces_ = answer_.out.Take();
  piece_ = offset_ = 0;
  Write();
}

// Closing a socket with unread bytes takes the last answer away from the peer, so what still comes is read for a while.
void RedisSession::Linger() {
  socket_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](const error_code& error, size_t) {
    if (error) return self->EndWaiting();
    self->Linger();
  });
}

}  // namespace tritond::server
