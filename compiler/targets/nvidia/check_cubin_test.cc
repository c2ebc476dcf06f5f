// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/elf_image.h"
#include "compiler/targets/nvidia/codegen.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::HasSubstr;

TEST(EntryOf, IsTheFirstEntryFunction) {
  EXPECT_EQ(EntryOf(".version 8.0\n.visible .entry kernel(.param .u64 a)\n{ret;}"), "kernel");
  EXPECT_EQ(EntryOf(".entry\n\t_k$1 ()"), "_k$1");
  EXPECT_EQ(EntryOf(".visible .entry // the kernel\n a() .entry b()"), "a");
}

TEST(EntryOf, IsNotInCommentsAndStrings) {
  EXPECT_EQ(EntryOf("// .entry a(\n/* .entry b( */ .file 1 \"/*.entry c(\"\n.visible .entry d()"), "d");
  EXPECT_EQ(EntryOf("// .entry a("), "");
  EXPECT_EQ(EntryOf("/* .entry a("), "");
  EXPECT_EQ(EntryOf("\".entry a("), "");
}

TEST(EntryOf, IsEmptyWhereThereIsNone) {
  for (const char* text : {"", ".entry", ".entry ", ".entrypoint k()", ".func f()"}) EXPECT_EQ(EntryOf(text), "");
}

TEST(CheckCubin, RefusesWhatIsNoElfFile) {
  for (const char* text : {"", "Usage  : ptxas [options] <ptx file>,..."})
    EXPECT_TRUE(absl::IsInternal(CheckCubin(text, kArchitectures[0], "kernel"))) << text;
}

// Every assembler of this machine, for every device.
class EveryArchitecture : public ::testing::TestWithParam<Architecture> {
 protected:
  void SetUp() override {
    const std::shared_ptr<Toolchain> toolchain = Toolchain::ForConfig(TargetConfig());
    auto assembler = toolchain->GetAssembler();
    if (!assembler.ok()) GTEST_SKIP() << assembler.status();
    AssembleOptions options;
    options.arch = GetParam().name;
    const int version = std::max(GetParam().min_ptx_version, 80);
    auto cubin =
        (*assembler)
            ->Assemble(".version " + std::to_string(version / 10) + "." + std::to_string(version % 10) + "\n.target " +
                           options.arch + "\n.address_size 64\n.visible .entry kernel(.param .u64 a)\n{\nret;\n}\n",
                       options);
    if (absl::IsFailedPrecondition(cubin.status())) GTEST_SKIP() << cubin.status();
    ASSERT_TRUE(cubin.ok()) << cubin.status();
    cubin_ = *std::move(cubin);
  }
  std::string cubin_;
};

TEST_P(EveryArchitecture, TakesItsOwnCubin) {
  const absl::Status status = CheckCubin(cubin_, GetParam(), "kernel");
  EXPECT_TRUE(status.ok()) << status;
}

TEST_P(EveryArchitecture, TakesNoOther) {
  for (const Architecture& other : kArchitectures) {
    if (other.compute_capability == GetParam().compute_capability) continue;
    EXPECT_THAT(std::string(CheckCubin(cubin_, other, "kernel").message()), HasSubstr("not for"));
  }
}

TEST_P(EveryArchitecture, MissesAnotherKernel) {
  EXPECT_THAT(std::string(CheckCubin(cubin_, GetParam(), "other").message()), HasSubstr("no function 'other'"));
}

TEST_P(EveryArchitecture, RefusesACubinThatIsCutOrForAnotherMachine) {
  for (size_t size = 0; size < cubin_.size(); size += 97)
    EXPECT_FALSE(CheckCubin(absl::string_view(cubin_).substr(0, size), GetParam(), "kernel").ok()) << size;
  std::string other = cubin_;
  other[18] = static_cast<char>(kElfMachineX86);  // Elf64_Ehdr::e_machine
  EXPECT_THAT(std::string(CheckCubin(other, GetParam(), "kernel").message()), HasSubstr("no executable for CUDA"));
}

INSTANTIATE_TEST_SUITE_P(All, EveryArchitecture, ::testing::ValuesIn(kArchitectures),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tritond::compiler::nvidia
