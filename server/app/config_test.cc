// SPDX-License-Identifier: Apache-2.0
#include "server/app/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace tritond::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string WriteFile(const std::string& text) {
  const std::string path =
      testing::TempDir() + "/tritond_config_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".yaml";
  std::ofstream(path) << text;
  return path;
}

absl::StatusOr<ServerConfig> Parse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "tritond");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  return ParseCommandLine(static_cast<int>(argv.size()), argv.data());
}

TEST(ParseCommandLine, TakesEachFlag) {
  auto config = Parse({"--data-dir", "/tmp/x", "--listen", "127.0.0.1:1", "--listen", "unix:/tmp/s", "--http", "none",
                       "--workers", "3", "--max-ir-bytes", "1000", "--sync-writes"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->data_dir, "/tmp/x");
  EXPECT_THAT(config->listen, ElementsAre("127.0.0.1:1", "unix:/tmp/s"));
  EXPECT_EQ(config->http, "none");
  EXPECT_EQ(config->workers, 3);
  EXPECT_EQ(config->max_ir_bytes, 1000u);
  EXPECT_TRUE(config->sync_writes);
}

TEST(ParseCommandLine, ByItselfADaemonListensOnThisMachineAlone) {
  auto config = Parse({"--data-dir", "/tmp/x"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->listen, testing::IsEmpty());
  EXPECT_THAT(kDefaultListen, testing::StartsWith("127.0.0.1:"));
  EXPECT_THAT(config->http, testing::StartsWith("127.0.0.1:"));
}

TEST(ParseCommandLine, FlagsPrevailOverTheFile) {
  const std::string path = WriteFile("data_dir: /from/file\nworkers: 5\nlisten: [\"127.0.0.1:9\"]\n");
  auto config = Parse({"--config", path, "--workers", "7"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->data_dir, "/from/file");
  EXPECT_EQ(config->workers, 7);
  EXPECT_THAT(config->listen, ElementsAre("127.0.0.1:9"));
}

TEST(ParseCommandLine, WantsADataDir) {
  EXPECT_EQ(Parse({}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Parse({}).status().message(), HasSubstr("--data-dir"));
}

TEST(ParseCommandLine, AnUnknownFlagIsAUsageError) {
  EXPECT_EQ(Parse({"--data-dir", "/tmp/x", "--nonsense"}).status(), absl::CancelledError("2"));
}

TEST(ReadConfigFile, NamesWhatIsWrong) {
  ServerConfig config;
  EXPECT_THAT(ReadConfigFile(WriteFile("wokers: 3\n"), &config).message(), HasSubstr("unknown setting wokers"));
  EXPECT_THAT(ReadConfigFile(WriteFile("workers: many\n"), &config).message(), HasSubstr("workers"));
  EXPECT_THAT(ReadConfigFile(WriteFile("- 1\n"), &config).message(), HasSubstr("map"));
  EXPECT_THAT(ReadConfigFile(WriteFile("a: [\n"), &config).message(), HasSubstr(".yaml"));
  EXPECT_EQ(ReadConfigFile("/nonexistent.yaml", &config).code(), absl::StatusCode::kNotFound);
}

TEST(ReadConfigFile, AnEmptyFileChangesNothing) {
  ServerConfig config;
  EXPECT_TRUE(ReadConfigFile(WriteFile(""), &config).ok());
  EXPECT_EQ(config.workers, -1);
}

}  // namespace
}  // namespace tritond::server
