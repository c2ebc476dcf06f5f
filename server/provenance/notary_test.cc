// SPDX-License-Identifier: Apache-2.0
#include "server/provenance/notary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

using testing::HasSubstr;
using testing::Not;

class NotaryTest : public testing::Test {
 protected:
  std::unique_ptr<Notary> MakeNotary(TrustedKeys trusted = {}) {
    return std::make_unique<Notary>(
        *SigningKey::Generate(), std::move(trusted), [this](const std::string& line) { log.push_back(line); },
        [this] { return now; });
  }
  static TrustedKeys::Entry EntryOf(const Notary& notary, bool revoked = false) {
    return {notary.public_key(), "other", revoked};
  }
  static TrustedKeys Listing(const Notary& notary, bool revoked = false) {
    TrustedKeys keys;
    keys.Add(EntryOf(notary, revoked));
    return keys;
  }
  std::optional<Refusal> Ask(Notary& notary, const std::string& record) {
    return notary.Read(Origin::kEngine, {Purpose::kResult, key}, record).refusal;
  }

  const cache::Digest key = cache::Digest::Of("key");
  absl::Time now = absl::FromUnixSeconds(1000000);
  std::vector<std::string> log;
};

TEST_F(NotaryTest, TakesItsOwnRecordsWithoutAList) {
  const auto notary = MakeNotary();
  const std::string record = notary->Sign(Purpose::kResult, key, "result");
  const Notary::Answer answer = notary->Read(Origin::kOwn, {Purpose::kResult, key}, record);
  ASSERT_FALSE(answer.refusal.has_value());
  EXPECT_EQ(answer.record.payload, "result");
  EXPECT_EQ(answer.record.facts.signer, notary->public_key().id());
}

TEST_F(NotaryTest, TakesOthersRecordsOnlyWhenTheyAreListed) {
  const auto other = MakeNotary(), notary = MakeNotary();
  const std::string record = other->Sign(Purpose::kResult, key, "result");
  EXPECT_EQ(Ask(*notary, record), Refusal::kUnknownSigner);
  EXPECT_FALSE(notary->Trust(Listing(*other)));
  EXPECT_EQ(Ask(*notary, record), std::nullopt);
  EXPECT_TRUE(notary->Trust(Listing(*other, /*revoked=*/true)));
  EXPECT_EQ(Ask(*notary, record), Refusal::kRevoked);
  notary->Trust(Listing(*other));
  EXPECT_TRUE(notary->Trust({}));
  EXPECT_EQ(Ask(*notary, record), Refusal::kUnknownSigner);
}

TEST_F(NotaryTest, ARecordIsForOneKeyPurposeAndAsker) {
  const auto notary = MakeNotary();
  const std::string record = notary->Sign(Purpose::kToldError, key, "error", {}, "asker");
  const auto ask = [&](Purpose purpose, const char* name, const char* scope) {
    return notary->Read(Origin::kEngine, {purpose, cache::Digest::Of(name), scope}, record).refusal;
  };
  EXPECT_EQ(ask(Purpose::kToldError, "key", "asker"), std::nullopt);
  EXPECT_EQ(ask(Purpose::kToldError, "other", "asker"), Refusal::kWrongKey);
  EXPECT_EQ(ask(Purpose::kToldError, "key", "another"), Refusal::kWrongKey);
  EXPECT_EQ(ask(Purpose::kError, "key", "asker"), Refusal::kWrongKey);
  EXPECT_EQ(notary->refused(Origin::kEngine, Refusal::kWrongKey), 3u);
}

TEST_F(NotaryTest, NoFlippedBitAndNoCutCounts) {
  const auto notary = MakeNotary();
  const std::string good = notary->Sign(Purpose::kResult, key, "result");
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    EXPECT_NE(Ask(*notary, bad), std::nullopt) << "bit " << bit;
  }
  for (size_t size = 0; size < good.size(); ++size) EXPECT_NE(Ask(*notary, good.substr(0, size)), std::nullopt);
  EXPECT_EQ(Ask(*notary, "a plain result"), Refusal::kUnsigned);
  EXPECT_EQ(Ask(*notary, good.substr(0, 20)), Refusal::kMalformed);
}

