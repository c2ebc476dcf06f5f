// SPDX-License-Identifier: Apache-2.0
#include "server/tunings/tuning_store.h"

#include <gtest/gtest.h>

#include "tests/support/fake_cache.h"

namespace tritond::server {
namespace {

cache::Digest Key(int i) { return cache::Digest::Of(std::to_string(i)); }

v1::ProgramTuning Tuning(const std::string& winner) {
  v1::ProgramTuning tuning;
  tuning.set_winner(winner);
  tuning.add_timings()->add_milliseconds(1);
  return tuning;
}

class TuningStoreTest : public testing::Test {
 protected:
  tests::FakeCache records_;
};

TEST_F(TuningStoreTest, AStoredTuningIsFound) {
  TuningStore store(records_, 10);
  EXPECT_FALSE(store.Find(Key(1)).has_value());
  ASSERT_TRUE(store.Keep(Key(1), Tuning("a")).ok());
  EXPECT_EQ(store.Find(Key(1))->winner(), "a");
  EXPECT_EQ(store.size(), 1u);
}

TEST_F(TuningStoreTest, TheOldestGoesWhenThereAreTooMany) {
  TuningStore store(records_, 3);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(store.Keep(Key(i), Tuning("a")).ok());
  EXPECT_EQ(store.size(), 3u);
  EXPECT_FALSE(store.Find(Key(1)).has_value());
  EXPECT_TRUE(store.Find(Key(2)).has_value());
}

TEST_F(TuningStoreTest, TuningsOfAnEarlierRunCount) {
  TuningStore before(records_, 10);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(before.Keep(Key(i), Tuning("a")).ok());
  TuningStore store(records_, 3);
  ASSERT_TRUE(store.TakeStock().ok());
  EXPECT_EQ(store.size(), 3u);
  EXPECT_EQ(records_.List()->size(), 3u);
}

TEST_F(TuningStoreTest, RecordsThatMakeNoSenseAreNotFound) {
  TuningStore store(records_, 10);
  ASSERT_TRUE(records_.Put(Key(1), cache::Blob("\xff\xff no message")).ok());
  v1::ProgramTuning strange = Tuning("a");
  strange.mutable_timings(0)->set_milliseconds(0, -1);
  ASSERT_TRUE(records_.Put(Key(2), cache::Blob(strange.SerializeAsString())).ok());
  EXPECT_FALSE(store.Find(Key(1)).has_value());
  EXPECT_FALSE(store.Find(Key(2)).has_value());
}

TEST_F(TuningStoreTest, AllCanBeForgotten) {
  TuningStore store(records_, 10);
  ASSERT_TRUE(store.Keep(Key(1), Tuning("a")).ok());
  ASSERT_TRUE(store.ForgetAll().ok());
  EXPECT_FALSE(store.Find(Key(1)).has_value());
  EXPECT_EQ(store.size(), 0u);
}

}  // namespace
}  // namespace tritond::server
