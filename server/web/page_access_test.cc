// SPDX-License-Identifier: Apache-2.0
#include "server/web/page_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::server {
namespace {

using testing::HasSubstr;

constexpr char kDigestOfReader[] = "3d0941964aa3ebdcb00ccef58b1bb399f9f898465e9886d5aec7f31090a0fb30";

AccessRules Closed(Role role, const std::string& tenant = "") {
  AccessRules rules;
  rules.anonymous = {Role::kNone, ""};
  rules.tokens.push_back({kDigestOfReader, {role, tenant}});
  return rules;
}

TEST(DecideAccess, WithoutRulesEverybodySeesDetailsAndOnlyThisMachineSeesIr) {
  const AccessPolicy policy{AccessRules()};
  const PageAccess local = DecideAccess(policy, {true, ""}), remote = DecideAccess(policy, {false, ""});
  EXPECT_TRUE(local.details && local.ir);
  EXPECT_TRUE(remote.details);
  EXPECT_FALSE(remote.ir);
  EXPECT_THAT(remote.why_not, HasSubstr("machine"));
}

TEST(DecideAccess, WithRulesAStrangerSeesNumbersAlone) {
  const AccessPolicy policy(Closed(Role::kRead));
  for (bool local : {true, false}) {
    const PageAccess access = DecideAccess(policy, {local, ""});
    EXPECT_FALSE(access.details || access.ir);
    EXPECT_FALSE(access.Shows(""));
    EXPECT_THAT(access.why_not, HasSubstr("token"));
  }
}

TEST(DecideAccess, ATokenOfRoleReadOpensAllOnThisMachine) {
  const PageAccess access = DecideAccess(AccessPolicy(Closed(Role::kRead)), {true, "reader"});
  EXPECT_TRUE(access.details && access.ir);
  EXPECT_TRUE(access.Shows("anybody"));
}

TEST(DecideAccess, OnlyWhoMayCompileAndSeeIrMayHaveItMade) {
  EXPECT_TRUE(DecideAccess(AccessPolicy(AccessRules()), {true, ""}).compiles);
  EXPECT_FALSE(DecideAccess(AccessPolicy(AccessRules()), {false, ""}).compiles);
  EXPECT_TRUE(DecideAccess(AccessPolicy(Closed(Role::kCompile)), {true, "reader"}).compiles);
  EXPECT_FALSE(DecideAccess(AccessPolicy(Closed(Role::kRead)), {true, "reader"}).compiles);
  EXPECT_FALSE(DecideAccess(AccessPolicy(Closed(Role::kCompile)), {true, ""}).compiles);
}

TEST(DecideAccess, ATokenFromElsewhereIsRefusedAsOverPlainTcp) {
  const PageAccess access = DecideAccess(AccessPolicy(Closed(Role::kRead)), {false, "reader"});
  EXPECT_FALSE(access.details || access.ir);
  EXPECT_THAT(access.why_not, HasSubstr("plain TCP"));
}

TEST(DecideAccess, AWorkersTokenAndAnUnknownOneOpenNothing) {
  EXPECT_FALSE(DecideAccess(AccessPolicy(Closed(Role::kWorker)), {true, "reader"}).details);
  EXPECT_FALSE(DecideAccess(AccessPolicy(Closed(Role::kRead)), {true, "guess"}).details);
}

TEST(DecideAccess, ATenantsTokenShowsItsOwnJobsAlone) {
  const PageAccess access = DecideAccess(AccessPolicy(Closed(Role::kCompile, "blue")), {true, "reader"});
  EXPECT_TRUE(access.Shows("blue"));
  EXPECT_FALSE(access.Shows("red"));
  EXPECT_FALSE(access.Shows(""));
}

TEST(IsLoopbackHost, TakesTheNamesOfThisMachineAlone) {
  for (const char* host : {"localhost", "localhost:7434", "LOCALHOST", "127.0.0.1:7434", "127.1.2.3", "[::1]:7434"})
    EXPECT_TRUE(IsLoopbackHost(host)) << host;
  for (const char* host :
       {"", "example.org", "127.0.0.1.example.org", "localhost.example.org", "10.0.0.1:7434", "[::2]"})
    EXPECT_FALSE(IsLoopbackHost(host)) << host;
}

TEST(IsLoopbackAddress, TakesBothFamilies) {
  for (const char* address : {"127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"})
    EXPECT_TRUE(IsLoopbackAddress(address)) << address;
  for (const char* address : {"0.0.0.0", "::", "10.0.0.1", "::ffff:10.0.0.1", ""})
    EXPECT_FALSE(IsLoopbackAddress(address)) << address;
}

}  // namespace
}  // namespace tritond::server
