// SPDX-License-Identifier: Apache-2.0
#include "server/app/keys_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "server/app/key_files.h"

namespace tritond::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class KeysCommandTest : public testing::Test {
 protected:
  KeysCommandTest() {
    char folder[] = "/tmp/keys_command_test.XXXXXX";
    folder_ = mkdtemp(folder);
    key = folder_ + "/signing.key";
    list = folder_ + "/trusted.keys";
  }
  ~KeysCommandTest() override { std::filesystem::remove_all(folder_); }

  int Run(std::vector<std::string> words) {
    words.insert(words.begin(), "keys");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = RunKeysCommand(static_cast<int>(argv.size()), argv.data());
    out = testing::internal::GetCapturedStdout();
    err = testing::internal::GetCapturedStderr();
    return status;
  }
  PublicKey Public() const { return ReadSigningKey(key)->public_key(); }
  TrustedKeys Listed() const { return *ReadTrustedKeys(list); }
  bool Trusts(const PublicKey& which) const {
    const TrustedKeys keys = Listed();
    const TrustedKeys::Entry* entry = keys.Find(which.id());
    return entry != nullptr && !entry->revoked;
  }

  std::string folder_, key, list, out, err;
};

TEST_F(KeysCommandTest, MakePrintsALineForTheListAndReplacesNoKey) {
  EXPECT_EQ(Run({"make", key, "--name", "red"}), 0);
  EXPECT_EQ(out, TrustedKeys::FormatLine({Public(), "red", false}) + "\n");
  struct stat info;
  ASSERT_EQ(stat(key.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  const cache::Digest before = Public().id();
  EXPECT_EQ(Run({"make", key}), 1);
  EXPECT_THAT(err, HasSubstr("tritond keys roll"));
  EXPECT_EQ(Public().id(), before);
  EXPECT_EQ(Run({"show", key, "--name", "red"}), 0);
  EXPECT_THAT(out, StartsWith(Public().ToText() + " red"));
}

TEST_F(KeysCommandTest, RollTrustsBothKeysAndTheirNamesDiffer) {
  ASSERT_EQ(Run({"make", key, "--name", "red"}), 0);
  const PublicKey first = Public();
  ASSERT_EQ(Run({"roll", key, list, "--name", "red"}), 0) << err;
  const PublicKey second = Public();
  ASSERT_EQ(Run({"roll", key, list, "--name", "red"}), 0) << err;
  EXPECT_NE(second.id(), first.id());
  for (const PublicKey& which : {first, second, Public()}) EXPECT_TRUE(Trusts(which));
  ASSERT_EQ(Listed().entries().size(), 3u);
  EXPECT_EQ(Run({"revoke", list, Listed().Find(second.id())->name}), 0) << err;
  EXPECT_TRUE(Trusts(first));
  EXPECT_FALSE(Trusts(second));
  EXPECT_TRUE(Trusts(Public()));
}

TEST_F(KeysCommandTest, RollRevokesAnOldKeyThatWasStolen) {
  ASSERT_EQ(Run({"make", key, "--name", "red"}), 0);
  const PublicKey stolen = Public();
  ASSERT_EQ(Run({"roll", key, list, "--revoke-old"}), 0) << err;
  EXPECT_FALSE(Trusts(stolen));
  EXPECT_TRUE(Trusts(Public()));
  EXPECT_EQ(Listed().entries().size(), 2u);
}

TEST_F(KeysCommandTest, RollingAStolenKeyLeavesItRevoked) {
  ASSERT_EQ(Run({"make", key, "--name", "red"}), 0);
  const PublicKey stolen = Public();
  ASSERT_EQ(Run({"trust", list, stolen.ToText(), "--name", "red"}), 0) << err;
  ASSERT_EQ(Run({"revoke", list, "red"}), 0) << err;
  ASSERT_EQ(Run({"roll", key, list, "--name", "red"}), 0) << err;
  EXPECT_FALSE(Trusts(stolen));
  EXPECT_TRUE(Trusts(Public()));
}

TEST_F(KeysCommandTest, RevokeTakesNamesAndIdsAndKeepsComments) {
  const PublicKey one = SigningKey::Generate()->public_key(), two = SigningKey::Generate()->public_key();
  std::ofstream(list) << "# ours\n" << one.ToText() << " one  # the first\n\n" << two.ToText() << " two\n";
  EXPECT_EQ(Run({"revoke", list, ShortId(one.id())}), 0) << err;
  EXPECT_FALSE(Trusts(one));
  EXPECT_TRUE(Trusts(two));
  const std::string text = *ReadSmallFile(list);
  EXPECT_THAT(text, StartsWith("# ours\n"));
  EXPECT_THAT(text, HasSubstr("one revoked  # the first\n"));
  EXPECT_EQ(Run({"revoke", list, "two", "nobody"}), 1);
  EXPECT_THAT(err, HasSubstr("nobody"));
  EXPECT_TRUE(Trusts(two)) << "a command that fails changes nothing";
  EXPECT_EQ(Run({"list", list}), 0);
  EXPECT_THAT(out, HasSubstr(ShortId(one.id()) + "  revoked  one\n"));
  EXPECT_THAT(out, HasSubstr(ShortId(two.id()) + "  trusted  two\n"));
}

TEST_F(KeysCommandTest, ARevokedKeyIsNotTrustedAgainByMistake) {
  const PublicKey one = SigningKey::Generate()->public_key();
  ASSERT_EQ(Run({"trust", list, one.ToText(), "--name", "one"}), 0);
  ASSERT_EQ(Run({"trust", list, one.ToText(), "--name", "one"}), 0) << "twice is once";
  EXPECT_EQ(Listed().entries().size(), 1u);
  ASSERT_EQ(Run({"revoke", list, one.ToText()}), 0);
  EXPECT_EQ(Run({"trust", list, one.ToText(), "--name", "one"}), 1);
  EXPECT_THAT(err, HasSubstr("revokes"));
}

TEST_F(KeysCommandTest, BadWordsAreUsageErrors) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_EQ(Run({"make"}), 2);
  EXPECT_EQ(Run({"make", key, "--name", "two words"}), 2);
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_EQ(Run({"trust", list, "ed25519:short"}), 1);
  EXPECT_FALSE(std::filesystem::exists(key) || std::filesystem::exists(list));
}

}  // namespace
}  // namespace tritond::server
