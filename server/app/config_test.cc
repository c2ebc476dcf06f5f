// SPDX-License-Identifier: Apache-2.0
#include "server/app/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

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
  absl::StatusOr<CommandLine> line = ParseCommandLine(static_cast<int>(argv.size()), argv.data());
  if (!line.ok()) return line.status();
  if (!line->problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(line->problems, "\n"));
  return line->config;
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

TEST(ParseCommandLine, ANodeOfTheEngineIsAHostAndAPort) {
  for (const char* wrong : {"127.0.0.1", "kv", ":6379", "kv:", "kv:0", "kv:65536", "kv:redis"}) {
    auto config = Parse({"--data-dir", "/tmp/x", "--cluster", wrong});
    EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument) << wrong;
    EXPECT_THAT(config.status().message(), HasSubstr("--cluster: ")) << wrong;
  }
  EXPECT_TRUE(Parse({"--data-dir", "/tmp/x", "--cluster", "kv:6379", "--cluster", "[::1]:6379"}).ok());
}

TEST(ParseCommandLine, AnUnknownFlagIsAUsageError) {
  EXPECT_EQ(Parse({"--data-dir", "/tmp/x", "--nonsense"}).status(), absl::CancelledError("2"));
}

TEST(ParseCommandLine, SuggestsTheFlagThatWasMeant) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(Parse({"--data-dir", "/tmp/x", "--wokers=3", "--zzz"}).status(), absl::CancelledError("2"));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("--wokers is no setting; did you mean --workers?"));
  EXPECT_THAT(said, testing::Not(HasSubstr("--zzz is")));
}

TEST(ParseCommandLine, HelpShowsDefaults) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(Parse({"--help"}).status(), absl::CancelledError("0"));
  const std::string help = testing::internal::GetCapturedStdout();
  for (const char* text : {"--memory-cache-mb UINT=512", "--http TEXT=127.0.0.1:7434", "--heartbeat-seconds FLOAT=1",
                           "--log-format TEXT=text", "--workers INT=-1"})
    EXPECT_THAT(help, HasSubstr(text));
}

TEST(ParseCommandLine, NamesEveryProblemOfFileAndValues) {
  const std::string path = WriteFile("wokers: 3\nhttp: nowhere\nworkers: many\nworkers: 2\nworkers: 3\n");
  const absl::Status status = Parse({"--config", path, "--listen", "nowhere", "--max-jobs", "0"}).status();
  EXPECT_EQ(absl::IsInvalidArgument(status), true) << status;
  EXPECT_THAT(std::vector<std::string>(absl::StrSplit(status.message(), '\n')),
              ElementsAre(path + ":1: unknown setting wokers; did you mean workers?",
                          path + ":3: workers: must be a whole number", path + ":5: workers: is set twice",
                          HasSubstr("--data-dir"), HasSubstr("--listen nowhere"), HasSubstr("--http nowhere"),
                          HasSubstr("--max-jobs")));
  const absl::Status missing = Parse({"--config", "/nonexistent.yaml"}).status();
  EXPECT_EQ(missing.message(), "/nonexistent.yaml: No such file or directory");
}

TEST(SampleConfig, ChangesNothingWhenItsLinesAreTaken) {
  const std::string sample = SampleConfig();
  std::string taken;
  for (absl::string_view line : absl::StrSplit(sample, '\n')) {
    if (line.size() > 1 && line[0] == '#' && line[1] != ' ') absl::StrAppend(&taken, line.substr(1), "\n");
  }
  ServerConfig config;
  const absl::Status read = ReadConfigFile(WriteFile(taken), &config);
  ASSERT_TRUE(read.ok()) << read << taken;
  config.data_dir = "/tmp/x";
  EXPECT_EQ(CheckConfig(config), absl::OkStatus());
  const ServerConfig defaults;
  EXPECT_EQ(config.http, defaults.http);
  EXPECT_EQ(config.name, "");
  EXPECT_TRUE(config.listen.empty());
  EXPECT_EQ(config.memory_cache_mb, defaults.memory_cache_mb);
  EXPECT_EQ(config.health, "on");
  EXPECT_EQ(config.hedge_after_seconds, defaults.hedge_after_seconds);
  EXPECT_FALSE(config.sync_writes);
}

