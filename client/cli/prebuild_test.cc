// SPDX-License-Identifier: Apache-2.0
// triton-client prebuild: its sources, its targets, and where its results go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "client/cli/command_line_fixture.h"

namespace tritond::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

namespace fs = std::filesystem;

constexpr char kTtgir[] = "module attributes {\"ttg.num-warps\" = 4 : i32} {}";

class Prebuild : public CommandLine {
 protected:
  // The files below the folder, by their paths in it.
  std::set<std::string> Files(const std::string& folder) {
    std::set<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / folder)) {
      if (entry.is_regular_file()) files.insert(entry.path().string().substr(Path(folder).size() + 1));
    }
    return files;
  }
  std::vector<std::string> TargetsAsked() {
    std::vector<std::string> targets;
    for (const v1::CompileRequest& request : compile_.All()) targets.push_back(request.target());
    std::sort(targets.begin(), targets.end());
    return targets;
  }
};

TEST_F(Prebuild, SeveralTargetsHaveAFolderEach) {
  Write("in/a.ttir", "a");
  Write("in/b.ttir", "b");
  const std::vector<std::vector<std::string>> ways = {{"--target", "cuda:90,cuda:80"},
                                                      {"--target", "cuda:90", "--target", "cuda:80"},
                                                      {"--target", "cuda:90,cuda:80", "--target", "cuda:90"}};
  for (const std::vector<std::string>& targets : ways) {
    std::vector<std::string> words = {"prebuild", Path("in"), "--out-dir", Path("out"), "--json"};
    words.insert(words.end(), targets.begin(), targets.end());
    EXPECT_EQ(Run(words), kDone) << err_.str();
    EXPECT_THAT(Files("out"), ElementsAre("cuda-80/a.cubin", "cuda-80/a.json", "cuda-80/b.cubin", "cuda-80/b.json",
                                          "cuda-90/a.cubin", "cuda-90/a.json", "cuda-90/b.cubin", "cuda-90/b.json"));
    EXPECT_EQ(TargetsAsked(), (std::vector<std::string>{"cuda:80", "cuda:80", "cuda:90", "cuda:90"}));
    std::vector<std::string> named;
    for (const nlohmann::json& object : Objects())
      named.push_back(absl::StrCat(object["name"].get<std::string>(), " ", object["target"].get<std::string>()));
    EXPECT_THAT(named, UnorderedElementsAre("a cuda:80", "a cuda:90", "b cuda:80", "b cuda:90"));
    fs::remove_all(Path("out"));
    compile_.Forget();
  }
}

TEST_F(Prebuild, OneTargetHasNone) {
  Write("in/a.ttir", "a");
  EXPECT_EQ(Run({"prebuild", Path("in"), "--target", "cuda:90,cuda:90", "--out-dir", Path("out"), "--json"}), kDone);
  EXPECT_THAT(Files("out"), ElementsAre("a.cubin", "a.json"));
  EXPECT_FALSE(Objects().at(0).contains("target"));
}

TEST_F(Prebuild, TargetsThatWouldShareAFolderAreRefused) {
  Write("in/a.ttir", "a");
  EXPECT_EQ(Run({"prebuild", Path("in"), "--target", "cuda:90,cuda-90", "--out-dir", Path("out")}), kUsage);
  EXPECT_THAT(err_.str(), HasSubstr("cuda:90 and cuda-90: both would be written into the folder cuda-90"));
  EXPECT_EQ(Run({"prebuild", Path("in"), "--target", "cuda:90,..", "--out-dir", Path("out")}), kUsage);
  EXPECT_EQ(Run({"prebuild", Path("in"), "--target", "cuda:90,../../x", "--out-dir", Path("out")}), kDone);
  EXPECT_THAT(Files("out"), ElementsAre("..-..-x/a.cubin", "..-..-x/a.json", "cuda-90/a.cubin", "cuda-90/a.json"));
}

