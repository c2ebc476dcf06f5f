// SPDX-License-Identifier: Apache-2.0
#include "server/web/content_policy.h"

#include <openssl/evp.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

std::string Source(absl::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr);
  return absl::StrCat("'sha256-", absl::Base64Escape(absl::string_view(reinterpret_cast<const char*>(digest), size)),
                      "'");
}

// The sources of every element of this name, which has no attributes.
std::string Sources(absl::string_view html, absl::string_view name) {
  const std::string open = absl::StrCat("<", name, ">"), close = absl::StrCat("</", name, ">");
  std::string sources;
  for (size_t at = html.find(open); at != absl::string_view::npos; at = html.find(open, at)) {
    at += open.size();
    const size_t end = html.find(close, at);
    absl::StrAppend(&sources, sources.empty() ? "" : " ", Source(html.substr(at, end - at)));
  }
  return sources.empty() ? "'none'" : sources;
}

}  // namespace

std::string ContentPolicy(absl::string_view html) {
  return absl::StrCat(
      "default-src 'none'; script-src ", Sources(html, "script"), "; style-src ", Sources(html, "style"),
      "; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
}

}  // namespace tritond::server
