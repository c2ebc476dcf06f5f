// SPDX-License-Identifier: Apache-2.0
#include "server/provenance/signed_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

const SigningKey& Key() {
  static const auto* const key = new SigningKey(*SigningKey::Generate());
  return *key;
}

RecordFacts Facts() {
  RecordFacts facts;
  facts.purpose = Purpose::kToldError;
  facts.key = cache::Digest::Of("key");
  facts.time = absl::FromUnixNanos(1234567890123456789);
  facts.sources = {cache::Digest::Of("source"), cache::Digest::Of("another")};
  facts.scope = "asker/1";
  return facts;
}

bool Holds(const std::string& bytes) {
  const absl::StatusOr<RecordView> record = ReadRecord(bytes);
  return record.ok() && VerifySignature(*record, Key().public_key());
}

TEST(SignedRecord, GivesBackWhatWasWritten) {
  const std::string bytes = WriteRecord(Facts(), "payload", Key());
  const absl::StatusOr<RecordView> record = ReadRecord(bytes);
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ(record->payload, "payload");
  EXPECT_EQ(record->facts.purpose, Purpose::kToldError);
  EXPECT_EQ(record->facts.key, Facts().key);
  EXPECT_EQ(record->facts.signer, Key().public_key().id());
  EXPECT_EQ(record->facts.time, Facts().time);
  EXPECT_EQ(record->facts.sources, Facts().sources);
  EXPECT_EQ(record->facts.scope, "asker/1");
  EXPECT_TRUE(VerifySignature(*record, Key().public_key()));
}

TEST(SignedRecord, EveryFlippedBitFails) {
  for (const std::string& payload : {std::string(), std::string("a payload of some bytes")}) {
    const std::string good = WriteRecord(Facts(), payload, Key());
    ASSERT_TRUE(Holds(good));
    for (size_t bit = 0; bit < good.size() * 8; ++bit) {
      std::string bad = good;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
      EXPECT_FALSE(Holds(bad)) << "bit " << bit;
    }
  }
}

TEST(SignedRecord, EveryCutAndEveryAddedByteIsNoRecord) {
  const std::string good = WriteRecord(Facts(), "payload", Key());
  for (size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(ReadRecord(good.substr(0, size)).ok()) << size;
  EXPECT_FALSE(ReadRecord(good + '\0').ok());
  EXPECT_FALSE(ReadRecord(good + good).ok());
}

TEST(SignedRecord, BytesCannotMoveFromOneFieldToTheNext) {
  RecordFacts facts = Facts();
  facts.scope = "ab";
  const std::string good = WriteRecord(facts, "cd", Key());
  facts.scope = "abc";
  const std::string other = WriteRecord(facts, "d", Key());
  EXPECT_NE(good, other);
  EXPECT_FALSE(Holds(good.substr(0, good.size() - 64) + other.substr(other.size() - 64)));
}

TEST(SignedRecord, ASignatureOfThePlainBytesIsNone) {
  const std::string good = WriteRecord(Facts(), "payload", Key());
  const std::string before = good.substr(0, good.size() - 64);
  EXPECT_FALSE(Holds(before + Key().Sign(before)));
}

TEST(SignedRecord, HugeSizesAreNoRecord) {
  std::string bytes = WriteRecord({}, "payload", Key());
  const size_t size_at = bytes.size() - 64 - 7 - 8;
  for (size_t i = 0; i < 8; ++i) bytes[size_at + i] = '\xff';
  EXPECT_FALSE(ReadRecord(bytes).ok());
  EXPECT_TRUE(LooksSigned(bytes));
  EXPECT_FALSE(LooksSigned("an action result"));
}

}  // namespace
}  // namespace tritond::server