TEST_F(NotaryTest, RecordsMadeFromARevokedSignersRecordsAreRevokedToo) {
  const auto stolen = MakeNotary(), notary = MakeNotary();
  const std::string record = notary->Sign(Purpose::kResult, key, "result", {stolen->public_key().id()});
  EXPECT_EQ(Ask(*notary, record), Refusal::kUnknownSigner);
  notary->Trust(Listing(*stolen));
  EXPECT_EQ(Ask(*notary, record), std::nullopt);
  notary->Trust(Listing(*stolen, /*revoked=*/true));
  EXPECT_EQ(Ask(*notary, record), Refusal::kRevoked);
}

TEST_F(NotaryTest, AnEarlierOwnKeyCountsOnOnlyIfTheListHasIt) {
  const auto notary = MakeNotary();
  const std::string record = notary->Sign(Purpose::kResult, key, "result");
  TrustedKeys with_earlier = Listing(*notary);
  EXPECT_FALSE(notary->Adopt(*SigningKey::Generate(), std::move(with_earlier)));
  EXPECT_EQ(Ask(*notary, record), std::nullopt);
  const std::string later = notary->Sign(Purpose::kResult, key, "result");
  EXPECT_NE(later, record);
  EXPECT_EQ(Ask(*notary, later), std::nullopt);
  EXPECT_TRUE(notary->Adopt(*SigningKey::Generate(), {}));
  EXPECT_EQ(Ask(*notary, record), Refusal::kUnknownSigner);
  EXPECT_EQ(Ask(*notary, later), Refusal::kUnknownSigner);
}

TEST_F(NotaryTest, BelievesWhatItReadBeforeOnlyAsLongAsAllItsSignersCount) {
  const auto other = MakeNotary(), notary = MakeNotary();
  notary->Trust(Listing(*other));
  RecordFacts direct, derived;
  direct.signer = other->public_key().id();
  derived.signer = notary->public_key().id();
  derived.sources = {other->public_key().id()};
  EXPECT_TRUE(notary->Believes(direct));
  EXPECT_TRUE(notary->Believes(derived));
  notary->Trust(Listing(*other, /*revoked=*/true));
  EXPECT_FALSE(notary->Believes(direct));
  EXPECT_FALSE(notary->Believes(derived));
}

TEST_F(NotaryTest, ErrorsAreNotReplayedForLong) {
  const auto notary = MakeNotary();
  const std::string record = notary->Sign(Purpose::kError, key, "error");
  const Notary::Use use{Purpose::kError, key, {}, absl::Minutes(1)};
  now += absl::Minutes(1) + Notary::kClockSkew;
  EXPECT_EQ(notary->Read(Origin::kEngine, use, record).refusal, std::nullopt);
  now += absl::Seconds(1);
  EXPECT_EQ(notary->Read(Origin::kEngine, use, record).refusal, Refusal::kExpired);
}

TEST_F(NotaryTest, CountsEveryRefusalAndReportsSomeWithoutStrangersText) {
  const auto notary = MakeNotary();
  for (int i = 0; i < 100; ++i) Ask(*notary, "\x1b[2J forged");
  EXPECT_EQ(notary->refused(Origin::kEngine, Refusal::kUnsigned), 100u);
  EXPECT_EQ(notary->refused(Origin::kOwn, Refusal::kUnsigned), 0u);
  ASSERT_EQ(log.size(), 1u);
  EXPECT_THAT(log[0], HasSubstr(key.ToHex()));
  EXPECT_THAT(log[0], Not(HasSubstr("forged")));
  now += absl::Seconds(11);
  Ask(*notary, "forged");
  ASSERT_EQ(log.size(), 2u);
  EXPECT_THAT(log[1], HasSubstr("and 99 more"));
}

TEST_F(NotaryTest, GuardsTellDamageFromDistrust) {
  const auto other = MakeNotary(), notary = MakeNotary();
  cache::RecordGuard& guard = notary->engine_guard();
  EXPECT_EQ(guard.Check(key, notary->Sign(Purpose::kResult, key, "result")), absl::OkStatus());
  EXPECT_TRUE(absl::IsDataLoss(guard.Check(key, "forged")));
  EXPECT_TRUE(absl::IsDataLoss(guard.Check(cache::Digest::Of("b"), notary->Sign(Purpose::kResult, key, "result"))));
  EXPECT_TRUE(absl::IsNotFound(guard.Check(key, other->Sign(Purpose::kResult, key, "result"))));
}

}  // namespace
}  // namespace tritond::server
