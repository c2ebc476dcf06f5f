// SPDX-License-Identifier: Apache-2.0
// Who may do what. Knows neither gRPC nor files.
#ifndef SERVER_ADMISSION_ACCESS_H_
#define SERVER_ADMISSION_ACCESS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace tritond::server {

// What a caller may do. Each role but worker may read.
enum class Role {
  kNone,
  kRead,      // look up, fetch, watch
  kPrebuild,  // compile in the class prebuild, export
  kCompile,   // compile in any class
  kWorker,    // attach as a worker, and nothing else
  kAdmin,     // everything
};

// What a method asks of its caller.
enum class Need { kRead, kPrebuild, kCompile, kWorker, kAdmin };

bool Allows(Role role, Need need);
// "none", "read", "prebuild", "compile", "worker", "admin". InvalidArgument for anything else.
absl::StatusOr<Role> ParseRole(absl::string_view name);
absl::string_view RoleName(Role role);

// What a caller shows.
struct Credentials {
  std::optional<uint32_t> unix_user;      // came over a Unix socket, from this user of the machine
  bool encrypted = false;                 // by TLS
  std::string token;                      // "" when none came
  std::vector<std::string> common_names;  // of a certificate that TLS has verified
};

struct Caller {
  Role role = Role::kNone;
  std::string tenant;  // "": as the request says
};

// The tenant to whose jobs the caller is confined; "": it sees everybody's.
std::string TenantOf(const Caller& caller);
// Whether the caller may see names, keys and messages of this tenant's jobs.
bool Sees(const Caller& caller, absl::string_view tenant);

struct AccessRules {
  struct Token {
    std::string sha256;  // of the token, 64 lowercase hex digits: the token itself is kept nowhere
    Caller caller;
  };
  struct User {
    uint32_t uid = 0;
    Caller caller;
  };
  struct Certificate {
    std::string common_name;  // a '*' at its end stands for any text
    Caller caller;
  };
  Caller anonymous{Role::kAdmin, ""};    // TCP without credentials
  Caller unix_socket{Role::kAdmin, ""};  // of users that are not listed
  std::vector<User> users;
  std::vector<Token> tokens;
  std::vector<Certificate> certificates;  // the first that fits counts
};

// The rules in force. Thread-safe.
class AccessPolicy final {
 public:
  explicit AccessPolicy(AccessRules rules);
  // From now on; calls under way are not affected.
  void Replace(AccessRules rules);

  // A token counts before a certificate, and that before the transport. Unauthenticated for a token that is unknown, or
  // came over plain TCP, and for callers without a role.
  absl::StatusOr<Caller> Identify(const Credentials& credentials) const;
  // What everyone is, whatever they show; nullopt when it depends on that. Reading credentials costs a tenth of a hit.
  std::optional<Caller> Everyone() const;

 private:
  std::shared_ptr<const AccessRules> Rules() const;

  mutable absl::Mutex mu_;
  std::shared_ptr<const AccessRules> rules_ ABSL_GUARDED_BY(mu_);  // Shared with calls that read them.
};

// PermissionDenied, naming what is missing, unless the caller's role allows it.
absl::Status CheckAccess(const Caller& caller, Need need);

}  // namespace tritond::server

#endif  // SERVER_ADMISSION_ACCESS_H_
