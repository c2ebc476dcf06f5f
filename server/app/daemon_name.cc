// SPDX-License-Identifier: Apache-2.0
#include "server/app/daemon_name.h"

#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

constexpr char kDefaultPort[] = ":7433";

// ":7433" of "0.0.0.0:7433"; "" where there is no fixed one.
std::string PortOf(const std::string& address) {
  if (absl::StartsWith(address, "unix:")) return "";
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || address.substr(colon) == ":0") return "";
  return address.substr(colon);
}

}  // namespace

std::string NameOfDaemon(const ServerConfig& config) {
  if (!config.name.empty()) return config.name;
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  if (config.listen.empty()) return absl::StrCat(host, kDefaultPort);
  for (const std::string& address : config.listen) {
    const std::string port = PortOf(address);
    if (!port.empty()) return absl::StrCat(host, port);
  }
  return absl::StrCat(host, "/", getpid());
}

}  // namespace tritond::server
