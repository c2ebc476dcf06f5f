// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/amd/inline_assembly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritond::compiler::amd {
namespace {

using testing::HasSubstr;

TEST(InlineAssembly, InstructionsAreTaken) {
  for (const char* text :
       {"", "v_add_u32 $0, $1, $2", "v_exp_f32_e32 $0, $1;", "s_nop 4\n\tv_mov_b32 $0, 0x3f800000 // one\n",
        "s_waitcnt vmcnt(0) & lgkmcnt(0)", "v_max_f32 $0, |$1|, -0.5", "global_load_dword $0, $1, off offset:16",
        "v_mov_b32_dpp $0, $1 quad_perm:[1,0,3,2] row_mask:0xf", "ds_read_b64 v[0:1], $1 ; a comment .incbin"})
    EXPECT_TRUE(CheckInlineAssembly(text).ok()) << text << CheckInlineAssembly(text);
}

// What the assembler would not take for an instruction, or would find after one.
TEST(InlineAssembly, NothingElseIs) {
  for (const char* text : {".incbin \"/etc/hostname\"", "v_nop\n.include \"/etc/hostname\"", "  .set x, 1", "x = 1",
                           "v_x = 1", "label: v_nop", "v_nop:", "v_nop\r.byte 1", "v_mov_b32 $0, \"x\"", "${:private}",
                           "v_nop $(.byte 1$)", "v_nop {.byte 1|}", "v_nop $$", "/* */ v_nop", "# 1 \"file\"",
                           "v_nop \\", "V_NOP", "add.s32 $0, $1, $2;", "mov.u32 $0, 1"}) {
    const absl::Status status = CheckInlineAssembly(text);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_THAT(std::string(CheckInlineAssembly("add.s32 $0, $1, $2;").message()), HasSubstr("'add.s32 $0, $1, $2'"));
}

TEST(InlineAssembly, NoneThatLeavesTheStatementsAfterIt) {
  for (const char* text :
       {"s_branch 1", "s_cbranch_scc0 2", "s_endpgm", "s_setpc_b64 $0", "s_trap 2", "s_call_b64 $0, 1"})
    EXPECT_FALSE(CheckInlineAssembly(text).ok()) << text;
}

}  // namespace
}  // namespace tritond::compiler::amd
