// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_WEB_STATUS_HTML_H_
#define SERVER_WEB_STATUS_HTML_H_

namespace tritond::server {

// The status page, joined from the files of page/.
extern const char kStatusHtml[];

}  // namespace tritond::server

#endif  // SERVER_WEB_STATUS_HTML_H_
