// SPDX-License-Identifier: Apache-2.0
#include "server/admission/access.h"

#include <gtest/gtest.h>

namespace tritond::server {
namespace {

// Of "secret".
constexpr char kSecretDigest[] = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";

AccessRules Rules() {
  AccessRules rules;
  rules.anonymous = {Role::kNone, ""};
  rules.unix_socket = {Role::kCompile, "pod"};
  rules.tokens = {{kSecretDigest, {Role::kPrebuild, "ci"}}};
  rules.certificates = {{"node-7", {Role::kAdmin, ""}}, {"node-*", {Role::kWorker, ""}}};
  return rules;
}

Credentials Tls() {
  Credentials credentials;
  credentials.encrypted = true;
  return credentials;
}

TEST(Allows, EachRoleItsOwnAndWhatIsBelow) {
  const auto allowed = [](Role role) {
    std::string needs;
    for (Need need : {Need::kRead, Need::kPrebuild, Need::kCompile, Need::kWorker, Need::kAdmin})
      needs += Allows(role, need) ? '1' : '0';
    return needs;
  };
  EXPECT_EQ(allowed(Role::kNone), "00000");
  EXPECT_EQ(allowed(Role::kRead), "10000");
  EXPECT_EQ(allowed(Role::kPrebuild), "11000");
  EXPECT_EQ(allowed(Role::kCompile), "11100");
  EXPECT_EQ(allowed(Role::kWorker), "00010");
  EXPECT_EQ(allowed(Role::kAdmin), "11111");
}

TEST(ParseRole, TakesWhatRoleNameGives) {
  for (Role role : {Role::kNone, Role::kRead, Role::kPrebuild, Role::kCompile, Role::kWorker, Role::kAdmin})
    EXPECT_EQ(*ParseRole(RoleName(role)), role);
  EXPECT_FALSE(ParseRole("root").ok());
}

TEST(AccessPolicy, ATokenNamesItsCaller) {
  AccessPolicy policy(Rules());
  Credentials credentials = Tls();
  credentials.token = "secret";
  absl::StatusOr<Caller> caller = policy.Identify(credentials);
  ASSERT_TRUE(caller.ok()) << caller.status();
  EXPECT_EQ(caller->role, Role::kPrebuild);
  EXPECT_EQ(caller->tenant, "ci");
  credentials.common_names = {"node-7"};
  EXPECT_EQ(policy.Identify(credentials)->tenant, "ci");
}

TEST(AccessPolicy, AnUnknownTokenIsRefusedEvenIfNoneIsNeeded) {
  AccessRules rules = Rules();
  rules.anonymous = {Role::kAdmin, ""};
  AccessPolicy policy(rules);
  for (const char* token : {"Secret", "secret ", kSecretDigest}) {
    Credentials credentials = Tls();
    credentials.token = token;
    EXPECT_TRUE(absl::IsUnauthenticated(policy.Identify(credentials).status())) << token;
  }
}

TEST(AccessPolicy, ATokenOverPlainTcpIsRefused) {
  AccessPolicy policy(Rules());
  Credentials credentials;
  credentials.token = "secret";
  EXPECT_TRUE(absl::IsUnauthenticated(policy.Identify(credentials).status()));
  credentials.unix_user = 1000;
  EXPECT_TRUE(policy.Identify(credentials).ok());
}

TEST(AccessPolicy, TheFirstCertificateRuleThatFitsCounts) {
  AccessPolicy policy(Rules());
  Credentials credentials = Tls();
  credentials.common_names = {"node-7"};
  EXPECT_EQ(policy.Identify(credentials)->role, Role::kAdmin);
  credentials.common_names = {"node-71"};
  EXPECT_EQ(policy.Identify(credentials)->role, Role::kWorker);
  credentials.common_names = {"other"};
  EXPECT_TRUE(absl::IsUnauthenticated(policy.Identify(credentials).status()));
}

TEST(AccessPolicy, TheTransportDecidesWithoutCredentials) {
  AccessPolicy policy(Rules());
  EXPECT_TRUE(absl::IsUnauthenticated(policy.Identify(Tls()).status()));
  Credentials local;
  local.unix_user = 1000;
  EXPECT_EQ(policy.Identify(local)->tenant, "pod");
}

TEST(AccessPolicy, AListedUserCountsBeforeTheSocketsRole) {
  AccessRules rules = Rules();
  rules.users = {{1000, {Role::kAdmin, ""}}, {1001, {Role::kNone, ""}}};
  AccessPolicy policy(rules);
  Credentials local;
  local.unix_user = 1000;
  EXPECT_EQ(policy.Identify(local)->role, Role::kAdmin);
  local.unix_user = 1001;
  EXPECT_TRUE(absl::IsUnauthenticated(policy.Identify(local).status()));
  local.unix_user = 1002;
  EXPECT_EQ(policy.Identify(local)->tenant, "pod");
  local.unix_user = 1001;
  local.token = "secret";
  EXPECT_TRUE(policy.Identify(local).ok());
}

TEST(AccessPolicy, NoCredentialIsNeededWithoutRules) {
  AccessRules rules;
  ASSERT_TRUE(AccessPolicy(rules).Everyone().has_value());
  EXPECT_EQ(AccessPolicy(rules).Everyone()->role, Role::kAdmin);
  rules.unix_socket.tenant = "local";
  EXPECT_FALSE(AccessPolicy(rules).Everyone().has_value()) << "the transport decides";
  rules.anonymous.tenant = "local";
  ASSERT_TRUE(AccessPolicy(rules).Everyone().has_value());
  EXPECT_EQ(AccessPolicy(rules).Everyone()->tenant, "local");
  AccessRules with_token = rules, with_certificate = rules, with_user = rules, closed = rules;
  with_token.tokens.push_back({std::string(64, 'a'), {Role::kRead, ""}});
  with_certificate.certificates.push_back({"ci", {Role::kRead, ""}});
  with_user.users.push_back({1000, {Role::kRead, ""}});
  closed.anonymous = closed.unix_socket = {Role::kNone, ""};
  for (const AccessRules& some : {with_token, with_certificate, with_user, closed})
    EXPECT_FALSE(AccessPolicy(some).Everyone().has_value());
}

TEST(AccessPolicy, RulesCanBeReplaced) {
  AccessPolicy policy(Rules());
  policy.Replace({});
  EXPECT_EQ(policy.Identify(Credentials())->role, Role::kAdmin);
}

TEST(CheckAccess, NamesWhatIsMissing) {
  EXPECT_TRUE(CheckAccess({Role::kCompile, ""}, Need::kRead).ok());
  const absl::Status status = CheckAccess({Role::kRead, ""}, Need::kCompile);
  EXPECT_TRUE(absl::IsPermissionDenied(status));
  EXPECT_EQ(status.message(), "role read is not enough; this takes compile");
}

}  // namespace
}  // namespace tritond::server
