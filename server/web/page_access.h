// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_WEB_PAGE_ACCESS_H_
#define SERVER_WEB_PAGE_ACCESS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "server/admission/access.h"

namespace tritond::server {

// Who asks over HTTP, which has no TLS.
struct WebCaller {
  // Nothing of the exchange leaves this machine: it came to a loopback address, from one, under a name for it, and
  // through no proxy. The last two keep out what a browser or a proxy fetches for somebody else.
  bool local = false;
  std::string token;  // "" when none came
  // A page of ours asks, or a program that means to. The request carries the header of kIntentHeader, which a browser
  // lets no page from elsewhere send.
  bool deliberate = false;
};

inline constexpr char kIntentHeader[] = "x-tritond-intent";

// What the pages may show to a caller.
struct PageAccess {
  bool details = false;   // names, keys, messages; else numbers alone
  bool ir = false;        // kernels' text
  bool compiles = false;  // what is not kept may be made
  std::string tenant;     // "": of every tenant; else of this one alone
  std::string why_not;    // what is missing for the rest

  // Whether a job of this tenant's may be shown in detail.
  bool Shows(absl::string_view job_tenant) const { return details && (tenant.empty() || tenant == job_tenant); }
};

// As for gRPC: a token counts, and is refused where others could read it; without one the rules for callers without
// credentials hold. Details want the role read. IR wants a local caller too, whatever the rules say, and a
// compile besides that the role compile.
PageAccess DecideAccess(const AccessPolicy& policy, const WebCaller& caller);

// What makes a caller local, see WebCaller. `host` is the header of that name.
bool IsLoopbackAddress(absl::string_view address);
bool IsLoopbackHost(absl::string_view host);

}  // namespace tritond::server

#endif  // SERVER_WEB_PAGE_ACCESS_H_
