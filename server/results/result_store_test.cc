// SPDX-License-Identifier: Apache-2.0
#include "server/results/result_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/support/fake_cache.h"

namespace tritond::server {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

class ResultStoreTest : public testing::Test {
 protected:
  static std::string Key(const std::string& name) { return cache::Digest::Of("key of " + name).ToHex(); }
  static std::string Hex(const std::string& bytes) { return cache::Digest::Of(bytes).ToHex(); }

  static void Name(const std::string& bytes, v1::Artifact* artifact) {
    artifact->set_digest(Hex(bytes));
    artifact->set_size_bytes(bytes.size());
  }
  static FreshResult Fresh(const std::string& binary, const std::string& request, double cost = 1) {
    FreshResult fresh;
    Name(binary, fresh.action.add_artifacts());
    Name(request, fresh.action.mutable_request());
    fresh.action.set_cost_cpu_seconds(cost);
    fresh.artifacts = {cache::Blob(binary)};
    fresh.request = cache::Blob(request);
    return fresh;
  }
  static void Keep(ResultStore& store, const std::string& name, FreshResult fresh) {
    absl::Status kept;
    ASSERT_TRUE(store.Keep(Key(name), std::move(fresh), &kept).ok());
    ASSERT_TRUE(kept.ok()) << kept;
  }
  void TrustOnly(const Notary& other) {
    TrustedKeys keys;
    keys.Add({other.public_key(), "other", false});
    notary.Trust(std::move(keys));
  }
  bool HasBlob(const std::string& bytes) { return blobs.Get(cache::Digest::Of(bytes)).ok(); }

