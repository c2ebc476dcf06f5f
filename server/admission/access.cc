// SPDX-License-Identifier: Apache-2.0
#include "server/admission/access.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

struct RoleEntry {
  Role role;
  absl::string_view name;
};
constexpr RoleEntry kRoles[] = {{Role::kNone, "none"},       {Role::kRead, "read"},     {Role::kPrebuild, "prebuild"},
                                {Role::kCompile, "compile"}, {Role::kWorker, "worker"}, {Role::kAdmin, "admin"}};

absl::string_view NeedName(Need need) {
  switch (need) {
    case Need::kRead:
      return "read";
    case Need::kPrebuild:
      return "prebuild";
    case Need::kCompile:
      return "compile";
    case Need::kWorker:
      return "worker";
    case Need::kAdmin:
      return "admin";
  }
  return "";
}

std::string Sha256Hex(absl::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), size));
}

// In a time that does not tell how much of them is equal.
bool SameText(absl::string_view a, absl::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool Fits(absl::string_view pattern, absl::string_view name) {
  if (!absl::EndsWith(pattern, "*")) return pattern == name;
  pattern.remove_suffix(1);
  return absl::StartsWith(name, pattern);
}

}  // namespace

bool Allows(Role role, Need need) {
  switch (need) {
    case Need::kRead:
      return role == Role::kRead || Allows(role, Need::kPrebuild);
    case Need::kPrebuild:
      return role == Role::kPrebuild || Allows(role, Need::kCompile);
    case Need::kCompile:
      return role == Role::kCompile || role == Role::kAdmin;
    case Need::kWorker:
      return role == Role::kWorker || role == Role::kAdmin;
    case Need::kAdmin:
      return role == Role::kAdmin;
  }
  return false;
}

absl::StatusOr<Role> ParseRole(absl::string_view name) {
  for (const RoleEntry& entry : kRoles)
    if (entry.name == name) return entry.role;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name, "\" is no role; they are none, read, prebuild, compile, worker, admin"));
}

absl::string_view RoleName(Role role) {
  for (const RoleEntry& entry : kRoles)
    if (entry.role == role) return entry.name;
  return "";
}

AccessPolicy::AccessPolicy(AccessRules rules) : rules_(std::make_shared<const AccessRules>(std::move(rules))) {}

void AccessPolicy::Replace(AccessRules rules) {
  auto replaced = std::make_shared<const AccessRules>(std::move(rules));
  absl::MutexLock lock(&mu_);
  rules_.swap(replaced);
}

std::shared_ptr<const AccessRules> AccessPolicy::Rules() const {
  absl::MutexLock lock(&mu_);
  return rules_;
}

std::optional<Caller> AccessPolicy::Everyone() const {
  const std::shared_ptr<const AccessRules> rules = Rules();
  if (!rules->tokens.empty() || !rules->certificates.empty() || !rules->users.empty()) return std::nullopt;
  const Caller &anonymous = rules->anonymous, &local = rules->unix_socket;
  if (anonymous.role == Role::kNone || anonymous.role != local.role || anonymous.tenant != local.tenant)
    return std::nullopt;
  return anonymous;
}

absl::StatusOr<Caller> AccessPolicy::Identify(const Credentials& credentials) const {
  const std::shared_ptr<const AccessRules> rules = Rules();
  if (!credentials.token.empty()) {
    if (!credentials.encrypted && !credentials.unix_user.has_value())
      return absl::UnauthenticatedError("a token must not come over plain TCP: use TLS or a Unix socket");
    const std::string digest = Sha256Hex(credentials.token);
    for (const AccessRules::Token& token : rules->tokens)
      if (SameText(token.sha256, digest)) return token.caller;
    return absl::UnauthenticatedError("the token is unknown here");
  }
  for (const AccessRules::Certificate& certificate : rules->certificates)
    for (const std::string& name : credentials.common_names)
      if (Fits(certificate.common_name, name)) return certificate.caller;
  const bool local = credentials.unix_user.has_value();
  Caller caller = local ? rules->unix_socket : rules->anonymous;
  for (const AccessRules::User& user : rules->users)
    if (local && user.uid == *credentials.unix_user) caller = user.caller;
  if (caller.role == Role::kNone)
    return absl::UnauthenticatedError("this server wants a token or a client certificate that it knows");
  return caller;
}

std::string TenantOf(const Caller& caller) { return caller.role == Role::kAdmin ? "" : caller.tenant; }

bool Sees(const Caller& caller, absl::string_view tenant) {
  const std::string own = TenantOf(caller);
  return own.empty() || own == tenant;
}

absl::Status CheckAccess(const Caller& caller, Need need) {
  if (Allows(caller.role, need)) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("role ", RoleName(caller.role), " is not enough; this takes ", NeedName(need)));
}

}  // namespace tritond::server