TEST_F(Prebuild, AKernelThatNamesItsTargetIsCompiledForThatAlone) {
  Write("in/a.ttir", "a");
  Write("in/b.ttir", "b");
  const std::string manifest =
      Write("kernels.jsonl", "{\"file\": \"in/a.ttir\", \"target\": \"cuda:75\"}\n{\"file\": \"in/b.ttir\"}\n");
  const std::vector<std::string> words = {"prebuild",        manifest,    "--target",
                                          "cuda:80,cuda:90", "--out-dir", Path("out")};
  EXPECT_EQ(Run(words), kDone) << err_.str();
  EXPECT_THAT(Files("out"), ElementsAre("cuda-75/a.cubin", "cuda-75/a.json", "cuda-80/b.cubin", "cuda-80/b.json",
                                        "cuda-90/b.cubin", "cuda-90/b.json"));
  EXPECT_THAT(err_.str(), HasSubstr("1 kernels are compiled for the target of the manifest alone; --retarget"));
  std::vector<std::string> all = words;
  all.push_back("--retarget");
  fs::remove_all(Path("out"));
  EXPECT_EQ(Run(all), kDone) << err_.str();
  EXPECT_THAT(Files("out"), ElementsAre("cuda-80/a.cubin", "cuda-80/a.json", "cuda-80/b.cubin", "cuda-80/b.json",
                                        "cuda-90/a.cubin", "cuda-90/a.json", "cuda-90/b.cubin", "cuda-90/b.json"));
}

TEST_F(Prebuild, FoldersAreSearchedToAnyDepthAndKeptInTheOutput) {
  Write("in/a.ttir", "a");
  Write("in/x/y/a.ttir", "deep");
  Write("in/x/y/a.json", R"({"num_warps": 2})");
  EXPECT_EQ(Run({"prebuild", Path("in") + "/", "--target", "cuda:90", "--out-dir", Path("out"), "--json"}), kDone)
      << err_.str();
  EXPECT_THAT(Files("out"), ElementsAre("a.cubin", "a.json", "x/y/a.cubin", "x/y/a.json"));
  EXPECT_EQ(Read("out/x/y/a.cubin"), "deep");
  std::set<std::string> names;
  for (const nlohmann::json& object : Objects()) names.insert(object["name"].get<std::string>());
  EXPECT_THAT(names, ElementsAre("a", "x/y/a"));
  for (const v1::CompileRequest& request : compile_.All()) EXPECT_EQ(request.label(), "a");
}

TEST_F(Prebuild, ItsOwnOutputIsNoSource) {
  Write("in/a.ttir", "a");
  const std::vector<std::string> words = {"prebuild", Path("in"),    "--target",  "cuda:90",
                                          "--emit",   "ttir,binary", "--out-dir", Path("in/out")};
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(Run(words), kDone) << err_.str();
    EXPECT_THAT(out_.str(), HasSubstr("1 kernels: "));
  }
  EXPECT_TRUE(fs::exists(Path("in/out/a.ttir")));
}

TEST_F(Prebuild, NoFileOfTheSourceIsOverwritten) {
  Write("in/a.ttir", "a");
  Write("in/x/a.ttir", "other");
  Write("in/x/a.json", R"({"num_warps": 2})");
  // a.json of in/a.ttir would go to in/x.
  const std::string manifest =
      Write("kernels.jsonl", "{\"file\": \"in/a.ttir\"}\n{\"file\": \"in/x/a.ttir\", \"name\": \"b\"}\n");
  EXPECT_EQ(Run({"prebuild", manifest, "--target", "cuda:90", "--out-dir", Path("in/x")}), kUsage);
  EXPECT_THAT(err_.str(), HasSubstr("must not lead into a folder of the kernels"));
  fs::create_directory_symlink(Path("in"), Path("link"));
  EXPECT_EQ(Run({"prebuild", Path("in"), "--target", "cuda:90", "--out-dir", Path("link")}), kUsage);
  fs::create_directories(Path("linked"));
  fs::create_symlink(Path("in/a.ttir"), Path("linked/a.ttir"));
  Write("linked/a.json", R"({"num_warps": 2})");
  EXPECT_EQ(Run({"prebuild", Path("linked"), "--target", "cuda:90", "--out-dir", Path("linked")}), kUsage);
  EXPECT_EQ(Read("in/x/a.json"), R"({"num_warps": 2})");
  EXPECT_THAT(compile_.All(), IsEmpty());
}

