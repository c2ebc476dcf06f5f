// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/disassembler.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "compiler/targets/nvidia/toolchain.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler::nvidia {
namespace {

using testing::HasSubstr;

class DisassemblerTest : public testing::Test {
 protected:
  DisassemblerTest() { mkdir(folder_.c_str(), 0700); }
  ~DisassemblerTest() override {
    unlink(path_.c_str());
    rmdir(folder_.c_str());
  }
  // A program that behaves as nvdisasm, as far as this text of a shell does.
  std::unique_ptr<Disassembler> Fake(const std::string& text) {
    std::ofstream(path_) << "#!/bin/sh\n[ \"$1\" = --version ] && echo 'tools, release 13.2, V13.2.78' && exit\n"
                         << text;
    chmod(path_.c_str(), 0700);
    absl::StatusOr<std::unique_ptr<Disassembler>> opened = Disassembler::Open(path_);
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *std::move(opened);
  }

  const std::string folder_ = absl::StrCat(testing::TempDir(), "/disassembler", getpid());
  const std::string path_ = folder_ + "/nvdisasm";
};

TEST_F(DisassemblerTest, GivesWhatTheProgramPrints) {
  const auto disassembler = Fake("echo a warning >&2; echo \"$1 $2\"; cat \"$3\"");
  EXPECT_EQ(disassembler->name(), "nvdisasm 13.2");
  const absl::StatusOr<std::string> text = disassembler->Disassemble("the cubin", 10);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, "--print-code --print-line-info\nthe cubin");
}

TEST_F(DisassemblerTest, AFailureCarriesTheProgramsWords) {
  const auto disassembler = Fake("echo \"$3 is no cubin\" >&2; exit 1");
  const absl::Status status = disassembler->Disassemble("x", 10).status();
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("nvdisasm 13.2: kernel.cubin is no cubin"));
}

TEST_F(DisassemblerTest, AnEndlessProgramIsStopped) {
  const auto disassembler = Fake("while :; do :; done");
  EXPECT_TRUE(absl::IsResourceExhausted(disassembler->Disassemble("x", 1).status()));
}

TEST_F(DisassemblerTest, AFileThatIsNoProgramIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(Disassembler::Open("/nonexistent").status()));
  EXPECT_TRUE(absl::IsNotFound(Disassembler::Open("/bin/true").status()));
}

// A worker would end at a tool that it cannot confine.
TEST_F(DisassemblerTest, AScriptIsNotTakenForOne) {
  Fake("echo text");
  TargetConfig config;
  config.search_usual_places = false;
  config.path_dirs = {folder_};
  const std::shared_ptr<Toolchain> toolchain = Toolchain::ForConfig(config);
  EXPECT_TRUE(absl::IsFailedPrecondition(toolchain->GetDisassembler().status()));
  EXPECT_THAT(toolchain->Id(), testing::Not(HasSubstr("nvdisasm")));
}

TEST(Toolchain, NamesTheWheelThatHasADisassembler) {
  TargetConfig config;
  config.search_usual_places = false;
  config.tool_roots = {"/nowhere"};
  const absl::Status status = Toolchain::ForConfig(config)->GetDisassembler().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("--target /nowhere nvidia-cuda-nvdisasm"));
}

}  // namespace
}  // namespace tritond::compiler::nvidia
