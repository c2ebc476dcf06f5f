// SPDX-License-Identifier: Apache-2.0
// The command line against a service that compiles by echoing: the binary of a kernel is its IR.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/command_line_fixture.h"

namespace tritond::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

TEST_F(CommandLine, CompileWritesTheBinaryAndSaysMissThenHit) {
  const std::string file = Write("add.ttir", "module {}");
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "-o", Path("add.cubin")}), kDone) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("add  miss"));
  EXPECT_EQ(Read("add.cubin"), "module {}");
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90"}), kDone);
  EXPECT_THAT(out_.str(), HasSubstr("add  hit"));
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--no-cache"}), kDone);
  EXPECT_THAT(out_.str(), HasSubstr("add  miss"));
}

TEST_F(CommandLine, FlagsSayWhichStoredResultsCount) {
  const std::string file = Write("in/add.ttir", "module {}");
  const auto mode_of = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--target", "cuda:90"});
    EXPECT_EQ(Run(words), kDone) << err_.str();
    return compile_.Last().cache_mode();
  };
  EXPECT_EQ(mode_of({"compile", file}), v1::CACHE_MODE_USE);
  EXPECT_EQ(mode_of({"compile", file, "--no-cache"}), v1::CACHE_MODE_REFRESH);
  EXPECT_EQ(mode_of({"compile", file, "--any-build"}), v1::CACHE_MODE_ANY_BUILD);
  EXPECT_EQ(mode_of({"prebuild", Path("in"), "--out-dir", Path("out"), "--any-build"}), v1::CACHE_MODE_ANY_BUILD);
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--any-build", "--no-cache"}), kUsage);
}

TEST_F(CommandLine, JsonIsOneObjectWithTheDocumentedNames) {
  const std::string file = Write("add.ttir", "module {}");
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--json"}), kDone) << err_.str();
  const auto line = nlohmann::json::parse(out_.str());
  EXPECT_EQ(line["name"], "add");
  EXPECT_EQ(line["key"].get<std::string>().size(), 64u);
  EXPECT_EQ(line["cache"], "miss");
  EXPECT_EQ(line["artifacts"], nlohmann::json({{"binary", proto::Sha256Hex("module {}")}}));
  EXPECT_EQ(line["stages_ms"], nlohmann::json({{"llir", 1.5}}));
  EXPECT_TRUE(line["error"].is_null());
  EXPECT_EQ(line.size(), 6u);
}

TEST_F(CommandLine, VerboseTellsWhatTheCompileTook) {
  const std::string file = Write("add.ttir", "module {}");
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--verbose"}), kDone);
  for (const char* text : {"llir         1.5 ms", "CPU        250.0 ms", "memory     96.0 MiB", "by node/17 of red",
                           "made 2023-11-14T22:13:20Z", "signed with key 0123456789abcdef\n"})
    EXPECT_THAT(err_.str(), HasSubstr(text));
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--verbose", "--json"}), kDone);
  const auto line = nlohmann::json::parse(out_.str());
  EXPECT_EQ(line["cpu_s"], 0.25);
  EXPECT_EQ(line["peak_memory_bytes"], 96 << 20);
  EXPECT_EQ(line["worker"], "node/17");
  EXPECT_EQ(line["daemon"], "red");
  EXPECT_EQ(line["build"], "build-1");
  EXPECT_EQ(line["created"], "2023-11-14T22:13:20Z");
  EXPECT_EQ(line["signer"], "0123456789abcdef" + std::string(48, '0'));
}

