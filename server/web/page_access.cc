// SPDX-License-Identifier: Apache-2.0
#include "server/web/page_access.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tritond::server {

PageAccess DecideAccess(const AccessPolicy& policy, const WebCaller& caller) {
  Credentials credentials;
  credentials.encrypted = caller.local;  // Nobody on the way can read it.
  credentials.token = caller.token;
  PageAccess access;
  absl::StatusOr<Caller> known = policy.Identify(credentials);
  absl::Status allowed = known.ok() ? CheckAccess(*known, Need::kRead) : known.status();
  if (!allowed.ok()) {
    access.why_not = std::string(allowed.message());
    return access;
  }
  access.details = true;
  access.tenant = TenantOf(*known);
  access.ir = caller.local;
  access.compiles = access.ir && CheckAccess(*known, Need::kCompile).ok();
  if (!access.ir) access.why_not = "IR is shown on the daemon's own machine only, or through a tunnel to it";
  return access;
}

bool IsLoopbackAddress(absl::string_view address) {
  return absl::StartsWith(address, "127.") || address == "::1" || absl::StartsWith(address, "::ffff:127.");
}

bool IsLoopbackHost(absl::string_view host) {
  absl::string_view name = host;
  if (absl::StartsWith(name, "[")) {
    name = name.substr(1, name.find(']') - 1);
  } else {
    name = name.substr(0, name.find(':'));
  }
  if (absl::EqualsIgnoreCase(name, "localhost") || name == "::1") return true;
  // A name such as 127.evil.example is no address.
  return IsLoopbackAddress(name) && name.find_first_not_of("0123456789.") == absl::string_view::npos;
}

}  // namespace tritond::server
