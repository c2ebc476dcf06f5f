// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/intel/ocloc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "compiler/targets/intel/own_options.h"

namespace tritond::compiler::intel {
namespace {

using testing::HasSubstr;

class OclocTest : public testing::Test {
 protected:
  OclocTest() { std::filesystem::create_directories(folder_ + "/bin"); }
  ~OclocTest() override { std::filesystem::remove_all(folder_); }

  // A program that behaves as ocloc, as far as this text of a shell does. $4 is the module, ${11} what it becomes.
  Ocloc Fake(const std::string& text) {
    std::ofstream(path_) << "#!/bin/sh\n" << text;
    chmod(path_.c_str(), 0700);
    return Ocloc(path_);
  }

  const std::string folder_ = absl::StrCat(testing::TempDir(), "/ocloc", getpid());
  const std::string path_ = folder_ + "/bin/ocloc";
};

TEST_F(OclocTest, GivesWhatTheProgramWrites) {
  const Ocloc ocloc = Fake("(echo $1 $5 $6 $7 $8 ${12} ${13}; cat $4) > ${11}");
  const absl::StatusOr<std::string> binary = ocloc.Compile("the module", "pvc", RegisterFlags("256"), 10);
  ASSERT_TRUE(binary.ok()) << binary.status();
  EXPECT_EQ(*binary, "compile -device pvc --format zebin -options -cl-intel-256-GRF-per-thread\nthe module");
}

TEST_F(OclocTest, AFailureCarriesTheProgramsWords) {
  for (const char* text :
       {"echo Command was: $0; echo no device; exit 1", "echo no device", "echo no device; kill -11 $$"}) {
    const absl::Status status = Fake(text).Compile("x", "bmg", "", 10).status();
    EXPECT_TRUE(absl::IsInternal(status)) << status;
    EXPECT_THAT(std::string(status.message()), "ocloc for bmg: no device");
  }
}

TEST_F(OclocTest, AnEndlessProgramIsStopped) {
  EXPECT_TRUE(absl::IsResourceExhausted(Fake("while :; do :; done").Compile("x", "pvc", "", 1).status()));
}

TEST_F(OclocTest, OnlyProgramsAreFound) {
  TargetConfig config;
  config.search_usual_places = false;
  config.tool_roots = {folder_};
  Fake("exit 0");
  const absl::Status status = Ocloc::Find(config).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << "a script's needs are not known";
  EXPECT_THAT(std::string(status.message()), HasSubstr(absl::StrCat("no ocloc in ", folder_, "/bin;")));
  unlink(path_.c_str());
  std::ofstream(path_) << "\177ELF";
  std::filesystem::create_directories(folder_ + "/lib64");
  std::ofstream(folder_ + "/lib64/libigc.so.2") << "a";
  const auto found = Ocloc::Find(config);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT((*found)->Files(), testing::ElementsAre(path_, HasSubstr("/lib64/libigc.so.2")));
  EXPECT_THAT((*found)->Id(), testing::MatchesRegex("ocloc [0-9a-f]{64}"));
  EXPECT_EQ(*Ocloc::Find(config), *found);
}

TEST_F(OclocTest, ItsIdIsThatOfItsBytes) {
  std::ofstream(path_) << "\177ELF";
  const std::string first = Ocloc(path_).Id();
  EXPECT_EQ(Ocloc(path_).Id(), first);
  std::ofstream(path_) << "\177ELF, newer";
  EXPECT_NE(Ocloc(path_).Id(), first);
}

}  // namespace
}  // namespace tritond::compiler::intel