TEST_F(CommandLine, FlagsOverrideTheOptionsFile) {
  const std::string file = Write("add.ttir", "module {}");
  const std::string options = Write("o.json", R"({"num_warps": 4, "num_stages": 2, "shared": 64})");
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--options", options, "--num-warps", "8", "--option", "x=y",
                 "--emit", "asm,binary", "--debug-info", "--launch-abi", "global"}),
            kDone)
      << err_.str();
  const v1::CompileRequest& request = compile_.Last();
  EXPECT_EQ(request.target(), "cuda:90");
  EXPECT_EQ(request.options().fields().at("num_warps").number_value(), 8);
  EXPECT_EQ(request.options().fields().at("num_stages").number_value(), 2);
  EXPECT_EQ(request.options().fields().at("x").string_value(), "y");
  EXPECT_EQ(request.options().fields_size(), 3);
  EXPECT_THAT(request.outputs(), ElementsAre(v1::STAGE_ASM, v1::STAGE_BINARY));
  EXPECT_TRUE(request.debug_info());
  EXPECT_TRUE(request.abi().global_scratch());
  EXPECT_FALSE(request.abi().profile_scratch());
}

TEST_F(CommandLine, TheFileMayStandAfterTheFlags) {
  const std::string file = Write("add.ttir", "module {}");
  EXPECT_EQ(Run({"compile", "--target", "cuda:90", "--option", "a=1", "--option", "b=2", "--emit", "asm", file}), kDone)
      << err_.str();
  EXPECT_EQ(compile_.Last().options().fields_size(), 2);
}

TEST_F(CommandLine, TheExtensionTellsWhereToStart) {
  EXPECT_EQ(Run({"compile", Write("k.ptx", ".version 8.0"), "--target", "cuda:90"}), kDone) << err_.str();
  EXPECT_EQ(compile_.Last().input(), v1::STAGE_ASM);
  EXPECT_EQ(Run({"compile", Write("k.txt", "x"), "--target", "cuda:90"}), kUsage);
  EXPECT_EQ(Run({"compile", Path("k.txt"), "--target", "cuda:90", "--input", "ttgir"}), kDone) << err_.str();
  EXPECT_EQ(compile_.Last().input(), v1::STAGE_TTGIR);
}

TEST_F(CommandLine, SeveralKindsLieSideBySide) {
  const std::string file = Write("k.ttir", "module {}");
  EXPECT_EQ(
      Run({"compile", file, "--target", "cuda:90", "--emit", "binary,asm", "-o", Path("out.bin"), "--metadata", "-"}),
      kDone)
      << err_.str();
  EXPECT_EQ(Read("out.bin"), "module {}");
  EXPECT_EQ(Read("out.ptx"), "module {}");
  EXPECT_EQ(nlohmann::json::parse(out_.str())["name"], "kernel");
}

TEST_F(CommandLine, AFailedCompileNamesThePlaceAndExitsOne) {
  const std::string file = Write("k.ttir", "bad");
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90"}), kFailed);
  EXPECT_EQ(err_.str(), file + ":3:14: error: expected ':' [ttir]\n");
  EXPECT_THAT(out_.str(), IsEmpty());
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--json"}), kFailed);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["error"], file + ":3:14: error: expected ':' [ttir]");
}

