// SPDX-License-Identifier: Apache-2.0
#include "server/web/http_router.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/web/content_policy.h"

namespace tritond::server {
namespace {

std::string HeaderOf(const HttpQuery& query, const char* name) {
  auto header = query.headers.find(name);
  return header == query.headers.end() ? "" : header->second;
}

// Behind a proxy the caller's own address is somebody's word.
bool CameThroughProxy(const HttpQuery& query) {
  return query.headers.count("forwarded") + query.headers.count("x-forwarded-for") + query.headers.count("via") > 0;
}

}  // namespace

HttpRouter::HttpRouter(Pages pages, bool listens_locally)
    : pages_(std::move(pages)), policy_(ContentPolicy(pages_.page)), listens_locally_(listens_locally) {}

WebCaller HttpRouter::CallerOf(const HttpQuery& query) const {
  WebCaller caller;
  caller.local = listens_locally_ && IsLoopbackAddress(query.peer) && IsLoopbackHost(HeaderOf(query, "host")) &&
                 !CameThroughProxy(query);
  const std::string header = HeaderOf(query, "authorization");
  absl::string_view token = header;
  // Another scheme is no token that anyone knows, and not nothing.
  absl::ConsumePrefix(&token, "Bearer ");
  if (!header.empty()) caller.token = token.empty() ? "-" : std::string(token);
  caller.deliberate = query.headers.count(kIntentHeader) > 0;
  return caller;
}

HttpAnswer HttpRouter::Answer(const HttpQuery& query) const {
  const bool reads = query.method == "GET" || query.method == "HEAD";
  if (absl::StartsWith(query.path, "/api/") && (reads || query.method == "POST")) return Api(query);
  if (!reads) return {405, "text/plain", "this cannot be done here\n", {{"Allow", "GET, HEAD"}}};
  if (query.path == "/") return {200, "text/html; charset=utf-8", pages_.page, {{"Content-Security-Policy", policy_}}};
  if (query.path == "/metrics")
    return {200, "text/plain; version=0.0.4; charset=utf-8", pages_.metrics(CallerOf(query)), {}};
  if (query.path == "/healthz") return {200, "text/plain", "ok\n", {}};
  if (query.path == "/readyz") return Ready();
  return {404, "text/plain", "there is no such page\n", {}};
}

HttpAnswer HttpRouter::Api(const HttpQuery& query) const {
  const auto& api = query.method == "POST" ? pages_.post : pages_.api;
  if (!api) return {404, "text/plain", "there is no such page\n", {}};
  WebAnswer answer = api(query.path, CallerOf(query));
  // What a kernel's text says is never a page of ours, whatever opens it.
  return {answer.status,
          std::move(answer.type),
          std::move(answer.body),
          {{"Content-Security-Policy", "default-src 'none'; sandbox"}}};
}

HttpAnswer HttpRouter::Ready() const {
  const std::string why = pages_.not_ready();
  if (!why.empty()) return {503, "text/plain", why + "\n", {}};
  const std::string degraded = pages_.degraded ? pages_.degraded() : "";
  return {200, "text/plain", absl::StrCat(degraded.empty() ? "ok" : "ok, but ", degraded, "\n"), {}};
}

}  // namespace tritond::server
