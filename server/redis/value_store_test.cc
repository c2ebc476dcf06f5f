// SPDX-License-Identifier: Apache-2.0
#include "server/redis/value_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/support/fake_cache.h"

namespace tritond::server {
namespace {

using Condition = ValueStore::Condition;

class ValueStoreTest : public testing::Test {
 protected:
  std::unique_ptr<ValueStore> Make(uint64_t limit_bytes = 0) {
    return std::make_unique<ValueStore>(records_, values_, TenantIndex::Limits{limit_bytes, 0},
                                        [this] { return now_; });
  }
  static cache::Digest Key(const std::string& name) { return ValueStore::KeyOf("", name); }
  static bool Put(ValueStore& store, const std::string& name, const std::string& value,
                  absl::Duration lifetime = absl::InfiniteDuration(), Condition condition = Condition::kAlways) {
    const absl::StatusOr<bool> stored = store.Put("", Key(name), cache::Blob(value), lifetime, condition);
    EXPECT_TRUE(stored.ok()) << stored.status();
    return stored.ok() && *stored;
  }
  // "-" when there is none.
  static std::string Get(ValueStore& store, const std::string& name) {
    const absl::StatusOr<ValueStore::Entry> entry = store.Find(Key(name));
    const absl::StatusOr<cache::Blob> value = entry.ok() ? store.Get(Key(name)) : entry.status();
    EXPECT_TRUE(value.ok() || absl::IsNotFound(value.status())) << value.status();
    return value.ok() ? std::string(value->bytes()) : "-";
  }