TEST_F(CommandLine, WrongUsageExitsTwo) {
  const std::string file = Write("k.ttir", "module {}");
  EXPECT_EQ(Run({}), kUsage);
  EXPECT_EQ(Run({"compile"}), kUsage);
  EXPECT_EQ(Run({"compile", Path("missing.ttir"), "--target", "cuda:90"}), kUsage);
  EXPECT_THAT(err_.str(), HasSubstr("missing.ttir: No such file"));
  EXPECT_EQ(Run({"compile", file}), kUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--target"));
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--emit", "elf"}), kUsage);
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--option", "novalue"}), kUsage);
  EXPECT_EQ(Run({"compile", folder_.string(), "--target", "cuda:90", "--input", "ttir"}), kUsage);
  EXPECT_EQ(Run({"get", "xyz"}), kUsage);
}

TEST_F(CommandLine, NoServerExitsThree) {
  const std::string file = Write("k.ttir", "module {}");
  EXPECT_EQ(Run({"--server", "unix:" + Path("none.sock"), "compile", file, "--target", "cuda:90"}), kNoServer);
  EXPECT_THAT(err_.str(), HasSubstr("no server at unix:"));
  EXPECT_EQ(Run({"stats", "--server", "unix:" + Path("none.sock")}), kNoServer);
}

TEST_F(CommandLine, OneOfSeveralServersIsEnough) {
  const std::string servers = absl::StrCat("unix:", Path("none.sock"), ",127.0.0.1:", port_);
  for (const char* ir : {"a", "b", "c", "d"}) {
    const std::string file = Write(absl::StrCat(ir, ".ttir"), ir);
    EXPECT_EQ(Run({"--server", servers, "compile", file, "--target", "cuda:90"}), kDone) << err_.str();
  }
  EXPECT_EQ(Run({"--server", servers + "," + servers, "stats"}), kUsage);
  EXPECT_THAT(err_.str(), HasSubstr("named twice"));
}

TEST_F(CommandLine, WithFallbackAServerThatCannotHelpInTimeExitsThree) {
  const std::string file = Write("k.ttir", "slow");
  compile_.delay = absl::Seconds(30);
  const absl::Time start = absl::Now();
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--fallback", "0.2"}), kNoServer);
  EXPECT_LT(absl::Now() - start, absl::Seconds(10));
  EXPECT_EQ(Run({"prebuild", folder_.string(), "--target", "cuda:90", "--out-dir", Path("out"), "--fallback", "0.2"}),
            kNoServer);
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--timeout", "0.2"}), kFailed);
}

TEST_F(CommandLine, WithFallbackEveryReasonOfTheServiceExitsThree) {
  const std::string file = Write("k.ttir", "module {}");
  const std::vector<grpc::Status> refusals = {
      Answer(grpc::StatusCode::UNAUTHENTICATED, "UNAUTHENTICATED"),
      Answer(grpc::StatusCode::PERMISSION_DENIED, "PERMISSION_DENIED"),
      Answer(grpc::StatusCode::INVALID_ARGUMENT, "UNKNOWN_TARGET"),
      Answer(grpc::StatusCode::FAILED_PRECONDITION, "BINARY_UNAVAILABLE"),
      Answer(grpc::StatusCode::FAILED_PRECONDITION, "QUARANTINED"),
      Answer(grpc::StatusCode::UNIMPLEMENTED, "COMPILE_FAILED"),
      Answer(grpc::StatusCode::INTERNAL, "COMPILE_FAILED"),
  };
  for (const grpc::Status& refusal : refusals) {
    compile_.refusal = refusal;
    EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--fallback", "30"}), kNoServer) << refusal.error_code();
    EXPECT_EQ(Run({"compile", file, "--target", "cuda:90"}), kFailed) << refusal.error_code();
  }
  compile_.refusal = Answer(grpc::StatusCode::INVALID_ARGUMENT, "BAD_REQUEST");
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--fallback", "30"}), kFailed);
}

TEST_F(CommandLine, AServerThatDrainsAndAProxyInBetweenAreNoServer) {
  const std::string file = Write("k.ttir", "module {}");
  compile_.refusal = Answer(grpc::StatusCode::UNAVAILABLE, "DRAINING");
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90"}), kNoServer);
  compile_.refusal = Answer(grpc::StatusCode::UNIMPLEMENTED, "");
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90"}), kNoServer);
}

TEST_F(CommandLine, JsonHasALineForEachKernelEvenIfTheServerIsLost) {
  Write("in/a.ttir", "a");
  Write("in/b.ttir", "b");
  Write("in/c.ttir", "c");
  const auto errors = [this] {
    int count = 0;
    for (const auto& line : absl::StrSplit(out_.str(), '\n', absl::SkipEmpty())) {
      count += nlohmann::json::parse(line)["error"].is_string() ? 1 : 0;
    }
    return count;
  };
  const std::string none = "unix:" + Path("none.sock");
  EXPECT_EQ(Run({"--server", none, "compile", Path("in/a.ttir"), "--target", "cuda:90", "--json"}), kNoServer);
  EXPECT_EQ(errors(), 1);
  const std::vector<std::string> prebuild = {"prebuild",  Path("in"), "--target", "cuda:90", "--out-dir",
                                             Path("out"), "--json",   "--jobs",   "1"};
  std::vector<std::string> words = {"--server", none};
  words.insert(words.end(), prebuild.begin(), prebuild.end());
  EXPECT_EQ(Run(words), kNoServer);
  EXPECT_EQ(errors(), 3);
  compile_.refusal = Answer(grpc::StatusCode::UNIMPLEMENTED, "");
  EXPECT_EQ(Run(prebuild), kNoServer);
  EXPECT_EQ(errors(), 3);
  EXPECT_THAT(err_.str(), HasSubstr("2 kernels were not asked for"));
}

TEST_F(CommandLine, AStandardOutputThatTakesNothingIsAFailure) {
  const std::string file = Write("k.ttir", "module {}");
  std::ofstream full("/dev/full");
  const std::string server = absl::StrCat("127.0.0.1:", port_);
  for (const char* json : {"--json", "--verbose"}) {
    const std::vector<const char*> argv = {"triton-client", "compile", file.c_str(), "--target", "cuda:90", json};
    EXPECT_EQ(RunCommandLine(static_cast<int>(argv.size()), argv.data(), server, Console{full, err_}), kFailed);
    full.clear();
  }
  EXPECT_THAT(err_.str(), HasSubstr("standard output: cannot be written"));
}

TEST_F(CommandLine, ServersThatAnswerAreShownIfOthersDoNot) {
  const std::string servers = absl::StrCat("unix:", Path("none.sock"), ",127.0.0.1:", port_);
  EXPECT_EQ(Run({"--server", servers, "jobs"}), kDone);
  EXPECT_THAT(out_.str(), HasSubstr("job-1"));
  EXPECT_THAT(err_.str(), HasSubstr("no server at unix:"));
  EXPECT_EQ(Run({"--server", servers, "workers"}), kDone);
  EXPECT_THAT(out_.str(), HasSubstr("node7/1234"));
  EXPECT_EQ(Run({"--server", servers, "stats", "--json"}), kDone);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["server"], absl::StrCat("127.0.0.1:", port_));
  EXPECT_THAT(err_.str(), HasSubstr("no server at unix:"));
  EXPECT_EQ(Run({"--server", "unix:" + Path("a") + ",unix:" + Path("b"), "jobs"}), kNoServer);
}

