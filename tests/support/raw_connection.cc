// SPDX-License-Identifier: Apache-2.0
#include "tests/support/raw_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

namespace tritond::tests {
namespace {

constexpr int kSendTimeoutMs = 30000;

sockaddr_in Address(const std::string& host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

}  // namespace

RawConnection& RawConnection::operator=(RawConnection&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

RawConnection::~RawConnection() { Close(); }

void RawConnection::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

bool RawConnection::Dial(int port, const std::string& source) {
  Close();
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in from = Address(source, 0), to = Address("127.0.0.1", port);
  return fd_ >= 0 && bind(fd_, reinterpret_cast<const sockaddr*>(&from), sizeof(from)) == 0 &&
         connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0;
}

bool RawConnection::Send(const std::string& bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    pollfd ready{fd_, POLLOUT, 0};
    if (poll(&ready, 1, kSendTimeoutMs) <= 0) return false;
    const ssize_t now = send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (now <= 0) return false;
    sent += static_cast<size_t>(now);
  }
  return true;
}

std::string RawConnection::ReadUntil(const std::string& text, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::string all;
  while (all.find(text) == std::string::npos) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd ready{fd_, POLLIN, 0};
    if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) return all;
    char buffer[16384];
    const ssize_t got = recv(fd_, buffer, sizeof(buffer), 0);
    if (got <= 0) return all;
    all.append(buffer, static_cast<size_t>(got));
  }
  return all;
}

bool RawConnection::Closed() {
  char buffer[16384];
  ssize_t got;
  while ((got = recv(fd_, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0) {
  }
  return got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

namespace http2 {
namespace {

constexpr size_t kFrameBytes = 16384;

void AppendBigEndian(uint64_t value, int bytes, std::string* out) {
  for (int i = bytes - 1; i >= 0; --i) out->push_back(static_cast<char>(value >> (8 * i)));
}

// HPACK's integer after a prefix of seven bits, and the text.
void AppendText(const std::string& text, std::string* out) {
  size_t rest = text.size();
  if (rest < 127) {
    out->push_back(static_cast<char>(rest));
  } else {
    out->push_back(127);
    for (rest -= 127; rest >= 128; rest >>= 7) out->push_back(static_cast<char>(128 | (rest & 127)));
    out->push_back(static_cast<char>(rest));
  }
  *out += text;
}

}  // namespace

std::string Preface() { return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(kSettings, 0, 0, ""); }

std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, const std::string& payload) {
  std::string frame;
  AppendBigEndian(payload.size(), 3, &frame);
  frame.push_back(static_cast<char>(type));
  frame.push_back(static_cast<char>(flags));
  AppendBigEndian(stream, 4, &frame);
  return frame + payload;
}

std::string HeaderBlock(const Headers& headers) {
  std::string block;
  for (const auto& [name, value] : headers) {
    block.push_back(0);
    AppendText(name, &block);
    AppendText(value, &block);
  }
  return block;
}

Headers CallHeaders(const std::string& method, const Headers& more) {
  Headers headers{{":method", "POST"},         {":scheme", "http"}, {":path", method},
                  {":authority", "localhost"}, {"te", "trailers"},  {"content-type", "application/grpc"}};
  headers.insert(headers.end(), more.begin(), more.end());
  return headers;
}

std::string Message(const std::string& bytes, bool compressed) {
  std::string message(1, compressed ? 1 : 0);
  AppendBigEndian(bytes.size(), 4, &message);
  return message + bytes;
}

std::string Call(uint32_t stream, const std::string& method, const std::string& message, const Headers& more) {
  std::string call = Frame(kHeaders, kEndHeaders, stream, HeaderBlock(CallHeaders(method, more)));
  for (size_t at = 0; at < message.size(); at += kFrameBytes) {
    const bool last = at + kFrameBytes >= message.size();
    call += Frame(kData, last ? kEndStream : 0, stream, message.substr(at, kFrameBytes));
  }
  return call;
}

}  // namespace http2
}  // namespace tritond::tests
