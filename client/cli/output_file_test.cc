// SPDX-License-Identifier: Apache-2.0
#include "client/cli/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tritond::client {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() : folder_(fs::path(testing::TempDir()) / absl::StrCat("output_file_", getpid())) {
    fs::create_directories(folder_);
  }
  ~OutputFileTest() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Read(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  std::ptrdiff_t Files() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }

  const fs::path folder_;
};

TEST_F(OutputFileTest, AppearsWholeAtTheEnd) {
  {
    OutputFile file(Path("a"));
    EXPECT_TRUE(file.Write("one ").ok());
    EXPECT_TRUE(file.Write("two").ok());
    EXPECT_FALSE(fs::exists(Path("a")));
    EXPECT_TRUE(file.Commit().ok());
  }
  EXPECT_EQ(Read("a"), "one two");
  EXPECT_EQ(Files(), 1);
}

TEST_F(OutputFileTest, WithoutACommitNothingChanges) {
  ASSERT_TRUE(WriteFile(Path("a"), "old", std::cout).ok());
  { EXPECT_TRUE(OutputFile(Path("a")).Write("new").ok()); }
  EXPECT_EQ(Read("a"), "old");
  EXPECT_EQ(Files(), 1);
}

TEST_F(OutputFileTest, ManyMayWriteTheSameFileAtOnce) {
  const std::string bytes(1 << 20, 'x');
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&] {
      for (int turn = 0; turn < 20; ++turn) {
        const absl::Status written = WriteFile(Path("a"), bytes, std::cout);
        EXPECT_TRUE(written.ok()) << written;
        EXPECT_EQ(fs::file_size(Path("a")), bytes.size());
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(Files(), 1);
}

TEST_F(OutputFileTest, ADeviceOrPipeIsWrittenInPlace) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  std::string came;
  std::thread reader([&] { came = Read("pipe"); });
  EXPECT_TRUE(WriteFile(Path("pipe"), "through the pipe", std::cout).ok());
  reader.join();
  EXPECT_EQ(came, "through the pipe");
  EXPECT_TRUE(fs::is_fifo(Path("pipe")));
}

TEST_F(OutputFileTest, ASymbolicLinkStaysOne) {
  ASSERT_TRUE(WriteFile(Path("a"), "old", std::cout).ok());
  fs::create_symlink("a", Path("link"));
  EXPECT_TRUE(WriteFile(Path("link"), "new", std::cout).ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Read("a"), "new");
}

TEST_F(OutputFileTest, SaysWhichFileCannotBeWrittenAndWhy) {
  const absl::Status status = WriteFile(Path("none/a"), "x", std::cout);
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_THAT(std::string(status.message()), testing::EndsWith("none/a: No such file or directory"));
  EXPECT_FALSE(WriteFile(folder_.string(), "x", std::cout).ok());
  if (fs::exists("/dev/full")) {
    EXPECT_THAT(std::string(WriteFile("/dev/full", "x", std::cout).message()), testing::HasSubstr("No space left"));
    EXPECT_TRUE(fs::is_character_file("/dev/full"));
  }
}

}  // namespace
}  // namespace tritond::client
