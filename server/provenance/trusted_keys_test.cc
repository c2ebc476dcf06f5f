// SPDX-License-Identifier: Apache-2.0
#include "server/provenance/trusted_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

using testing::HasSubstr;

std::string NewKey() { return SigningKey::Generate()->public_key().ToText(); }

TEST(TrustedKeys, AreReadFromLines) {
  const std::string red = NewKey(), blue = NewKey();
  const auto keys = TrustedKeys::Parse(
      absl::StrCat("# of the cluster\n\n", red, "  red # rack 1\n\t", blue, " blue:7433 revoked\r\n"));
  ASSERT_TRUE(keys.ok()) << keys.status();
  ASSERT_EQ(keys->entries().size(), 2u);
  EXPECT_EQ(keys->entries()[0].name, "red");
  EXPECT_FALSE(keys->entries()[0].revoked);
  EXPECT_TRUE(keys->entries()[1].revoked);
  EXPECT_EQ(keys->Find(PublicKey::FromText(blue)->id())->name, "blue:7433");
  EXPECT_EQ(keys->Find(PublicKey::FromText(NewKey())->id()), nullptr);
  EXPECT_EQ(TrustedKeys::FormatLine(keys->entries()[1]), absl::StrCat(blue, " blue:7433 revoked"));
}

TEST(TrustedKeys, AWrongLineIsNamed) {
  const std::string key = NewKey();
  const auto message = [](const std::string& text) {
    const absl::Status status = TrustedKeys::Parse(text).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text;
    return std::string(status.message());
  };
  EXPECT_THAT(message("\nrsa:AAAA red"), HasSubstr("line 2: a public key begins with ed25519:"));
  EXPECT_THAT(message("ed25519:AAAA red"), HasSubstr("32 bytes"));
  EXPECT_THAT(message(key), HasSubstr("a name"));
  EXPECT_THAT(message(key + " red\x1b[2J"), HasSubstr("a name"));
  EXPECT_THAT(message(key + " revoked"), HasSubstr("a name"));
  EXPECT_THAT(message(key + " red revokd"), HasSubstr("nothing else"));
  EXPECT_THAT(message(key + " red revoked twice"), HasSubstr("nothing else"));
  EXPECT_THAT(message(absl::StrCat(key, " red\n", key, " red revoked")), HasSubstr("line 2: the key is listed"));
}

TEST(TrustedKeys, KnowWhetherTheyBelieveLess) {
  const std::string red = NewKey() + " red", blue = NewKey() + " blue";
  const TrustedKeys both = *TrustedKeys::Parse(red + "\n" + blue), one = *TrustedKeys::Parse(red),
                    revoked = *TrustedKeys::Parse(red + "\n" + blue + " revoked");
  EXPECT_TRUE(both.Believes(one));
  EXPECT_TRUE(both.Believes(both));
  EXPECT_TRUE(both.Believes(revoked));
  EXPECT_FALSE(one.Believes(both));
  EXPECT_FALSE(revoked.Believes(both));
  EXPECT_TRUE(one.Believes(revoked));
}

}  // namespace
}  // namespace tritond::server
