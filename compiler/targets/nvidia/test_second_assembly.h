// SPDX-License-Identifier: Apache-2.0
// For tests: texts that are assembled a second time, and assemblers whose binaries are known.
#ifndef COMPILER_TARGETS_NVIDIA_TEST_SECOND_ASSEMBLY_H_
#define COMPILER_TARGETS_NVIDIA_TEST_SECOND_ASSEMBLY_H_

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/second_assembly.h"
#include "compiler/targets/nvidia/test_loop.h"
#include "compiler/targets/nvidia/toolchain.h"
#include "gtest/gtest.h"

namespace tritond::compiler::nvidia {

inline constexpr int kWarps = 8;
inline constexpr char kNote[] = "// second block: 65536 bytes of shared memory\n";
inline constexpr char kAllWarpsNote[] = "// all warps: 64 bytes of shared memory\n";

// A kernel that has `live` words in registers at once, `times` times, of blocks of 256 threads. They come from shared
// memory, for which it does not wait long. It waits for products of wgmma `waits` times.
inline std::string Kernel(int live, int times, absl::string_view note = kNote, int waits = 0) {
  std::string text = absl::StrCat(
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry kernel(.param .u64 a)\n.reqntid 256\n", note,
      "{\n.reg .b64 %rd<3>;\n.reg .b32 %r<", live,
      ">, %at;\nmov.u32 %at, %tid.x;\nld.param.u64 %rd1, [a];\ncvta.to.global.u64 %rd2, %rd1;\n");
  for (int time = 0; time < times; ++time) {
    for (int i = 0; i < live; ++i) absl::StrAppend(&text, "ld.volatile.shared.u32 %r", i, ", [%at+", 4 * i, "];\n");
    for (int i = 0; i < live; ++i)
      absl::StrAppend(&text, "st.volatile.global.u32 [%rd2+", 4 * i, "], %r", live - 1 - i, ";\n");
  }
  for (int i = 0; i < waits; ++i)
    absl::StrAppend(&text, "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
  return absl::StrCat(text, "ret;\n}\n");
}

// The same with a loop that reads words, and makes eight products of mma for so many sums.
inline std::string KernelWithProducts(int live, int sums, absl::string_view note = kNote, int words = 64) {
  std::string loop = "{\n.reg .f32 %m<32>;\n.reg .b32 %h<6>, %n;\n.reg .pred %p;\nmov.u32 %n, 0;\n";
  for (int i = 0; i < 4 * sums; ++i) absl::StrAppend(&loop, "mov.f32 %m", i, ", 0f00000000;\n");
  absl::StrAppend(&loop, "loop:\n.pragma \"nounroll\";\n");
  for (int i = 0; i < words; ++i) absl::StrAppend(&loop, "ld.volatile.shared.u32 %h", i % 6, ", [%at+", 4 * i, "];\n");
  for (int i = 0; i < 8; ++i) {
    const int at = i % sums * 4;
    const std::string sum = absl::StrCat("{%m", at, ", %m", at + 1, ", %m", at + 2, ", %m", at + 3, "}");
    absl::StrAppend(&loop, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ", sum,
                    ", {%h0, %h1, %h2, %h3}, {%h4, %h5}, ", sum, ";\n");
  }
  absl::StrAppend(&loop, "add.u32 %n, %n, 1;\nsetp.lt.u32 %p, %n, %at;\n@%p bra loop;\n");
  for (int i = 0; i < 4 * sums; ++i) absl::StrAppend(&loop, "st.volatile.global.f32 [%rd2+", 4 * i, "], %m", i, ";\n");
  return absl::StrReplaceAll(Kernel(live, 1, note), {{"ret;\n", absl::StrCat(loop, "}\nret;\n")}});
}

// Gives one binary to texts that ask for `blocks` blocks, and another one to all others. Those that ask for others, but
// fewer than `all`, may get `others`.
class TwoBinaries final : public Assembler {
 public:
  TwoBinaries(std::string one, std::string two, int blocks = 2, std::string others = "", int all = 8)
      : one_(std::move(one)),
        two_(std::move(two)),
        others_(std::move(others)),
        directive_(absl::StrCat("\n.minnctapersm ", blocks, "\n")),
        all_(absl::StrCat("\n.minnctapersm ", all, "\n")) {}
  std::string Name() const override { return "two binaries"; }
  int PtxVersion() const override { return 80; }
  std::string Path() const override { return ""; }
  absl::StatusOr<std::string> Assemble(const std::string& ptx, const AssembleOptions&) const override {
    const bool asks = absl::StrContains(ptx, directive_);
    ++(asks ? asked : plain);
    const bool asks_for_fewer = absl::StrContains(ptx, "\n.minnctapersm ") && !absl::StrContains(ptx, all_);
    if (!asks && !others_.empty() && asks_for_fewer) return others_;
    return asks ? two_ : one_;
  }
  mutable int plain = 0, asked = 0;

 private:
  const std::string one_, two_, others_, directive_, all_;
};

class SecondAssembly : public testing::Test {
 protected:
  void SetUp() override {
    auto assembler = Toolchain::ForConfig(TargetConfig())->GetAssembler();
    if (!assembler.ok()) GTEST_SKIP() << assembler.status();
    options_.arch = "sm_90a";
    info_.arch = 90;
    info_.registers = 64 * 1024;
    info_.multiprocessor = {/*warps=*/64,          /*blocks=*/32,
                            /*register_unit=*/256, /*shared_bytes=*/233472,
                            /*shared_unit=*/128,   /*reserved_shared_bytes=*/1024};
    large_ = Binary(Kernel(160, 1, ".maxnreg 168\n"));
    small_ = Binary(Kernel(100, 1));
    long_ = Binary(Kernel(100, 4));
  }

  std::string Binary(const std::string& text) {
    auto binary = (*Toolchain::ForConfig(TargetConfig())->GetAssembler())->Assemble(text, options_);
    return binary.ok() ? *binary : "";
  }

  // Each load waits for the one before, in nearly all of so many registers.
  std::string OneByOne(int registers = 32, int loads = 4, bool loops = true) {
    const std::string binary = Binary(LoopThatLoads(loads, false, "sm_90a", /*held=*/registers - 16, loops));
    const int64_t taken = ResourcesOfCubin(binary, "kernel").registers.value_or(0);
    EXPECT_GT(taken, registers - 8);
    EXPECT_LE(taken, registers);
    return binary;
  }

  std::string Choose(const Assembler& assembler, const std::string& text, int num_warps = kWarps) {
    return AssembleBest(assembler, text, options_, num_warps, info_).value_or("");
  }

  AssembleOptions options_;
  TargetInfo info_;
  std::string large_, small_, long_;
};

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_TEST_SECOND_ASSEMBLY_H_