  tests::FakeCache results;
  tests::FakeCache blobs;
  Notary notary{*SigningKey::Generate(), {}, [](const std::string&) {}, absl::Now};
};

TEST_F(ResultStoreTest, ANewResultReplacesTheOneThatWasFoundBefore) {
  ResultStore store(results, blobs, notary, {});
  Keep(store, "a", Fresh("one", "request"));
  EXPECT_EQ((*store.Find(Key("a")))->artifacts[0].bytes(), "one");
  Keep(store, "a", Fresh("two", "request"));
  EXPECT_EQ((*store.Find(Key("a")))->artifacts[0].bytes(), "two");
  ASSERT_TRUE(store.Evict({Key("a")}).ok());
  EXPECT_TRUE(absl::IsNotFound(store.Find(Key("a")).status()));
}

TEST_F(ResultStoreTest, EvictionTakesWhatOnlyThatResultNames) {
  ResultStore store(results, blobs, notary, {});
  Keep(store, "a", Fresh("shared binary", "request a"));
  Keep(store, "b", Fresh("shared binary", "request b"));
  absl::StatusOr<Removal> removal = store.Evict({Key("a"), Key("unknown")});
  ASSERT_TRUE(removal.ok());
  EXPECT_THAT(removal->keys, ElementsAre(cache::Digest::Of("key of a")));
  EXPECT_TRUE(absl::IsNotFound(store.Find(Key("a")).status()));
  EXPECT_TRUE(store.Find(Key("b")).ok());
  EXPECT_TRUE(HasBlob("shared binary"));
  EXPECT_FALSE(HasBlob("request a"));
  ASSERT_TRUE(store.EvictAll().ok());
  EXPECT_TRUE(absl::IsNotFound(store.Find(Key("b")).status()));
  EXPECT_FALSE(HasBlob("shared binary"));
}

TEST_F(ResultStoreTest, TakesStockOfWhatAnEarlierRunLeft) {
  {
    ResultStore earlier(results, blobs, notary, {});
    Keep(earlier, "a", Fresh("binary a", "request a"));
    Keep(earlier, "b", Fresh("binary b", "request b"));
  }
  ResultStore store(results, blobs, notary, {});
  EXPECT_EQ(store.index().size(), 0u);
  ASSERT_TRUE(store.TakeStock(results).ok());
  EXPECT_THAT(store.index().Keys(), UnorderedElementsAre(cache::Digest::Of("key of a"), cache::Digest::Of("key of b")));
  ASSERT_TRUE(store.EvictAll().ok());
  EXPECT_FALSE(HasBlob("binary a"));
  EXPECT_FALSE(HasBlob("request b"));
}

TEST_F(ResultStoreTest, TheLeastValuableGoWhenThereIsTooMuch) {
  StoreLimits limits;
  limits.stored_bytes = 6000;
  ResultStore store(results, blobs, notary, limits);
  Keep(store, "dear", Fresh(std::string(2000, 'd'), "request dear", 100));
  Keep(store, "cheap", Fresh(std::string(2000, 'c'), "request cheap", 0.1));
  Keep(store, "fair", Fresh(std::string(2000, 'f'), "request fair", 10));
  EXPECT_LE(store.index().size_bytes(), 6000u);
  EXPECT_TRUE(absl::IsNotFound(store.Find(Key("cheap")).status()));
  EXPECT_TRUE(store.Find(Key("dear")).ok());
  EXPECT_TRUE(store.Find(Key("fair")).ok());
  EXPECT_FALSE(HasBlob(std::string(2000, 'c')));
}

TEST_F(ResultStoreTest, NoLimitIsWideEnoughForAnyNumberOfTinyResults) {
  StoreLimits limits;
  limits.stored_bytes = 100'000;
  ResultStore store(results, blobs, notary, limits);
  for (int i = 0; i < 400; ++i) Keep(store, absl::StrCat(i), Fresh("b", "r"));
  EXPECT_LE(store.index().size(), limits.stored_bytes / 512);
  EXPECT_GE(store.index().size(), 10u);
}

TEST_F(ResultStoreTest, AResultWhoseArtifactIsGoneIsAMissAndCountsOnceWhenItIsThereAgain) {
  ResultStore store(results, blobs, notary, {});
  Keep(store, "a", Fresh("binary", "request"));
  const uint64_t size_bytes = store.index().size_bytes();
  blobs.entries.erase(cache::Digest::Of("binary"));
  store.OnLostArtifact(Hex("binary"));
  EXPECT_TRUE(absl::IsNotFound(store.Find(Key("a")).status()));
  Keep(store, "a", Fresh("binary", "request"));
  EXPECT_EQ((*store.Find(Key("a")))->artifacts[0].bytes(), "binary");
  EXPECT_EQ(store.index().size(), 1u);
  EXPECT_EQ(store.index().size_bytes(), size_bytes);
}

TEST_F(ResultStoreTest, AResultWhoseArtifactIsGoneMakesRoomAsAnyOther) {
  StoreLimits limits;
  limits.stored_bytes = 6000;
  ResultStore store(results, blobs, notary, limits);
  Keep(store, "gone", Fresh(std::string(2000, 'g'), "request gone", 0.1));
  blobs.entries.erase(cache::Digest::Of(std::string(2000, 'g')));
  Keep(store, "a", Fresh(std::string(2000, 'a'), "request a", 10));
  Keep(store, "b", Fresh(std::string(2000, 'b'), "request b", 10));
  EXPECT_THAT(store.index().Keys(), UnorderedElementsAre(cache::Digest::Of("key of a"), cache::Digest::Of("key of b")));
  EXPECT_LE(store.index().size_bytes(), 6000u);
}

TEST_F(ResultStoreTest, AnEmptyArtifactIsNotKept) {
  ResultStore store(results, blobs, notary, {});
  absl::Status kept;
  const absl::Status refused = store.Keep(Key("a"), Fresh("", "request"), &kept).status();
  EXPECT_TRUE(absl::IsInternal(refused)) << refused;
  EXPECT_TRUE(results.entries.empty() && blobs.entries.empty());
}

TEST_F(ResultStoreTest, WrongBytesAreNotKept) {
  ResultStore store(results, blobs, notary, {});
  FreshResult fresh = Fresh("binary", "request");
  fresh.artifacts[0] = cache::Blob("Binary");
  absl::Status kept;
  EXPECT_TRUE(absl::IsInternal(store.Keep(Key("a"), fresh, &kept).status()));
  fresh = Fresh("binary", "request");
  fresh.request = cache::Blob("Request");
  EXPECT_TRUE(absl::IsInternal(store.Keep(Key("a"), fresh, &kept).status()));
  EXPECT_TRUE(absl::IsNotFound(store.Find(Key("a")).status()));
}

TEST_F(ResultStoreTest, StoredResultsAreSignedForTheirKeyAndNameTheSigner) {
  ResultStore store(results, blobs, notary, {});
  Keep(store, "a", Fresh("binary", "request"));
  const cache::Digest key = cache::Digest::Of("key of a");
  const Notary::Answer read = notary.Read(Origin::kOwn, {Purpose::kResult, key}, results.entries[key].bytes());
  ASSERT_FALSE(read.refusal.has_value());
  const auto found = *store.Find(Key("a"));
  EXPECT_EQ(found->action.signer(), notary.public_key().id().ToHex());
  EXPECT_EQ(found->serialized.bytes(), read.record.payload);
  EXPECT_EQ(found->record.bytes(), results.entries[key].bytes());
}

TEST_F(ResultStoreTest, ARecordOfAnotherDaemonIsKeptAsItWasSigned) {
  Notary other(
      *SigningKey::Generate(), {}, [](const std::string&) {}, absl::Now);
  TrustOnly(other);
  FreshResult fresh = Fresh("binary", "request");
  fresh.record =
      cache::Blob(other.Sign(Purpose::kResult, cache::Digest::Of("key of a"), fresh.action.SerializeAsString()));
  fresh.request = cache::Blob();  // It is not to be had, and only explanations want it.
  const std::string record(fresh.record.bytes());
  ResultStore store(results, blobs, notary, {});
  Keep(store, "a", std::move(fresh));
  EXPECT_EQ(results.entries[cache::Digest::Of("key of a")].bytes(), record);
  EXPECT_EQ((*store.Find(Key("a")))->facts.signer, other.public_key().id());
}

TEST_F(ResultStoreTest, ARecordOfAnotherKeyIsNotKept) {
  ResultStore store(results, blobs, notary, {});
  FreshResult fresh = Fresh("binary", "request");
  fresh.record =
      cache::Blob(notary.Sign(Purpose::kResult, cache::Digest::Of("key of b"), fresh.action.SerializeAsString()));
  absl::Status kept;
  EXPECT_TRUE(absl::IsInternal(store.Keep(Key("a"), std::move(fresh), &kept).status()));
  EXPECT_TRUE(results.entries.empty());
}

TEST_F(ResultStoreTest, WhenAKeyIsRevokedWhatItSignedAndWhatWasMadeOfThatIsAMiss) {
  Notary other(
      *SigningKey::Generate(), {}, [](const std::string&) {}, absl::Now);
  TrustOnly(other);
  ResultStore store(results, blobs, notary, {});
  FreshResult theirs = Fresh("theirs", "request");
  theirs.record =
      cache::Blob(other.Sign(Purpose::kResult, cache::Digest::Of("key of theirs"), theirs.action.SerializeAsString()));
  Keep(store, "theirs", std::move(theirs));
  FreshResult derived = Fresh("theirs", "request");
  derived.sources = notary.SourcesOf((*store.Find(Key("theirs")))->facts);
  Keep(store, "derived", std::move(derived));
  Keep(store, "own", Fresh("own", "request"));
  ASSERT_TRUE(store.Find(Key("derived")).ok());
  ASSERT_TRUE(notary.Trust({}));
  store.OnLessTrust();
  EXPECT_TRUE(absl::IsNotFound(store.Find(Key("theirs")).status()));
  EXPECT_TRUE(absl::IsNotFound(store.Find(Key("derived")).status()));
  EXPECT_TRUE(store.Find(Key("own")).ok());
  // What comes only now, from a compile that began before, is not kept parsed either.
  FreshResult late = Fresh("theirs", "request");
  late.sources = {other.public_key().id()};
  Keep(store, "late", std::move(late));
  EXPECT_TRUE(absl::IsNotFound(store.Find(Key("late")).status()));
}

TEST_F(ResultStoreTest, UnsignedResultsOfAnEarlierVersionGoWithTheirArtifacts) {
  FreshResult old = Fresh("binary", "request");
  results.Put(cache::Digest::Of("key of a"), cache::Blob(old.action.SerializeAsString())).IgnoreError();
  results.Put(cache::Digest::Of("key of b"), cache::Blob("no result at all")).IgnoreError();
  for (const char* bytes : {"binary", "request"})
    blobs.Put(cache::Digest::Of(bytes), cache::Blob(std::string(bytes))).IgnoreError();
  ResultStore store(results, blobs, notary, {});
  ASSERT_TRUE(store.TakeStock(results).ok());
  EXPECT_TRUE(results.entries.empty() && blobs.entries.empty());
  EXPECT_EQ(store.index().size(), 0u);
}

}  // namespace
}  // namespace tritond::server
