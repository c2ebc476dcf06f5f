// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_ACCESS_WATCH_H_
#define SERVER_APP_ACCESS_WATCH_H_

#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/admission/access.h"
#include "server/app/log_line.h"

namespace tritond::server {

// The access rules in force: those of the access file, read again when it changes. The token of this daemon's own
// workers lets these attach, whatever the rules for Unix sockets say.
class AccessWatch final {
 public:
  struct Files {
    std::string access;               // "": everyone may do everything, except
    bool wants_certificates = false;  // over TCP only those whose certificate TLS has verified
    std::string worker_token;         // written anew, readable by this user only; on a full disk the last run's stays
  };
  // InvalidArgument and NotFound for the access file; Unavailable when the token cannot be written.
  static absl::StatusOr<std::unique_ptr<AccessWatch>> Open(Files files, LogSink log);

  const AccessPolicy& policy() const { return policy_; }
  const std::string& worker_token_file() const { return files_.worker_token; }
  // Takes a changed access file. One that is wrong or gone is reported, once, and the rules from before stay. With
  // `again` it takes and reports the file also when it has not changed. Not thread-safe.
  void Reload(bool again = false);
  // That the file as it was read last is not in force, and why; "": it is. Not thread-safe.
  const std::string& problem() const { return problem_; }

 private:
  AccessWatch(Files files, std::string token, LogSink log);
  absl::StatusOr<AccessRules> Read();

  const Files files_;
  const std::string token_digest_;
  const LogSink log_;
  std::filesystem::file_time_type read_{};  // the time of the file that was read last; none: it is gone
  std::string problem_;
  AccessPolicy policy_{AccessRules()};
};

}  // namespace tritond::server

#endif  // SERVER_APP_ACCESS_WATCH_H_
