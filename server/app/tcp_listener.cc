// SPDX-License-Identifier: Apache-2.0
#include "server/app/tcp_listener.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

constexpr int kBacklog = 4096;
// What has been sent and is not confirmed for so long ends a connection.
constexpr int kUnconfirmedMs = 5000;

void Set(int fd, int level, int option, int value) { setsockopt(fd, level, option, &value, sizeof(value)); }

bool IsWildcard(const sockaddr* address) {
  if (address->sa_family == AF_INET)
    return reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr == htonl(INADDR_ANY);
  return IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

void SetPort(sockaddr_storage* address, int port) {
  const in_port_t network = htons(static_cast<uint16_t>(port));
  if (address->ss_family == AF_INET) reinterpret_cast<sockaddr_in*>(address)->sin_port = network;
  if (address->ss_family == AF_INET6) reinterpret_cast<sockaddr_in6*>(address)->sin6_port = network;
}

int PortOf(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET ? reinterpret_cast<sockaddr_in*>(&address)->sin_port
                                            : reinterpret_cast<sockaddr_in6*>(&address)->sin6_port);
}

// None when it cannot be had; errno says why.
Descriptor ListenOn(const sockaddr_storage& address, socklen_t size, bool both_families) {
  Descriptor listening(socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (listening.get() < 0) return listening;
  Set(listening.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.ss_family == AF_INET6) Set(listening.get(), IPPROTO_IPV6, IPV6_V6ONLY, both_families ? 0 : 1);
  if (bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
      listen(listening.get(), kBacklog) == 0)
    return listening;
  return Descriptor();
}

Descriptor ListenOnAll(int port) {
  sockaddr_storage all{};
  all.ss_family = AF_INET6;
  SetPort(&all, port);
  return ListenOn(all, sizeof(sockaddr_in6), /*both_families=*/true);
}

const in6_addr* AsIpv6(const sockaddr_storage& address) {
  return address.ss_family == AF_INET6 ? &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr : nullptr;
}

// Of an IPv4 address, also as a socket of both families has it; else nothing.
std::string Ipv4Text(const sockaddr_storage& address) {
  char text[INET_ADDRSTRLEN] = "";
  const in6_addr* ipv6 = AsIpv6(address);
  if (address.ss_family == AF_INET)
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text, sizeof(text));
  if (ipv6 != nullptr && IN6_IS_ADDR_V4MAPPED(ipv6)) inet_ntop(AF_INET, ipv6->s6_addr + 12, text, sizeof(text));
  return text;
}

int PortIn(const sockaddr_storage& address) {
  return ntohs(address.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(address).sin_port
                                            : reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
}

}  // namespace

absl::StatusOr<TcpSockets> ListenOnTcp(const std::string& address) {
  const auto failed = [&address](absl::string_view why) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address, ": ", why, " (is another tritond running?)"));
  };
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return failed("it is no HOST:PORT");
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error =
      getaddrinfo(host.empty() ? nullptr : host.c_str(), address.substr(colon + 1).c_str(), &hints, &list);
  if (error != 0) return failed(gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(list, freeaddrinfo);
  TcpSockets sockets;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    sockaddr_storage wanted{};
    std::memcpy(&wanted, each->ai_addr, each->ai_addrlen);
    if (sockets.port != 0) SetPort(&wanted, sockets.port);
    const bool wildcard = IsWildcard(each->ai_addr);
    Descriptor listening = wildcard ? ListenOnAll(PortIn(wanted)) : Descriptor();
    const bool all = listening.get() >= 0;
    if (!all) listening = ListenOn(wanted, each->ai_addrlen, /*both_families=*/false);
    if (listening.get() < 0) continue;
    sockets.port = PortOf(listening.get());
    sockets.listening.push_back(std::move(listening));
    if (all) break;
  }
  if (sockets.listening.empty()) return failed(std::strerror(errno));
  return sockets;
}

std::string PeerName(const sockaddr_storage& address) {
  const std::string ipv4 = Ipv4Text(address);
  if (!ipv4.empty()) return absl::StrCat("ipv4:", ipv4, ":", PortIn(address));
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(AF_INET6, AsIpv6(address), text, sizeof(text));
  return absl::StrCat("ipv6:%5B", text, "%5D:", PortIn(address));
}

std::string PeerGroup(const sockaddr_storage& address) {
  const std::string ipv4 = Ipv4Text(address);
  if (!ipv4.empty()) return ipv4;
  const in6_addr* ipv6 = AsIpv6(address);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(ipv6->s6_addr), 8));
}

TcpListener::TcpListener(TcpSockets sockets, Connections& connections, HandOver hand_over)
    : connections_(connections),
      hand_over_(std::move(hand_over)),
      first_(sockets.listening.front().get()),
      loop_(std::move(sockets.listening), {[this](Descriptor connection) { Welcome(std::move(connection)); },
                                           [this] { connections_.NoteExhausted(); }}) {}

void TcpListener::Welcome(Descriptor connection) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getpeername(connection.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return;  // Gone again.
  Set(connection.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  Set(connection.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, kUnconfirmedMs);
  connections_.Welcome(std::move(connection), PeerName(address), PeerGroup(address),
                       [this](int fd) { hand_over_(first_, fd); });
}

}  // namespace tritond::server