TEST(CheckConfig, AnAddressWithoutItsPortIsRefused) {
  for (const char* address :
       {"127.0.0.1", "localhost:", "::1", "::1:7433", "[::1]", "host:https", "host:70000", "unix:"}) {
    const absl::Status status = Parse({"--data-dir", "/tmp/x", "--listen", address}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << address;
    EXPECT_THAT(std::string(status.message()), HasSubstr("--listen"));
  }
  for (const char* address : {"127.0.0.1:0", "[::1]:7433", "host.domain:7433", "unix:/tmp/s", "unix:s"})
    EXPECT_TRUE(Parse({"--data-dir", "/tmp/x", "--listen", address}).ok()) << address;
  EXPECT_FALSE(Parse({"--data-dir", "/tmp/x", "--http", "127.0.0.1"}).ok());
  EXPECT_TRUE(Parse({"--data-dir", "/tmp/x", "--http", "none"}).ok());
}

TEST(CheckConfig, ARedisPortTakesAnAddressAndASizeWithinRedisOwn) {
  for (const auto& [flag, value] : {std::pair("--redis-listen", "6379"), std::pair("--redis-listen", "unix:/tmp/s"),
                                    std::pair("--redis-listen", "host:redis"), std::pair("--redis-max-request-mb", "0"),
                                    std::pair("--redis-max-request-mb", "513")}) {
    const absl::Status status = Parse({"--data-dir", "/tmp/x", flag, value}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << flag << " " << value;
    EXPECT_THAT(std::string(status.message()), HasSubstr(flag));
  }
  const auto config = Parse({"--data-dir", "/tmp/x", "--redis-listen", "[::1]:6379", "--redis-max-request-mb", "512"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->redis_listen, "[::1]:6379");
  EXPECT_EQ(ServerConfig().redis_listen, "") << "there is no port that nobody asked for";
}

TEST(CheckConfig, TimesAndSizesThatMakeNoSenseAreRefused) {
  for (const char* flag :
       {"--drain-grace-seconds", "--error-lifetime-seconds", "--exit-when-idle-seconds", "--hedge-after-seconds",
        "--keep-jobs-hours", "--cluster-keep-hours", "--heartbeat-seconds"}) {
    for (const char* value : {"-1", "nan", "inf"}) {
      const absl::Status status = Parse({"--data-dir", "/tmp/x", absl::StrCat(flag, "=", value)}).status();
      EXPECT_FALSE(status.ok()) << flag << " " << value;
    }
  }
  EXPECT_FALSE(Parse({"--data-dir", "/tmp/x", "--memory-cache-mb=-5"}).ok());
  EXPECT_FALSE(Parse({"--data-dir", "/tmp/x", "--max-stored-mb=18446744073709551615"}).ok());
  ServerConfig config;
  EXPECT_FALSE(ReadConfigFile(WriteFile("memory_cache_mb: -5\n"), &config).ok());
  ASSERT_TRUE(ReadConfigFile(WriteFile("data_dir: /tmp/x\ndrain_grace_seconds: .nan\n"), &config).ok());
  EXPECT_THAT(std::string(CheckConfig(config).message()), HasSubstr("--drain-grace-seconds"));
}

TEST(CheckConfig, TlsTakesACertificateAndItsKeyWithOrWithoutAClientAuthority) {
  const struct {
    bool certificate, key, client_ca;
    const char* missing;  // what the error tells to set; nullptr: a sound configuration
  } cases[] = {
      {false, false, false, nullptr},
      {true, true, false, nullptr},
      {true, true, true, nullptr},
      {true, false, false, "Set --tls-key"},
      {true, false, true, "Set --tls-key"},
      {false, true, false, "Set --tls-certificate"},
      {false, true, true, "Set --tls-certificate"},
      {false, false, true, "--tls-certificate and --tls-key"},
  };
  for (const auto& [certificate, key, client_ca, missing] : cases) {
    std::vector<std::string> arguments{"--data-dir", "/tmp/x"};
    if (certificate) arguments.push_back("--tls-certificate=server.pem");
    if (key) arguments.push_back("--tls-key=server.key");
    if (client_ca) arguments.push_back("--tls-client-ca=ca.pem");
    const absl::Status status = Parse(arguments).status();
    SCOPED_TRACE(absl::StrCat(certificate, key, client_ca, ": ", status.ToString()));
    if (missing == nullptr) {
      EXPECT_TRUE(status.ok());
      continue;
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(missing));
  }
}

TEST(CheckConfig, ReflectionAndHealthTakeTheirOwnWords) {
  for (const char* value : {"auto", "on", "off"})
    EXPECT_TRUE(Parse({"--data-dir", "/tmp/x", "--reflection", value}).ok()) << value;
  EXPECT_THAT(Parse({"--data-dir", "/tmp/x", "--reflection", "yes"}).status().message(), HasSubstr("--reflection"));
  EXPECT_TRUE(Parse({"--data-dir", "/tmp/x", "--health", "off"}).ok());
  EXPECT_THAT(Parse({"--data-dir", "/tmp/x", "--health", "auto"}).status().message(), HasSubstr("--health"));
}

TEST(UnixSocketMode, IsOctal) {
  ServerConfig config;
  EXPECT_EQ(UnixSocketMode(config).value(), 0u);
  ASSERT_TRUE(ReadConfigFile(WriteFile("unix_socket_mode: 0660\n"), &config).ok());
  EXPECT_EQ(UnixSocketMode(config).value(), 0660u);
  EXPECT_TRUE(Parse({"--data-dir", "/tmp/x", "--unix-socket-mode", "666"}).ok());
  for (const char* mode : {"0", "0888", "rw", "07777", "-1"})
    EXPECT_FALSE(Parse({"--data-dir", "/tmp/x", absl::StrCat("--unix-socket-mode=", mode)}).ok()) << mode;
}

TEST(ReadConfigFile, NamesWhatIsWrong) {
  ServerConfig config;
  EXPECT_THAT(ReadConfigFile(WriteFile("wokers: 3\n"), &config).message(), HasSubstr("unknown setting wokers"));
  EXPECT_THAT(ReadConfigFile(WriteFile("workers: many\n"), &config).message(), HasSubstr("workers"));
  EXPECT_THAT(ReadConfigFile(WriteFile("- 1\n"), &config).message(), HasSubstr("map"));
  EXPECT_THAT(ReadConfigFile(WriteFile("a: [\n"), &config).message(), HasSubstr(".yaml"));
  EXPECT_EQ(ReadConfigFile("/nonexistent.yaml", &config).code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(ReadConfigFile(testing::TempDir(), &config).message(), HasSubstr("cannot be read"));
}

TEST(ReadConfigFile, AnEntryHasANameAndAValue) {
  ServerConfig config;
  EXPECT_THAT(ReadConfigFile(WriteFile("access_file:\n"), &config).message(), HasSubstr("access_file: has no value"));
  EXPECT_THAT(ReadConfigFile(WriteFile("? [a, b]\n: 1\n"), &config).message(), HasSubstr(":1: an entry has no name"));
  EXPECT_TRUE(ReadConfigFile(WriteFile("access_file: \"\"\n"), &config).ok());
}

TEST(ReadConfigFile, AnEmptyFileChangesNothing) {
  ServerConfig config;
  EXPECT_TRUE(ReadConfigFile(WriteFile(""), &config).ok());
  EXPECT_EQ(config.workers, -1);
}

}  // namespace
}  // namespace tritond::server
