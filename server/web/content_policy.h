// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_WEB_CONTENT_POLICY_H_
#define SERVER_WEB_CONTENT_POLICY_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tritond::server {

// The Content-Security-Policy of a page that is whole in itself: its own <script> and <style> elements, named by their
// digests, run. Nothing that is written into it later does. It may fetch from where it came from, and nowhere else.
std::string ContentPolicy(absl::string_view html);

}  // namespace tritond::server

#endif  // SERVER_WEB_CONTENT_POLICY_H_
