// SPDX-License-Identifier: Apache-2.0
#include "server/app/key_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/app/key_files.h"

namespace tritond::server {
namespace {

using testing::HasSubstr;

class KeyWatchTest : public testing::Test {
 protected:
  KeyWatchTest() {
    char folder[] = "/tmp/key_watch_test.XXXXXX";
    folder_ = mkdtemp(folder);
    files.signing_key = folder_ + "/signing.key";
    files.make_signing_key = true;
    files.trusted_keys = folder_ + "/trusted.keys";
  }
  ~KeyWatchTest() override { std::filesystem::remove_all(folder_); }

  absl::StatusOr<std::unique_ptr<KeyWatch>> Open() {
    return KeyWatch::Open(
        files, [this](const LogEvent& event) { log.push_back(event.message); }, absl::Now);
  }
  std::unique_ptr<KeyWatch> OpenOk() {
    auto opened = Open();
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *std::move(opened);
  }
  void WriteList(const std::string& text) const { std::ofstream(files.trusted_keys) << text; }
  static std::string Line(const PublicKey& key, bool revoked = false) {
    return TrustedKeys::FormatLine({key, absl::StrCat("key-", ShortId(key.id())), revoked}) + "\n";
  }

  std::string folder_;
  KeyWatch::Files files;
  std::vector<std::string> log;
  const SigningKey other = *SigningKey::Generate();
};

TEST_F(KeyWatchTest, MakesAKeyThatOnlyItsUserCanReadAndKeepsIt) {
  const cache::Digest first = OpenOk()->notary().public_key().id();
  struct stat info;
  ASSERT_EQ(stat(files.signing_key.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(OpenOk()->notary().public_key().id(), first);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1) << "no temporary file stays";
}

TEST_F(KeyWatchTest, AKeyThatTheConfigurationNamesMustBeThere) {
  files.make_signing_key = false;
  const absl::Status missing = Open().status();
  EXPECT_TRUE(absl::IsNotFound(missing));
  EXPECT_THAT(std::string(missing.message()), HasSubstr("tritond keys make " + files.signing_key));
}

TEST_F(KeyWatchTest, AKeyThatOthersMayReadIsRefusedAndOneThatItsGroupMayReadIsNot) {
  OpenOk();
  chmod(files.signing_key.c_str(), 0440);
  EXPECT_TRUE(Open().ok());
  chmod(files.signing_key.c_str(), 0644);
  EXPECT_THAT(std::string(Open().status().message()), HasSubstr("chmod 600"));
}

TEST_F(KeyWatchTest, AFileThatIsNoKeyFailsTheStartAndIsNotQuoted) {
  std::ofstream(files.signing_key) << "SECRET";
  chmod(files.signing_key.c_str(), 0600);
  const absl::Status broken = Open().status();
  EXPECT_TRUE(absl::IsInvalidArgument(broken));
  EXPECT_EQ(std::string(broken.message()).find("SECRET"), std::string::npos);
}

TEST_F(KeyWatchTest, ABrokenListFailsTheStart) {
  WriteList("not a key");
  EXPECT_THAT(std::string(Open().status().message()), HasSubstr("trusted.keys: line 1"));
}

TEST_F(KeyWatchTest, AListThatTheConfigurationNamesMustBeThere) {
  OpenOk();
  files.need_trusted_keys = true;
  EXPECT_TRUE(absl::IsNotFound(Open().status()));
}

TEST_F(KeyWatchTest, TakesAChangedListAndTellsWhetherItBelievesLess) {
  const auto watch = OpenOk();
  EXPECT_FALSE(watch->Reload());
  WriteList(Line(other.public_key()));
  EXPECT_FALSE(watch->Reload());
  EXPECT_TRUE(watch->notary().Trusts(other.public_key().id()));
  WriteList(Line(other.public_key(), /*revoked=*/true));
  EXPECT_TRUE(watch->Reload());
  EXPECT_FALSE(watch->notary().Trusts(other.public_key().id()));
  EXPECT_EQ(watch->problem(), "");
}

TEST_F(KeyWatchTest, ABrokenOrMissingListIsReportedOnceAndTheOneFromBeforeStays) {
  WriteList(Line(other.public_key()));
  const auto watch = OpenOk();
  for (const bool broken : {true, false}) {
    if (broken) {
      WriteList("ed25519:AAAA broken");
    } else {
      std::filesystem::remove(files.trusted_keys);
    }
    log.clear();
    EXPECT_FALSE(watch->Reload());
    EXPECT_FALSE(watch->Reload());
    EXPECT_EQ(log.size(), 1u);
    EXPECT_THAT(watch->problem(), HasSubstr(files.trusted_keys));
    EXPECT_TRUE(watch->notary().Trusts(other.public_key().id()));
  }
  WriteList(Line(other.public_key()));
  watch->Reload();
  EXPECT_EQ(watch->problem(), "");
}

TEST_F(KeyWatchTest, ARolledKeySignsAtOnceAndTheEarlierOneCountsOnByTheList) {
  const auto watch = OpenOk();
  Notary& notary = watch->notary();
  const PublicKey before = notary.public_key();
  const cache::Digest key = cache::Digest::Of("key");
  const std::string record = notary.Sign(Purpose::kResult, key, "result");
  WriteList(Line(before) + Line(other.public_key()));
  ASSERT_EQ(WriteSigningKey(files.signing_key, other, /*replace=*/true), absl::OkStatus());
  EXPECT_FALSE(watch->Reload());
  EXPECT_EQ(notary.public_key().id(), other.public_key().id());
  EXPECT_EQ(notary.Read(Origin::kOwn, {Purpose::kResult, key}, record).refusal, std::nullopt);
  WriteList(Line(before, /*revoked=*/true) + Line(other.public_key()));
  EXPECT_TRUE(watch->Reload());
  EXPECT_EQ(notary.Read(Origin::kOwn, {Purpose::kResult, key}, record).refusal, Refusal::kRevoked);
}

TEST_F(KeyWatchTest, ARevokedKeyOfItsOwnFailsTheStartAndIsReportedLater) {
  const auto watch = OpenOk();
  WriteList(Line(watch->notary().public_key(), /*revoked=*/true));
  EXPECT_TRUE(watch->Reload());
  EXPECT_THAT(watch->problem(), HasSubstr("tritond keys roll"));
  watch->Reload();
  EXPECT_THAT(watch->problem(), HasSubstr("tritond keys roll"));
  EXPECT_TRUE(absl::IsFailedPrecondition(Open().status()));
}

}  // namespace
}  // namespace tritond::server