TEST_F(CommandLine, OperatorsDrainEvictAndRelease) {
  EXPECT_EQ(Run({"drain"}), kDone) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("draining, 4 jobs remain"));
  EXPECT_EQ(Run({"resume"}), kDone);
  EXPECT_THAT(out_.str(), HasSubstr("takes compiles"));
  EXPECT_EQ(Run({"evict", "k1", "k2"}), kDone);
  EXPECT_THAT(out_.str(), testing::EndsWith("2 results, 7 artifacts\n"));
  EXPECT_EQ(Run({"evict", "--everything"}), kDone);
  EXPECT_THAT(out_.str(), HasSubstr("100 results, 7 artifacts; 300 records, 0 artifacts of the cluster's engine"));
  EXPECT_EQ(Run({"evict"}), kUsage);
  EXPECT_EQ(Run({"evict", "k1", "--everything"}), kUsage);
  EXPECT_EQ(Run({"quarantine", "list"}), kDone);
  EXPECT_THAT(out_.str(), testing::ContainsRegex("k1.*softmax\n  signal 11"));
  EXPECT_EQ(Run({"quarantine", "list", "--json"}), kDone);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["key"], "k1");
  EXPECT_EQ(Run({"quarantine", "release", "k1"}), kDone);
  EXPECT_EQ(Run({"quarantine", "release", "k2"}), kFailed);
  EXPECT_EQ(Run({"quarantine"}), kUsage);
}

TEST_F(CommandLine, ADrainThatOneServerDidNotHearIsNotDone) {
  const std::string servers = absl::StrCat("unix:", Path("none.sock"), ",127.0.0.1:", port_);
  EXPECT_EQ(Run({"--server", servers, "drain"}), kNoServer);
  EXPECT_THAT(out_.str(), HasSubstr("draining"));
}

