// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_RAW_CONNECTION_H_
#define TESTS_SUPPORT_RAW_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tritond::tests {

// A TCP connection to a port of this machine, which sends exactly the bytes that it is given.
class RawConnection final {
 public:
  RawConnection() = default;
  RawConnection(RawConnection&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  RawConnection& operator=(RawConnection&& other) noexcept;
  ~RawConnection();

  // False when nobody accepts it. `source`: the address of this end, 127.0.0.2 say.
  bool Dial(int port, const std::string& source = "127.0.0.1");
  // Gives up after half a minute without progress. False when the other end has closed the connection, or on that.
  bool Send(const std::string& bytes);
  // Reads until `text` has come, or the end of the connection, or `seconds` have passed; returns what has come.
  std::string ReadUntil(const std::string& text, double seconds);
  // Whether the other end has closed it.
  bool Closed();
  void Close();

 private:
  int fd_ = -1;
};

// HTTP/2, as bytes (RFC 9113).
namespace http2 {

using Headers = std::vector<std::pair<std::string, std::string>>;

inline constexpr uint8_t kData = 0, kHeaders = 1, kSettings = 4, kPing = 6, kContinuation = 9;
inline constexpr uint8_t kEndStream = 1, kEndHeaders = 4;

// What a client sends first: the preface and empty settings.
std::string Preface();
std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, const std::string& payload);
// A block of headers, none of them indexed or compressed.
std::string HeaderBlock(const Headers& headers);
// The headers of a gRPC call, and more.
Headers CallHeaders(const std::string& method, const Headers& more = {});
// A gRPC message; `compressed`: its flag.
std::string Message(const std::string& bytes, bool compressed = false);
// A whole unary call: headers, and its message in frames of 16 KiB.
std::string Call(uint32_t stream, const std::string& method, const std::string& message, const Headers& more = {});

}  // namespace http2

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_RAW_CONNECTION_H_
