// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CC_HTTP_PROBE_H_
#define CLIENT_CC_HTTP_PROBE_H_

#include <string>

namespace tritond::client {

// Whether a web server listens at HOST:PORT: it answers a plain GET as HTTP/1 does. Waits a second at most for each of
// connection and answer. False for anything else, other addresses among them.
bool AnswersHttp(const std::string& address);

}  // namespace tritond::client

#endif  // CLIENT_CC_HTTP_PROBE_H_
