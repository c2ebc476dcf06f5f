// SPDX-License-Identifier: Apache-2.0
// The data of the status page; docs/api.md describes it. What a caller may not see is left out.
#ifndef SERVER_WEB_STATUS_JSON_H_
#define SERVER_WEB_STATUS_JSON_H_

#include <string>

#include "server/web/page_access.h"
#include "server/web/status_view.h"

namespace tritond::server {

std::string StatusJson(const StatusView& view, const PageAccess& access);

// The caller may see the job's details.
std::string JobJson(const JobView& view, const PageAccess& access);

// {"error": message}
std::string ErrorJson(const std::string& message);

}  // namespace tritond::server

#endif  // SERVER_WEB_STATUS_JSON_H_
