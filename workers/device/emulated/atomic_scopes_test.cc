// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/atomic_scopes.h"

#include <gtest/gtest.h>

namespace tritond::workers::emulated {
namespace {

constexpr bool kDevice = false, kWorkGroup = true;

TEST(AtomicScopes, OneProgramMayUseEither) {
  AtomicScopes scopes;
  EXPECT_TRUE(scopes.Update(8, 3, kWorkGroup));
  EXPECT_TRUE(scopes.Update(8, 3, kDevice));
  EXPECT_TRUE(scopes.Update(8, 3, kWorkGroup));
}

TEST(AtomicScopes, ProgramsShareAPlaceByTheScopeOfTheDevice) {
  AtomicScopes scopes;
  EXPECT_TRUE(scopes.Update(8, 3, kDevice));
  EXPECT_TRUE(scopes.Update(8, 4, kDevice));
  EXPECT_FALSE(scopes.Update(8, 4, kWorkGroup));
}

TEST(AtomicScopes, TheScopeOfAWorkGroupIsForOneProgram) {
  AtomicScopes scopes;
  EXPECT_TRUE(scopes.Update(8, 3, kWorkGroup));
  EXPECT_TRUE(scopes.Update(12, 4, kWorkGroup));
  EXPECT_FALSE(scopes.Update(8, 4, kDevice));
}

}  // namespace
}  // namespace tritond::workers::emulated
