// SPDX-License-Identifier: Apache-2.0
#include "client/cc/http_probe.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace tritond::client {
namespace {

constexpr timeval kLimit{1, 0};
constexpr absl::string_view kRequest = "GET / HTTP/1.0\r\n\r\n";
constexpr absl::string_view kAnswer = "HTTP/1.";

bool AnswersHttp(const addrinfo& at) {
  const int peer = socket(at.ai_family, at.ai_socktype, at.ai_protocol);
  if (peer < 0) return false;
  for (const int which : {SO_SNDTIMEO, SO_RCVTIMEO}) setsockopt(peer, SOL_SOCKET, which, &kLimit, sizeof(kLimit));
  char answer[kAnswer.size()];
  const bool answers =
      connect(peer, at.ai_addr, at.ai_addrlen) == 0 &&
      send(peer, kRequest.data(), kRequest.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(kRequest.size()) &&
      recv(peer, answer, sizeof(answer), MSG_WAITALL) == static_cast<ssize_t>(sizeof(answer)) &&
      absl::string_view(answer, sizeof(answer)) == kAnswer;
  close(peer);
  return answers;
}

}  // namespace

bool AnswersHttp(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || absl::StartsWith(address, "unix:")) return false;
  const std::string port = address.substr(colon + 1);
  const std::string host(absl::StripPrefix(absl::StripSuffix(address.substr(0, colon), "]"), "["));
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return false;
  const bool answers = AnswersHttp(*found);
  freeaddrinfo(found);
  return answers;
}

}  // namespace tritond::client
