// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/find_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::workers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(FindTools, LooksBesideTheProgramsFolderAndInPath) {
  compiler::CompilerConfig config = FindTools("/opt/tritond/bin/triton-worker", {nullptr, "/usr/bin::/opt/cuda/bin"});
  EXPECT_THAT(config.tool_roots, ElementsAre("/opt/tritond/cuda"));
  EXPECT_THAT(config.path_dirs, ElementsAre("/usr/bin", "/opt/cuda/bin"));
}

TEST(FindTools, CudaHomeComesFirst) {
  compiler::CompilerConfig config = FindTools("/opt/tritond/bin/triton-worker", {"/opt/cuda-13", nullptr});
  EXPECT_THAT(config.tool_roots, ElementsAre("/opt/cuda-13", "/opt/tritond/cuda"));
  EXPECT_THAT(FindTools("", {"", nullptr}).tool_roots, IsEmpty());
}

TEST(FindTools, DoesWithoutVariablesAndProgram) {
  EXPECT_THAT(FindTools("", {}).tool_roots, IsEmpty());
  EXPECT_THAT(FindTools("", {}).path_dirs, IsEmpty());
}

TEST(FindTools, KnowsThisProgram) { EXPECT_THAT(ThisExecutable(), testing::HasSubstr("find_tools_test")); }

}  // namespace
}  // namespace tritond::workers