TEST_F(CommandLine, WhyThereIsNoServerIsSaid) {
  EXPECT_EQ(Run({"--server", "unix:" + Path("none.sock"), "stats"}), kNoServer);
  EXPECT_THAT(err_.str(), HasSubstr("no such socket"));
  EXPECT_EQ(Run({"--server", "127.0.0.1:1", "stats"}), kNoServer);
  EXPECT_THAT(err_.str(), HasSubstr("connection refused"));
  EXPECT_EQ(Run({"--tls", "stats"}), kNoServer);
  EXPECT_THAT(err_.str(), HasSubstr("TLS"));
  EXPECT_EQ(Run({"--server", "127.0.0.1:1,127.0.0.1:2", "compile", Write("k.ttir", "m"), "--target", "cuda:90"}),
            kNoServer);
  EXPECT_THAT(err_.str(), HasSubstr("at 127.0.0.1:2: nothing listens"));
}

TEST_F(CommandLine, WithFallbackACompileErrorIsStillAFailure) {
  const std::string file = Write("k.ttir", "bad");
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--fallback", "30"}), kFailed);
}

TEST_F(CommandLine, PrebuildGivesABinaryAndMetadataForEachKernel) {
  Write("in/a.ttir", "a");
  Write("in/b.ttir", "b");
  Write("in/b.json", R"({"num_warps": 2})");
  Write("in/notes.txt", "not a kernel");
  EXPECT_EQ(Run({"prebuild", Path("in"), "--target", "cuda:90", "--out-dir", Path("out")}), kDone) << err_.str();
  EXPECT_EQ(Read("out/a.cubin"), "a");
  EXPECT_EQ(Read("out/b.cubin"), "b");
  EXPECT_EQ(nlohmann::json::parse(Read("out/b.json"))["name"], "kernel");
  EXPECT_THAT(out_.str(), HasSubstr("2 kernels: 2 compiled, 0 hits, 0 joined, 0 failed"));
  EXPECT_EQ(compile_.Last().priority(), v1::PRIORITY_PREBUILD);
  EXPECT_EQ(Run({"prebuild", Path("in"), "--target", "cuda:90", "--out-dir", Path("out")}), kDone);
  EXPECT_THAT(out_.str(), HasSubstr("2 hits"));
}