// A cache folder of Triton's: a folder a kernel, named by a hash, with every stage, the metadata and their list.
TEST_F(Prebuild, TakesACacheOfTritons) {
  const std::string metadata =
      R"({"hash": "ab", "target": {"backend": "cuda", "arch": 90, "warp_size": 32}, "num_warps": 8, "num_stages": 3,
          "extern_libs": [["libdevice", "/opt/libdevice.10.bc"]], "name": "add", "shared": 0, "triton_version": "3.6.0"})";
  for (const char* file : {"cache/HASH1/add.source", "cache/HASH1/add.ttir"}) Write(file, "module {}");
  Write("cache/HASH1/add.ttgir", kTtgir);
  Write("cache/HASH1/add.json", metadata);
  Write("cache/HASH1/__grp__add.json", R"({"child_paths": {}})");
  Write("cache/HASH2/gluon.ttgir", kTtgir);
  Write("cache/HASH2/gluon.json", metadata);
  Write("cache/HASH3/cuda_utils.so", "no kernel");
  EXPECT_EQ(Run({"prebuild", Path("cache"), "--out-dir", Path("out"), "--jobs", "1"}), kDone) << err_.str();
  EXPECT_THAT(Files("out"), ElementsAre("HASH1/add.cubin", "HASH1/add.json", "HASH2/gluon.cubin", "HASH2/gluon.json"));
  const std::vector<v1::CompileRequest> requests = compile_.All();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].input(), v1::STAGE_TTIR);
  EXPECT_EQ(requests[1].input(), v1::STAGE_TTGIR);
  for (const v1::CompileRequest& request : requests) {
    EXPECT_EQ(request.target(), "cuda:90");
    EXPECT_EQ(request.options().fields_size(), 2);
    EXPECT_EQ(request.options().fields().at("num_warps").number_value(), 8);
  }
  // A flag prevails over metadata.
  EXPECT_EQ(Run({"prebuild", Path("cache"), "--target", "cuda:80", "--out-dir", Path("out")}), kDone) << err_.str();
  EXPECT_EQ(compile_.Last().target(), "cuda:80");
}

TEST_F(Prebuild, TheTextTellsTtgirFromTtirWhereTheNameMisleads) {
  Write("in/k.ttir", kTtgir);
  EXPECT_EQ(Run({"prebuild", Path("in"), "--target", "cuda:90", "--out-dir", Path("out")}), kDone) << err_.str();
  EXPECT_EQ(compile_.Last().input(), v1::STAGE_TTGIR);
  EXPECT_EQ(Run({"compile", Write("k.ttgir", "module {}"), "--target", "cuda:90"}), kDone) << err_.str();
  EXPECT_EQ(compile_.Last().input(), v1::STAGE_TTIR);
  EXPECT_EQ(Run({"compile", Path("in/k.ttir"), "--target", "cuda:90", "--input", "ttir"}), kDone) << err_.str();
  EXPECT_EQ(compile_.Last().input(), v1::STAGE_TTIR);  // What the user says counts.
}

TEST_F(Prebuild, ResultsGoToStandardOutputAndDiagnosticsToStandardError) {
  Write("in/a.ttir", "a");
  Write("in/b.ttir", "bad\nsecond\n  third line of it\n");
  EXPECT_EQ(Run({"prebuild", Path("in"), "--target", "cuda:90", "--out-dir", Path("out"), "--jobs", "1"}), kFailed);
  EXPECT_THAT(out_.str(), testing::MatchesRegex(
                              "\\[1/2\\] a  miss  .*\n2 kernels: 1 compiled, 0 hits, 0 joined, 1 failed in .*\n"));
  EXPECT_EQ(err_.str(), "[2/2] b  failed\n" + Path("in/b.ttir") +
                            ":3:14: error: expected ':' [ttir]\n     3 |   third line of it\n"
                            "       |              ^\n");
  console_.out_is_terminal = console_.err_is_terminal = true;
  EXPECT_EQ(Run({"prebuild", Path("in"), "--target", "cuda:90", "--out-dir", Path("out"), "--jobs", "1"}), kFailed);
  EXPECT_THAT(out_.str(), testing::StartsWith("2 kernels: "));  // The bar stands for the rest.
  EXPECT_THAT(err_.str(), HasSubstr("2/2"));
}

TEST_F(Prebuild, ASourceWithoutKernelsIsAnError) {
  fs::create_directories(Path("in/x"));
  EXPECT_EQ(Run({"prebuild", Path("in"), "--target", "cuda:90", "--out-dir", Path("out")}), kUsage);
  EXPECT_THAT(err_.str(), HasSubstr("no *.ttir in this folder or below it"));
  Write("in/x/a.ttir", "a");
  EXPECT_EQ(Run({"prebuild", Path("in"), "--out-dir", Path("out")}), kUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--target is missing"));
  EXPECT_FALSE(fs::exists(Path("out")));
}

}  // namespace
}  // namespace tritond::client
