// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/dial_target.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tritond::workers {
namespace {

// An IPv4 address as IPv6 has it: a list of gRPC's is of one family.
std::string InIpv6(const std::string& address) {
  const bool ipv6 = absl::StrContains(address, ':');
  return absl::StrCat(ipv6 ? "[" : "[::ffff:", absl::StrReplaceAll(address, {{"%", "%25"}}), "]");
}

DialTarget ShuffleList(const std::string& server, std::mt19937& random) {
  std::vector<std::string> entries = absl::StrSplit(absl::string_view(server).substr(5), ',');
  std::shuffle(entries.begin(), entries.end(), random);
  return {absl::StrCat(server.substr(0, 5), absl::StrJoin(entries, ",")), ""};
}

bool IsAddress(const std::string& host) {
  unsigned char address[sizeof(in6_addr)];
  return inet_pton(AF_INET, host.c_str(), address) == 1 || inet_pton(AF_INET6, host.c_str(), address) == 1;
}

// The port of "ADDRESS:PORT" or "[ADDRESS]:PORT"; 0 for anything else, a name among it.
uint16_t PortOf(absl::string_view entry) {
  const size_t colon = entry.rfind(':');
  uint32_t port = 0;
  if (colon == absl::string_view::npos || !absl::SimpleAtoi(entry.substr(colon + 1), &port) || port > 65535) return 0;
  absl::string_view host = entry.substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  host = host.substr(0, host.find('%'));
  return IsAddress(std::string(host)) ? static_cast<uint16_t>(port) : 0;
}

}  // namespace

std::vector<std::string> ResolveHost(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &first) != 0) return {};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(first, freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* entry = first; entry != nullptr; entry = entry->ai_next) {
    char text[NI_MAXHOST];
    if (getnameinfo(entry->ai_addr, entry->ai_addrlen, text, sizeof(text), nullptr, 0, NI_NUMERICHOST) == 0)
      addresses.emplace_back(text);
  }
  return addresses;
}

DialTarget ShuffleAddresses(const std::string& server, const Resolver& resolve, std::mt19937& random) {
  if (absl::StartsWith(server, "ipv4:") || absl::StartsWith(server, "ipv6:")) return ShuffleList(server, random);
  absl::string_view name = server;
  if (!absl::ConsumePrefix(&name, "dns:///")) absl::ConsumePrefix(&name, "dns:");
  const std::vector<std::string> parts = absl::StrSplit(name, ':');
  const bool has_port =
      parts.size() == 2 && !parts[1].empty() && std::all_of(parts[1].begin(), parts[1].end(), absl::ascii_isdigit);
  if (!has_port || absl::StrContains(parts[0], '/')) return {server, ""};
  std::vector<std::string> addresses = resolve(parts[0]);
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  if (addresses.empty() || (addresses.size() == 1 && addresses[0] == parts[0])) return {server, ""};
  for (std::string& address : addresses) address = absl::StrCat(InIpv6(address), ":", parts[1]);
  std::shuffle(addresses.begin(), addresses.end(), random);
  return {absl::StrCat("ipv6:", absl::StrJoin(addresses, ",")), std::string(name)};
}

Reach ReachOf(const DialTarget& dial, bool proxied) {
  Reach reach;
  absl::string_view target = dial.target;
  if (absl::StartsWith(target, "unix-abstract:")) {
    reach.abstract_sockets = true;
    return reach;
  }
  if (absl::ConsumePrefix(&target, "unix:")) {
    absl::ConsumePrefix(&target, "//");
    reach.sockets.emplace_back(target);
    return reach;
  }
  if (!absl::ConsumePrefix(&target, "ipv4:")) absl::ConsumePrefix(&target, "ipv6:");
  for (const absl::string_view entry : absl::StrSplit(target, ',')) {
    reach.tcp_ports.push_back(PortOf(entry));
    if (reach.tcp_ports.back() == 0) reach.any_tcp_port = true;
  }
  if (!reach.any_tcp_port && !proxied) return reach;
  reach.any_tcp_port = true;
  reach.tcp_ports.clear();
  reach.read = {"/etc/resolv.conf", "/etc/hosts",    "/etc/nsswitch.conf",
                "/etc/host.conf",   "/etc/gai.conf", "/etc/services"};
  return reach;
}

}  // namespace tritond::workers
