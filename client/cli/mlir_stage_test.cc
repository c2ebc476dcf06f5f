// SPDX-License-Identifier: Apache-2.0
#include "client/cli/mlir_stage.h"

#include <gtest/gtest.h>

namespace tritond::client {
namespace {

constexpr char kTtir[] = "module {\n  tt.func public @k() {\n    tt.return\n  }\n}\n";
constexpr char kTtgir[] =
    "#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"
    "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:90\"} {\n}\n";

TEST(MlirStage, TheTextPrevailsOverTheName) {
  EXPECT_EQ(MlirStage(kTtir, v1::STAGE_TTIR), v1::STAGE_TTIR);
  EXPECT_EQ(MlirStage(kTtir, v1::STAGE_TTGIR), v1::STAGE_TTIR);
  EXPECT_EQ(MlirStage(kTtgir, v1::STAGE_TTGIR), v1::STAGE_TTGIR);
  EXPECT_EQ(MlirStage(kTtgir, v1::STAGE_TTIR), v1::STAGE_TTGIR);
}

TEST(MlirStage, KnowsTheDialectsFormerName) {
  EXPECT_EQ(MlirStage("module attributes {\"triton_gpu.num-warps\" = 4 : i32} {\n}\n", v1::STAGE_TTIR),
            v1::STAGE_TTGIR);
  EXPECT_EQ(MlirStage("#shared = #triton_gpu.shared<{}>\n", v1::STAGE_TTGIR), v1::STAGE_TTGIR);
}

TEST(MlirStage, NamesInCommentsAndStringsChangeNothing) {
  // A comment, a message and a barrier: all of them in TTIR.
  for (const char* text :
       {"// \"ttg.num-warps\" = 4\nmodule {}\n", "tt.print \"ttg.num-warps\" : %x\n", "ttg.barrier all\n"})
    EXPECT_EQ(MlirStage(text, v1::STAGE_TTIR), v1::STAGE_TTIR) << text;
  // A fragment of TTGIR, without a module that counts warps.
  EXPECT_EQ(MlirStage("tt.func @k(%x: !ttg.memdesc<1xf32>)\n", v1::STAGE_TTGIR), v1::STAGE_TTGIR);
  for (const char* text : {"", "\"a string without an end"})
    EXPECT_EQ(MlirStage(text, v1::STAGE_TTIR), v1::STAGE_TTIR) << text;
  EXPECT_EQ(MlirStage("\"a string without an end", v1::STAGE_TTGIR), v1::STAGE_TTGIR);
}

}  // namespace
}  // namespace tritond::client
