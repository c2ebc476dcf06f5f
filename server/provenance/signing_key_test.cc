// SPDX-License-Identifier: Apache-2.0
#include "server/provenance/signing_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"

namespace tritond::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(SigningKey, SignsAsTheStandardSays) {
  // RFC 8032, section 7.1, test 2: the seed as PKCS #8, the message 0x72.
  const std::string der = absl::HexStringToBytes("302e020100300506032b657004220420") +
                          absl::HexStringToBytes("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
  const absl::StatusOr<SigningKey> key =
      SigningKey::FromPem("-----BEGIN PRIVATE KEY-----\n" + absl::Base64Escape(der) + "\n-----END PRIVATE KEY-----\n");
  ASSERT_TRUE(key.ok()) << key.status();
  EXPECT_EQ(key->public_key().ToText(),
            "ed25519:" + absl::Base64Escape(absl::HexStringToBytes(
                             "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")));
  EXPECT_EQ(absl::BytesToHexString(key->Sign("\x72")),
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
}

TEST(SigningKey, VerifiesItsOwnMessagesAndNoOthers) {
  const SigningKey key = *SigningKey::Generate(), other = *SigningKey::Generate();
  const std::string signature = key.Sign("message");
  EXPECT_TRUE(key.public_key().Verifies("message", signature));
  EXPECT_FALSE(key.public_key().Verifies("Message", signature));
  EXPECT_FALSE(other.public_key().Verifies("message", signature));
  EXPECT_FALSE(key.public_key().Verifies("message", signature.substr(1)));
  EXPECT_FALSE(key.public_key().Verifies("message", ""));
  EXPECT_NE(key.public_key().id(), other.public_key().id());
}

TEST(SigningKey, ASignatureHasOneForm) {
  const SigningKey key = *SigningKey::Generate();
  std::string signature = key.Sign("message");
  // The same S plus the order of the group: true for a verifier that does not look at its size.
  const std::string order = absl::HexStringToBytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
  int carry = 0;
  for (int i = 0; i < 32; ++i) {
    const int sum = static_cast<uint8_t>(signature[32 + i]) + static_cast<uint8_t>(order[i]) + carry;
    signature[32 + i] = static_cast<char>(sum & 255);
    carry = sum >> 8;
  }
  EXPECT_FALSE(key.public_key().Verifies("message", signature));
}

TEST(SigningKey, SurvivesBeingWritten) {
  const SigningKey key = *SigningKey::Generate();
  const absl::StatusOr<SigningKey> read = SigningKey::FromPem(key.ToPem());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->public_key().id(), key.public_key().id());
  EXPECT_TRUE(key.public_key().Verifies("message", read->Sign("message")));
}

TEST(SigningKey, AFileThatIsNoKeyIsRefusedAndNotQuoted) {
  const std::string secret = "very secret text";
  for (const std::string& text : {std::string(), secret, "-----BEGIN PRIVATE KEY-----\n" + secret}) {
    const absl::Status status = SigningKey::FromPem(text).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text;
    EXPECT_THAT(std::string(status.message()), testing::Not(HasSubstr(secret)));
  }
}

TEST(PublicKey, HasOneSpelling) {
  const PublicKey key = SigningKey::Generate()->public_key();
  const std::string text = key.ToText();
  EXPECT_THAT(text, StartsWith("ed25519:"));
  ASSERT_TRUE(PublicKey::FromText(text).ok());
  EXPECT_EQ(PublicKey::FromText(text)->id(), key.id());
  for (const std::string& wrong : {text.substr(8), text + "A", text + " ", text.substr(0, text.size() - 1),
                                   std::string("ed25519:"), std::string("ed25519:????"), "Ed25519:" + text.substr(8)})
    EXPECT_TRUE(absl::IsInvalidArgument(PublicKey::FromText(wrong).status())) << wrong;
  // 32 bytes leave two bits of the last digit unused; a key that sets them would be another text for the same bytes.
  std::string loose = text;
  loose[loose.size() - 2] = static_cast<char>(loose[loose.size() - 2] + 1);
  const absl::StatusOr<PublicKey> other = PublicKey::FromText(loose);
  EXPECT_TRUE(!other.ok() || other->id() != key.id());
}

}  // namespace
}  // namespace tritond::server