TEST_F(CommandLine, PrebuildGoesOnAfterAKernelThatFails) {
  Write("in/a.ttir", "bad");
  Write("in/b.ttir", "b");
  EXPECT_EQ(Run({"prebuild", Path("in"), "--target", "cuda:90", "--out-dir", Path("out"), "--json"}), kFailed);
  EXPECT_FALSE(fs::exists(Path("out/a.cubin")));
  EXPECT_TRUE(fs::exists(Path("out/b.cubin")));
  std::vector<std::string> lines = absl::StrSplit(out_.str(), '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(nlohmann::json::parse(lines[0]).contains("error"));
}

TEST_F(CommandLine, PrebuildTakesAManifest) {
  Write("in/a.ttir", "a");
  const std::string manifest = Write("kernels.jsonl",
                                     "# two variants of one kernel\n"
                                     R"({"file": "in/a.ttir", "name": "a4", "options": {"num_warps": 4}})"
                                     "\n\n"
                                     R"({"file": "in/a.ttir", "name": "a8", "target": "cuda:80"})"
                                     "\n");
  EXPECT_EQ(Run({"prebuild", manifest, "--target", "cuda:90", "--out-dir", Path("out"), "--jobs", "1"}), kDone)
      << err_.str();
  EXPECT_TRUE(fs::exists(Path("out/a4.cubin")));
  EXPECT_TRUE(fs::exists(Path("out/a8.json")));
  EXPECT_EQ(compile_.Last().target(), "cuda:80");
}

TEST_F(CommandLine, AManifestsLineSaysWhatItsLauncherWants) {
  Write("in/a.ttir", "a");
  const std::string manifest =
      Write("kernels.jsonl",
            R"({"file": "in/a.ttir", "target": "cuda:80", "emit": ["ttgir", "asm", "binary"],)"
            R"( "launch_abi": "global", "descriptor_flags": 2, "host_tensor_maps": true, "debug_info": true})");
  EXPECT_EQ(Run({"prebuild", manifest, "--out-dir", Path("out")}), kDone) << err_.str();
  EXPECT_EQ(compile_.Last().target(), "cuda:80");
  EXPECT_THAT(compile_.Last().outputs(), testing::ElementsAre(v1::STAGE_TTGIR, v1::STAGE_ASM, v1::STAGE_BINARY));
  EXPECT_TRUE(compile_.Last().abi().global_scratch());
  EXPECT_FALSE(compile_.Last().abi().profile_scratch());
  EXPECT_EQ(compile_.Last().abi().descriptor_flags(), 2u);
  EXPECT_TRUE(compile_.Last().abi().host_tensor_maps());
  EXPECT_TRUE(compile_.Last().debug_info());
}

TEST_F(CommandLine, AManifestIsReplayedForAnotherTarget) {
  Write("in/a.ttir", "a");
  const std::string manifest = Write("kernels.jsonl", R"({"file": "in/a.ttir", "target": "cuda:80"})");
  EXPECT_EQ(Run({"prebuild", manifest, "--retarget", "--target", "cuda:90", "--out-dir", Path("out")}), kDone)
      << err_.str();
  EXPECT_EQ(compile_.Last().target(), "cuda:90");
}

TEST_F(CommandLine, PrebuildSaysWhichLineOfAManifestIsWrong) {
  const std::string manifest = Write("kernels.jsonl", "# comment\n{\"name\": \"x\"}\n");
  EXPECT_EQ(Run({"prebuild", manifest, "--target", "cuda:90", "--out-dir", Path("out")}), kUsage);
  EXPECT_THAT(err_.str(), HasSubstr("kernels.jsonl:2:"));
}

TEST_F(CommandLine, AManifestsMistakesAreNotPassedOver) {
  Write("in/a.ttir", "a");
  for (const char* entry :
       {R"({"file": "in/a.ttir", "option": {"num_warps": 4}})", R"({"file": "in/a.ttir", "target": 9})",
        R"({"file": "in/a.ttir", "name": "a\u0000b"})", R"({"file": "in/a.ttir", "name": "a\nb"})",
        R"({"file": "in/a.ttir", "emit": "asm"})", R"({"file": "in/a.ttir", "emit": ["no"]})",
        R"({"file": "in/a.ttir", "launch_abi": "some"})", R"({"file": "in/a.ttir", "descriptor_flags": 3})",
        R"({"file": "in/a.ttir", "debug_info": 1})", R"({"file": "in/a.ttir", "host_tensor_maps": 1})"}) {
    const std::string manifest = Write("kernels.jsonl", entry);
    EXPECT_EQ(Run({"prebuild", manifest, "--target", "cuda:90", "--out-dir", Path("out")}), kUsage) << entry;
    EXPECT_THAT(err_.str(), HasSubstr("kernels.jsonl:1:"));
  }
}

TEST_F(CommandLine, AFileThatCannotBeWrittenIsAnErrorInJson) {
  const std::string file = Write("k.ttir", "module {}");
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "--json", "-o", Path("none/k.cubin")}), kFailed);
  EXPECT_THAT(std::string(nlohmann::json::parse(out_.str())["error"]), HasSubstr("none/k.cubin: No such file"));
  EXPECT_EQ(Run({"compile", file, "--target", "cuda:90", "-o", Path("none/k.cubin")}), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("none/k.cubin: No such file"));
}

TEST_F(CommandLine, AnEmptyCredentialIsNoneAndSaidSo) {
  for (const char* flag : {"--tls-ca", "--token-file"}) {
    EXPECT_EQ(Run({"stats", flag, Write("empty", "")}), kUsage);
    EXPECT_THAT(err_.str(), HasSubstr("empty: is empty"));
  }
}

