// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_ACCESS_FILE_H_
#define SERVER_APP_ACCESS_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "server/admission/access.h"

namespace tritond::server {

// Reads who may do what from a YAML file:
//
//   anonymous: none          # TCP without credentials; a role, default none
//   unix: admin              # callers on a Unix socket, whose file mode says who they are; default none
//   tokens:
//     - {sha256: 64 hex digits, role: compile, tenant: team-a}
//   certificates:            # the first whose common name fits counts; '*' at the end stands for any text
//     - {common_name: "node-*", role: worker}
//
// NotFound when there is no such file; InvalidArgument names the file and the entry that is wrong, or says that the
// file is empty.
absl::StatusOr<AccessRules> ReadAccessFile(const std::string& path);

}  // namespace tritond::server

#endif  // SERVER_APP_ACCESS_FILE_H_
