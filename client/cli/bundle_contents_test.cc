// SPDX-License-Identifier: Apache-2.0
// triton-client bundle list, extract: without a daemon.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "absl/time/clock.h"
#include "client/cli/command_line_fixture.h"
#include "server/bundle/bundle.h"

namespace tritond::client {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

v1::Artifact Named(v1::Stage kind, const std::string& format, const std::string& bytes) {
  v1::Artifact artifact;
  artifact.set_kind(kind);
  artifact.set_format(format);
  artifact.set_digest(proto::Sha256Hex(bytes));
  artifact.set_size_bytes(bytes.size());
  return artifact;
}

class BundleContents : public CommandLine {
 protected:
  // A result of the kernel `name`, with a binary and its assembly.
  v1::BundleRecord Record(const std::string& ir, const std::string& name, const std::string& format = "cubin") {
    v1::CompileRequest request;
    request.set_target("cuda:90");
    request.set_ir(ir);
    const std::string request_bytes = request.SerializeAsString();
    v1::ActionResult result;
    result.set_build_id("build");
    result.set_target("cuda:90");
    result.set_metadata_json(nlohmann::json({{"name", name}, {"shared", 64}}).dump());
    *result.add_artifacts() = Named(v1::STAGE_ASM, "ptx", "asm of " + ir);
    *result.add_artifacts() = Named(v1::STAGE_BINARY, format, "binary of " + ir);
    *result.mutable_request() = Named(v1::STAGE_TTIR, "request", request_bytes);
    v1::BundleRecord record;
    record.set_key(proto::Prepare(request)->Key("build"));
    record.set_signed_result(
        author_.Sign(server::Purpose::kResult, *cache::Digest::FromHex(record.key()), result.SerializeAsString()));
    for (const std::string& bytes : {"asm of " + ir, "binary of " + ir, request_bytes})
      record.add_blobs()->set_data(bytes);
    return record;
  }

  // The file of a bundle of these records.
  std::string Bundle(const std::vector<v1::BundleRecord>& records) {
    std::string bytes;
    server::BundleWriter writer(author_, [&](absl::string_view part) {
      bytes.append(part.data(), part.size());
      return absl::OkStatus();
    });
    for (const v1::BundleRecord& record : records) EXPECT_TRUE(writer.Add(record).ok());
    EXPECT_TRUE(writer.Finish().ok());
    return Write("k.bundle", bytes);
  }

  // triton-client with no server to be found.
  int RunAlone(std::vector<std::string> words) {
    words.insert(words.end(), {"--server", "unix:" + Path("none.sock")});
    return Run(words);
  }

  server::Notary author_{*server::SigningKey::Generate(), {}, [](const std::string&) {}, absl::Now};
};

TEST_F(BundleContents, ListNamesEachResult) {
  const v1::BundleRecord add = Record("one", "add"), mul = Record("two", "mul");
  const std::string file = Bundle({add, mul});
  const std::string signer = author_.public_key().id().ToHex();
  EXPECT_EQ(RunAlone({"bundle", "list", file}), kDone) << err_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr(add.key() + "  add  "), HasSubstr(mul.key() + "  mul  "),
                                HasSubstr("cuda:90       ptx 10 B  cubin 13 B  signed by " + signer.substr(0, 16)),
                                HasSubstr("2 results, 4 artifacts, 46 B\n")));
  EXPECT_THAT(err_.str(), HasSubstr("signatures are not"));
  EXPECT_EQ(RunAlone({"bundle", "list", file, "--json"}), kDone) << err_.str();
  const auto objects = Objects();
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(objects[0]["key"], add.key());
  EXPECT_EQ(objects[0]["name"], "add");
  EXPECT_EQ(objects[0]["target"], "cuda:90");
  EXPECT_EQ(objects[0]["build"], "build");
  EXPECT_EQ(objects[0]["artifacts"],
            nlohmann::json({{"asm", proto::Sha256Hex("asm of one")}, {"binary", proto::Sha256Hex("binary of one")}}));
  EXPECT_EQ(objects[0]["size_bytes"], 23);
  EXPECT_EQ(objects[0]["signer"], signer);
  EXPECT_EQ(objects[0]["signature_verified"], false);
  EXPECT_TRUE(objects[0]["signed_unix_ms"].is_number_integer());
}

TEST_F(BundleContents, KeysMayBeGivenByTheirBeginnings) {
  const v1::BundleRecord add = Record("one", "add");
  const std::string file = Bundle({add, Record("two", "mul")});
  EXPECT_EQ(RunAlone({"bundle", "list", file, add.key().substr(0, 12), "--json"}), kDone) << err_.str();
  ASSERT_EQ(Objects().size(), 1u);
  EXPECT_EQ(Objects()[0]["key"], add.key());
  EXPECT_EQ(RunAlone({"bundle", "list", file, "xyz"}), kUsage);
  EXPECT_THAT(err_.str(), HasSubstr("KEY: nothing begins with xyz"));
}