TEST_F(CommandLine, AnArtifactInReachIsFoundWhileAnotherDaemonIsAway) {
  const std::string servers = absl::StrCat("unix:", Path("none.sock"), ",127.0.0.1:", port_);
  EXPECT_EQ(Run({"--server", servers, "get", proto::Sha256Hex("stored bytes"), "-o", "-", "--timeout", "2"}), kDone)
      << err_.str();
  EXPECT_EQ(out_.str(), "stored bytes");
  EXPECT_EQ(Run({"--server", "unix:" + Path("none.sock"), "get", std::string(64, '0'), "--json"}), kNoServer);
  EXPECT_THAT(std::string(nlohmann::json::parse(out_.str())["error"]), HasSubstr("no server"));
}

TEST_F(CommandLine, PrebuildDoesNotOverwriteItsInput) {
  Write("in/a.ttir", "a");
  EXPECT_EQ(Run({"prebuild", Path("in"), "--target", "cuda:90", "--out-dir", Path("in/../in")}), kUsage);
  EXPECT_EQ(Run({"prebuild", Path("none"), "--target", "cuda:90", "--out-dir", Path("out")}), kUsage);
}

TEST_F(CommandLine, GetDownloadsAResultByItsKeyAndAnArtifactByItsDigest) {
  const std::string file = Write("k.ttir", "module {}");
  ASSERT_EQ(Run({"compile", file, "--target", "cuda:90", "--json"}), kDone);
  const std::string key = nlohmann::json::parse(out_.str())["key"];
  EXPECT_EQ(Run({"get", key, "-o", Path("k.cubin"), "--metadata", Path("k.json")}), kDone) << err_.str();
  EXPECT_EQ(Read("k.cubin"), "module {}");
  EXPECT_EQ(Run({"get", key, "--emit", "llir", "-o", Path("k.ll")}), kFailed);
  EXPECT_EQ(Run({"get", key}), kDone);
  EXPECT_THAT(out_.str(), HasSubstr("by node/17 of red"));
  EXPECT_THAT(out_.str(), HasSubstr("signed with key 0123456789abcdef\n"));
  EXPECT_EQ(Run({"get", key, "--json"}), kDone);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["signer"], "0123456789abcdef" + std::string(48, '0'));
  EXPECT_EQ(Run({"get", proto::Sha256Hex("stored bytes"), "-o", "-"}), kDone);
  EXPECT_EQ(out_.str(), "stored bytes");
  EXPECT_EQ(Run({"get", std::string(64, '0')}), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("neither a result nor an artifact"));
  EXPECT_EQ(Run({"get", std::string(64, '0'), "--json"}), kFailed);
  EXPECT_THAT(std::string(nlohmann::json::parse(out_.str())["error"]), HasSubstr("neither a result nor an artifact"));
  EXPECT_EQ(Run({"get", key, "--json", "--emit", "llir", "-o", Path("k.ll")}), kFailed);
  EXPECT_THAT(std::string(nlohmann::json::parse(out_.str())["error"]), HasSubstr("has no llir"));
  EXPECT_EQ(Run({"get", proto::Sha256Hex("stored bytes"), "--json"}), kDone);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["size_bytes"], 12);
}

TEST_F(CommandLine, StatsReadsAsATableAndAsJson) {
  EXPECT_EQ(Run({"stats"}), kDone) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("tritond 9.8.7"));
  EXPECT_THAT(out_.str(), HasSubstr("75.0 %"));
  for (const char* text :
       {"2 held", "5 answered", "7 given", "kv-0:6379                left alone", "250.0 ms   96.0 MiB  ok, by red"})
    EXPECT_THAT(out_.str(), HasSubstr(text));
  EXPECT_EQ(Run({"stats", "--json"}), kDone);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["daemon"]["version"], "9.8.7");
}