  tests::FakeCache records_, values_;
  absl::Time now_ = absl::FromUnixSeconds(1800000000);
  const std::unique_ptr<ValueStore> store_ = Make();
};

TEST_F(ValueStoreTest, GivesBackWhatWasPutUntilItIsRemoved) {
  EXPECT_EQ(Get(*store_, "a"), "-");
  Put(*store_, "a", "one");
  Put(*store_, "empty", "");
  EXPECT_EQ(Get(*store_, "a"), "one");
  EXPECT_EQ(Get(*store_, "empty"), "");
  Put(*store_, "a", "two");
  EXPECT_EQ(Get(*store_, "a"), "two");
  EXPECT_EQ(store_->Find(Key("a"))->size_bytes, 3u);
  EXPECT_EQ(store_->size(), 2u);
  EXPECT_EQ(store_->size_bytes(), 2 * ValueStore::kBytesBesideValue + 3);
  EXPECT_TRUE(*store_->Remove(Key("a")));
  EXPECT_FALSE(*store_->Remove(Key("a")));
  EXPECT_EQ(Get(*store_, "a"), "-");
  EXPECT_EQ(store_->size(), 1u);
  EXPECT_EQ(values_.entries.size(), 1u);
  EXPECT_EQ(records_.entries.size(), 1u);
}

TEST_F(ValueStoreTest, NoTwoPairsOfTenantAndKeyAreOne) {
  EXPECT_NE(ValueStore::KeyOf("a", "b"), ValueStore::KeyOf("", "ab"));
  EXPECT_NE(ValueStore::KeyOf("a", "b"), ValueStore::KeyOf("ab", ""));
  EXPECT_NE(ValueStore::KeyOf("a", "b"), ValueStore::KeyOf("b", "b"));
  EXPECT_NE(ValueStore::KeyOf("", "1:ab"), ValueStore::KeyOf("a", "b"));
  EXPECT_EQ(ValueStore::KeyOf("a", "b"), ValueStore::KeyOf("a", "b"));
}

TEST_F(ValueStoreTest, AnEntryEndsWithItsLifetime) {
  Put(*store_, "a", "one", absl::Seconds(10));
  Put(*store_, "b", "two", absl::Seconds(10));
  Put(*store_, "b", "for good");
  now_ += absl::Seconds(9);
  EXPECT_EQ(Get(*store_, "a"), "one");
  now_ += absl::Seconds(1);
  EXPECT_TRUE(absl::IsNotFound(store_->Find(Key("a")).status()));
  EXPECT_EQ(Get(*store_, "a"), "-");
  EXPECT_FALSE(*store_->Remove(Key("a")));
  EXPECT_EQ(Get(*store_, "b"), "for good");
  EXPECT_EQ(values_.entries.size(), 1u) << "what is over goes when it is found";
  EXPECT_EQ(records_.entries.size(), 1u);
}

TEST_F(ValueStoreTest, ConditionsGoByWhatIsThere) {
  EXPECT_FALSE(Put(*store_, "a", "one", absl::InfiniteDuration(), Condition::kIfPresent));
  EXPECT_TRUE(Put(*store_, "a", "one", absl::Seconds(1), Condition::kIfAbsent));
  EXPECT_FALSE(Put(*store_, "a", "two", absl::InfiniteDuration(), Condition::kIfAbsent));
  EXPECT_EQ(Get(*store_, "a"), "one");
  EXPECT_TRUE(Put(*store_, "a", "three", absl::Seconds(1), Condition::kIfPresent));
  EXPECT_EQ(Get(*store_, "a"), "three");
  now_ += absl::Seconds(1);
  EXPECT_TRUE(Put(*store_, "a", "four", absl::InfiniteDuration(), Condition::kIfAbsent)) << "it had ended";
}

TEST_F(ValueStoreTest, BeyondTheLimitWhatIsUsedLeastGoes) {
  // Room for ten of them, beside the one that has come last.
  const std::string value(60000, 'v');
  const auto store = Make(10 * (value.size() + ValueStore::kBytesBesideValue));
  Put(*store, "used", value);
  for (int i = 0; i < 50; ++i) {
    Put(*store, absl::StrCat(i), value);
    EXPECT_EQ(Get(*store, "used"), value) << "after " << i;
  }
  EXPECT_LE(store->size(), 11u);
  EXPECT_EQ(store->size(), values_.entries.size()) << "what goes leaves the disk";
  EXPECT_EQ(store->size(), records_.entries.size());
  EXPECT_EQ(Get(*store, "49"), value);
  EXPECT_EQ(Get(*store, "0"), "-");
}

TEST_F(ValueStoreTest, ManyTinyValuesAreBoundedToo) {
  const auto store = Make(100 * ValueStore::kBytesBesideValue);
  for (int i = 0; i < 300; ++i) Put(*store, absl::StrCat(i), "v");
  EXPECT_LE(values_.entries.size(), 100u);
}

TEST_F(ValueStoreTest, ARestartGoesOnWithWhatIsThere) {
  const std::string value(60000, 'v');
  for (int i = 0; i < 20; ++i)
    Put(*store_, absl::StrCat(i), value, i < 5 ? absl::Seconds(1) : absl::InfiniteDuration());
  now_ += absl::Seconds(2);
  const auto again = Make();
  ASSERT_TRUE(again->TakeStock().ok());
  EXPECT_EQ(again->size(), 15u) << "what has ended goes at once";
  EXPECT_EQ(again->size_bytes(), 15 * (value.size() + ValueStore::kBytesBesideValue));
  EXPECT_EQ(values_.entries.size(), 15u);
  const auto smaller = Make(7 * (value.size() + ValueStore::kBytesBesideValue));
  ASSERT_TRUE(smaller->TakeStock().ok());
  EXPECT_LE(smaller->size(), 7u) << "a smaller limit holds at once";
  EXPECT_EQ(values_.entries.size(), smaller->size());
}

TEST_F(ValueStoreTest, ATenantThatStoresMuchPushesOutNoOtherTenant) {
  const std::string value(60000, 'v');
  const auto put = [&](ValueStore& store, const std::string& tenant, int i) {
    ASSERT_TRUE(store
                    .Put(tenant, ValueStore::KeyOf(tenant, absl::StrCat(i)), cache::Blob(value),
                         absl::InfiniteDuration(), Condition::kAlways)
                    .ok());
  };
  const auto there = [&](ValueStore& store, const std::string& tenant) {
    int count = 0;
    for (int i = 0; i < 50; ++i) count += store.Find(ValueStore::KeyOf(tenant, absl::StrCat(i))).ok();
    return count;
  };
  const uint64_t limit = 20 * (value.size() + ValueStore::kBytesBesideValue);
  const auto store = Make(limit);
  for (int i = 0; i < 5; ++i) put(*store, "small", i);
  for (int i = 0; i < 50; ++i) put(*store, "large", i);
  EXPECT_EQ(there(*store, "small"), 5);
  EXPECT_LE(there(*store, "large"), 15);
  // The records tell whose values they are.
  const auto again = Make(limit);
  ASSERT_TRUE(again->TakeStock().ok());
  for (int i = 0; i < 50; ++i) put(*again, "large", i);
  EXPECT_EQ(there(*again, "small"), 5);
}

TEST_F(ValueStoreTest, ARecordOfAnEarlierVersionCounts) {
  Put(*store_, "a", "value");
  records_.entries[Key("a")] = cache::Blob("1 5 0");
  EXPECT_EQ(Get(*store_, "a"), "value");
}

TEST_F(ValueStoreTest, HalfAnEntryIsNone) {
  for (const char* name : {"no value", "no record", "odd record", "other version"}) Put(*store_, name, "value");
  values_.entries.erase(Key("no value"));
  records_.entries.erase(Key("no record"));
  records_.entries[Key("odd record")] = cache::Blob("1 2");
  records_.entries[Key("other version")] = cache::Blob("3 5 0 ");
  EXPECT_TRUE(Put(*store_, "no value", "new", absl::InfiniteDuration(), Condition::kIfAbsent));
  EXPECT_EQ(Get(*store_, "no value"), "new");
  values_.entries.erase(Key("no value"));
  for (const char* name : {"no value", "no record", "odd record", "other version"}) EXPECT_EQ(Get(*store_, name), "-");
  EXPECT_EQ(records_.entries.size(), 0u) << "nothing is left of them";
}

TEST_F(ValueStoreTest, AFullDiskLosesNothingThatIsThere) {
  Put(*store_, "a", "one");
  records_.full = true;
  EXPECT_TRUE(absl::IsResourceExhausted(
      store_->Put("", Key("a"), cache::Blob("two"), absl::InfiniteDuration(), Condition::kAlways).status()));
  EXPECT_EQ(Get(*store_, "a"), "one");
  records_.full = false;
  values_.full = true;
  EXPECT_FALSE(store_->Put("", Key("b"), cache::Blob("two"), absl::InfiniteDuration(), Condition::kAlways).ok());
  EXPECT_EQ(Get(*store_, "b"), "-");
  EXPECT_EQ(records_.entries.size(), 1u) << "no record without a value";
  EXPECT_EQ(store_->size(), 1u);
}

}  // namespace
}  // namespace tritond::server