TEST_F(BundleContents, ExtractWritesAFolderForEachResult) {
  const v1::BundleRecord add = Record("one", "add"), other = Record("two", "add");
  const std::string file = Bundle({add, other});
  EXPECT_EQ(RunAlone({"bundle", "extract", file, "--out-dir", Path("out")}), kDone) << err_.str();
  EXPECT_EQ(Read("out/" + add.key() + "/add.cubin"), "binary of one");
  EXPECT_EQ(Read("out/" + add.key() + "/add.ptx"), "asm of one");
  EXPECT_EQ(nlohmann::json::parse(Read("out/" + add.key() + "/add.json"))["shared"], 64);
  EXPECT_EQ(Read("out/" + other.key() + "/add.cubin"), "binary of two");
  EXPECT_THAT(out_.str(), HasSubstr(Path("out/" + other.key() + "/add.cubin") + "\n"));
  EXPECT_EQ(RunAlone({"bundle", "extract", file, other.key(), "--out-dir", Path("one"), "--json"}), kDone);
  EXPECT_FALSE(fs::exists(Path("one/" + add.key())));
  const auto objects = Objects();
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0]["files"].size(), 3u);
  for (const nlohmann::json& path : objects[0]["files"]) EXPECT_TRUE(fs::exists(path.get<std::string>())) << path;
}

TEST_F(BundleContents, NamesInABundleLeadNowhereElse) {
  const v1::BundleRecord up = Record("one", "../../evil"), bare = Record("two", ""), dot = Record("three", "..");
  const std::string file = Bundle({up, bare, dot});
  EXPECT_EQ(RunAlone({"bundle", "extract", file, "--out-dir", Path("a/b/out")}), kDone) << err_.str();
  EXPECT_EQ(Read("a/b/out/" + up.key() + "/kernel.._.._evil.cubin"), "binary of one");
  EXPECT_EQ(Read("a/b/out/" + bare.key() + "/kernel.cubin"), "binary of two");
  EXPECT_EQ(Read("a/b/out/" + dot.key() + "/kernel...cubin"), "binary of three");
  EXPECT_THAT(std::distance(fs::directory_iterator(Path("a/b")), fs::directory_iterator()), 1);
  EXPECT_EQ(RunAlone({"bundle", "list", Bundle({Record("one", "a\x1b[2J\nb")})}), kDone);
  EXPECT_THAT(out_.str(), HasSubstr("a\\x1b[2J\\x0ab"));
  // Two artifacts that would share a file.
  EXPECT_EQ(RunAlone({"bundle", "extract", Bundle({Record("one", "add", "ptx")}), "--out-dir", Path("twice")}),
            kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("two artifacts of this name"));
}

TEST_F(BundleContents, NothingOfADamagedBundleIsPrintedOrWritten) {
  const std::string file = Bundle({Record("one", "add"), Record("two", "mul")});
  const std::string whole = Read("k.bundle");
  for (const std::string& bytes :
       {whole.substr(0, whole.size() - 9), whole + "more", std::string("no bundle"), std::string()}) {
    Write("k.bundle", bytes);
    EXPECT_EQ(RunAlone({"bundle", "list", file}), kFailed);
    EXPECT_THAT(out_.str(), IsEmpty());
    EXPECT_THAT(err_.str(), HasSubstr("k.bundle: the bundle "));
    EXPECT_EQ(RunAlone({"bundle", "extract", file, "--out-dir", Path("out")}), kFailed);
    EXPECT_FALSE(fs::exists(Path("out")));
  }
  v1::BundleRecord other_bytes = Record("one", "add");
  other_bytes.mutable_blobs(1)->set_data("Binary of one");
  EXPECT_EQ(RunAlone({"bundle", "extract", Bundle({Record("two", "mul"), other_bytes}), "--out-dir", Path("out")}),
            kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("wrong bytes for the cubin"));
  EXPECT_FALSE(fs::exists(Path("out")));
}

TEST_F(BundleContents, AFileThatCannotBeReadIsAMistakeOfUsage) {
  EXPECT_EQ(RunAlone({"bundle", "list", Path("none.bundle")}), kUsage);
  EXPECT_THAT(err_.str(), HasSubstr("none.bundle: No such file or directory"));
  EXPECT_EQ(RunAlone({"bundle", "list", folder_.string()}), kUsage);
  EXPECT_THAT(err_.str(), HasSubstr("not a regular file"));
  EXPECT_EQ(RunAlone({"bundle", "extract", Bundle({})}), kUsage);  // Without --out-dir.
}

TEST_F(BundleContents, WithTrustedKeysSignaturesAreVerified) {
  const std::string file = Bundle({Record("one", "add")});
  const std::string line = server::TrustedKeys::FormatLine({author_.public_key(), "author", false});
  EXPECT_EQ(RunAlone({"bundle", "list", file, "--json", "--trusted-keys", Write("keys", line + "\n")}), kDone)
      << err_.str();
  EXPECT_EQ(Objects().at(0)["signature_verified"], true);
  EXPECT_THAT(err_.str(), IsEmpty());
  EXPECT_EQ(RunAlone({"bundle", "list", file, "--trusted-keys", Write("keys", "")}), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("a key is not trusted"));
  EXPECT_EQ(RunAlone({"bundle", "list", file, "--trusted-keys", Write("keys", line + " revoked\n")}), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("revoked"));
  EXPECT_EQ(RunAlone({"bundle", "list", file, "--trusted-keys", Write("keys", "ed25519:x a\n")}), kUsage);
  EXPECT_THAT(err_.str(), HasSubstr("keys: line 1"));
}

}  // namespace
}  // namespace tritond::client
