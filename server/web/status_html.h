// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_WEB_STATUS_HTML_H_
#define SERVER_WEB_STATUS_HTML_H_

namespace tritond::server {

// status.html, which lies beside this file.
extern const char kStatusHtml[];

}  // namespace tritond::server

#endif  // SERVER_WEB_STATUS_HTML_H_