TEST_F(CommandLine, WorkersShowsStateAndTargets) {
  EXPECT_EQ(Run({"workers"}), kDone) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("node7/1234"));
  EXPECT_THAT(out_.str(), HasSubstr("busy"));
  EXPECT_THAT(out_.str(), HasSubstr("last death: signal 6"));
  EXPECT_EQ(Run({"workers", "--json"}), kDone);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["workers"][0]["state"], "STATE_BUSY");
}

TEST_F(CommandLine, JobsListsEveryPage) {
  EXPECT_EQ(Run({"jobs", "--json"}), kDone) << err_.str();
  std::vector<std::string> lines = absl::StrSplit(out_.str(), '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(nlohmann::json::parse(lines[1])["id"], "job-1");
}

TEST_F(CommandLine, SubmitPrintsTheIdAndMayBeRepeated) {
  const std::string file = Write("kernel.ttir", "module {}");
  EXPECT_EQ(Run({"submit", file, "--target", "cuda:90", "--num-warps", "8"}), kDone) << err_.str();
  EXPECT_EQ(out_.str(), "job-3\n");
  EXPECT_EQ(compile_.Last().target(), "cuda:90");
  EXPECT_EQ(Run({"submit", "absent.ttir", "--target", "cuda:90"}), kUsage);
}

TEST_F(CommandLine, WatchFollowsTheJobToItsEnd) {
  EXPECT_EQ(Run({"watch", "job-1"}), kDone) << err_.str();
  EXPECT_THAT(out_.str(), testing::ContainsRegex("queued(.|\n)*running(.|\n)*succeeded"));
  EXPECT_EQ(Run({"watch", "job-2", "--json"}), kFailed);
  EXPECT_THAT(out_.str(), HasSubstr("JOB_STATE_FAILED"));
}

TEST_F(CommandLine, CancelSaysWhatBecameOfTheJob) {
  EXPECT_EQ(Run({"cancel", "job-1"}), kDone) << err_.str();
  EXPECT_EQ(out_.str(), "job-1  cancelled\n");
  EXPECT_EQ(Run({"cancel", "job-9"}), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("no such job"));
}

TEST_F(CommandLine, ExplainPrintsWhatDiffers) {
  const std::string a(64, 'a'), b(64, 'b');
  EXPECT_EQ(Run({"explain", a, b}), kDone) << err_.str();
  EXPECT_EQ(out_.str(), "options.num_warps: 4 | 8\n");
  EXPECT_EQ(Run({"explain", a, b, "--all"}), kDone);
  EXPECT_EQ(out_.str(), "target: cuda:90\noptions.num_warps: 4 | 8\n");
  EXPECT_EQ(Run({"explain", a, a}), kDone);
  EXPECT_EQ(out_.str(), "nothing differs\n");
}

TEST_F(CommandLine, ABundleGoesOutAndIn) {
  EXPECT_EQ(Run({"bundle", "export", Path("b.zst"), "abcd1", kRecentKey}), kDone) << err_.str();
  EXPECT_EQ(Read("b.zst"), "bundle of 2");
  EXPECT_EQ(Run({"bundle", "import", Path("b.zst")}), kDone) << err_.str();
  EXPECT_EQ(out_.str(), "2 results, 3 artifacts, 11 B\n");
}

TEST_F(CommandLine, ABrokenBundleLeavesNoFile) {
  EXPECT_EQ(Run({"bundle", "export", Path("b.zst"), kUnknownKey}), kFailed);
  EXPECT_FALSE(fs::exists(Path("b.zst")));
  EXPECT_FALSE(fs::exists(Path("b.zst.partial")));
  EXPECT_EQ(Run({"bundle", "import", Write("bad.zst", "something else")}), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("damaged"));
  EXPECT_EQ(Run({"bundle", "import", Path("none.zst")}), kUsage);
  EXPECT_EQ(Run({"bundle", "export", Path("b.zst"), "k1"}), kUsage);
  EXPECT_THAT(err_.str(), HasSubstr("\"k1\" is not 64 lowercase hex digits"));
  EXPECT_EQ(Run({"bundle"}), kUsage);
}

}  // namespace
}  // namespace tritond::client
