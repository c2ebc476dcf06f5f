// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_CACHE_CONTRACT_H_
#define TESTS_SUPPORT_CACHE_CONTRACT_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "cache/api/cache.h"

// What every Cache promises, as tests. A store or wrapper runs them with one line in its own test:
//
//   INSTANTIATE_TEST_SUITE_P(MemoryStore, CacheContract, testing::Values(CacheMaker{[](const std::string& dir) {
//     return std::make_unique<MemoryStore>(1 << 30);
//   }}));
//
// It must have room for 100 MiB.
namespace tritond::cache {

// A new folder, removed with its contents at the end.
class TempDir final {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tritond_test_XXXXXX").string();
    path_ = mkdtemp(pattern.data()) != nullptr ? pattern : "";
    EXPECT_FALSE(path_.empty()) << "no temporary folder " << pattern;
  }
  ~TempDir() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct CacheMaker {
  // Makes an empty cache; `dir` is an empty folder that outlives it.
  std::function<std::unique_ptr<Cache>(const std::string& dir)> make;
  // Keys are digests of their values, so that a value cannot be replaced by another.
  bool content_addressed = false;

  friend std::ostream& operator<<(std::ostream& out, const CacheMaker& maker) {
    return out << (maker.content_addressed ? "content-addressed" : "any keys");
  }
};

class CacheContract : public testing::TestWithParam<CacheMaker> {
 protected:
  CacheContract() : cache_(GetParam().make(dir_.path())) {}

  static Digest KeyOf(const Blob& value) { return Digest::Of(value.bytes()); }

  Digest PutNew(const std::string& bytes) {
    const Blob value(bytes);
    EXPECT_EQ(cache_->Put(KeyOf(value), value), absl::OkStatus());
    return KeyOf(value);
  }

  void ExpectHolds(const Digest& key, absl::string_view bytes) {
    const absl::StatusOr<Blob> value = cache_->Get(key);
    ASSERT_EQ(value.status(), absl::OkStatus());
    EXPECT_TRUE(value->bytes() == bytes) << "a value of " << value->size() << " bytes, want " << bytes.size();
  }

  const TempDir dir_;
  const std::unique_ptr<Cache> cache_;
};

TEST_P(CacheContract, GetOfUnknownKeyIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(cache_->Get(Digest::Of("never put")).status()));
  EXPECT_TRUE(absl::IsNotFound(cache_->Get(Digest()).status()));
}

TEST_P(CacheContract, GetReturnsWhatWasPut) {
  const Digest one = PutNew("one");
  const Digest two = PutNew("two");
  ExpectHolds(one, "one");
  ExpectHolds(two, "two");
}

TEST_P(CacheContract, EmptyValueIsAValue) { ExpectHolds(PutNew(""), ""); }

TEST_P(CacheContract, EveryByteSurvives) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  ExpectHolds(PutNew(bytes), bytes);
}

TEST_P(CacheContract, ValuesOfManySizesSurvive) {
  for (size_t size : {1, 31, 32, 33, 4096, 32767, 32768, 65537, 1 << 20}) {
    std::string bytes(size, 'x');
    for (size_t i = 0; i < size; i += 7) bytes[i] = static_cast<char>(i * 2654435761u >> 13);
    ExpectHolds(PutNew(bytes), bytes);
  }
}

TEST_P(CacheContract, HugeValueSurvives) {
  std::string bytes(size_t{64} << 20, '\0');
  for (size_t i = 0; i < bytes.size(); i += 97) bytes[i] = static_cast<char>(i >> 5);
  ExpectHolds(PutNew(bytes), bytes);
}

TEST_P(CacheContract, KeysThatDifferInOneBitAreApart) {
  if (GetParam().content_addressed) return;  // Such keys cannot be made there.
  const Digest key = Digest::Of("key");
  std::string flipped(key.bytes().data(), key.bytes().size());
  flipped.back() ^= 1;
  ASSERT_EQ(cache_->Put(key, Blob("value")), absl::OkStatus());
  EXPECT_TRUE(absl::IsNotFound(cache_->Get(*Digest::FromBytes(flipped)).status()));
}

TEST_P(CacheContract, PutReplacesTheEarlierValue) {
  if (GetParam().content_addressed) return;
  const Digest key = Digest::Of("key");
  ASSERT_EQ(cache_->Put(key, Blob("a long earlier value")), absl::OkStatus());
  ASSERT_EQ(cache_->Put(key, Blob("later")), absl::OkStatus());
  ExpectHolds(key, "later");
}

TEST_P(CacheContract, PutOfTheSameValueAgainIsOk) {
  PutNew("same");
  ExpectHolds(PutNew("same"), "same");
}

TEST_P(CacheContract, RemoveForgetsThatEntryOnly) {
  const Digest gone = PutNew("gone");
  const Digest kept = PutNew("kept");
  EXPECT_EQ(cache_->Remove(gone), absl::OkStatus());
  EXPECT_TRUE(absl::IsNotFound(cache_->Get(gone).status()));
  ExpectHolds(kept, "kept");
}

TEST_P(CacheContract, RemoveOfAbsentKeyIsOk) { EXPECT_EQ(cache_->Remove(Digest::Of("absent")), absl::OkStatus()); }

TEST_P(CacheContract, RemovedKeyCanBePutAgain) {
  const Digest key = PutNew("back");
  ASSERT_EQ(cache_->Remove(key), absl::OkStatus());
  PutNew("back");
  ExpectHolds(key, "back");
}

TEST_P(CacheContract, FindMissingNamesTheAbsentInOrder) {
  const Digest a = Digest::Of("absent a"), b = Digest::Of("absent b");
  const Digest present = PutNew("present");
  const absl::StatusOr<std::vector<Digest>> missing = cache_->FindMissing({b, present, a, b});
  ASSERT_EQ(missing.status(), absl::OkStatus());
  EXPECT_THAT(*missing, testing::ElementsAre(b, a, b));
}

TEST_P(CacheContract, FindMissingOfNothingIsNothing) {
  const absl::StatusOr<std::vector<Digest>> missing = cache_->FindMissing({});
  ASSERT_EQ(missing.status(), absl::OkStatus());
  EXPECT_THAT(*missing, testing::IsEmpty());
}

TEST_P(CacheContract, ListNamesEveryEntryOnce) {
  const Digest kept = PutNew("kept"), gone = PutNew("gone"), other = PutNew("other");
  PutNew("kept");
  ASSERT_EQ(cache_->Remove(gone), absl::OkStatus());
  const absl::StatusOr<std::vector<Digest>> keys = cache_->List();
  ASSERT_EQ(keys.status(), absl::OkStatus());
  EXPECT_THAT(*keys, testing::UnorderedElementsAre(kept, other));
}

TEST_P(CacheContract, RemoveAllForgetsAndCountsEveryEntry) {
  const std::string large(5 << 20, 'x');
  const Digest one = PutNew("one"), two = PutNew("two"), three = PutNew(large);
  const absl::StatusOr<uint64_t> removed = cache_->RemoveAll();
  ASSERT_EQ(removed.status(), absl::OkStatus());
  EXPECT_EQ(*removed, 3u);
  for (const Digest& key : {one, two, three}) EXPECT_TRUE(absl::IsNotFound(cache_->Get(key).status()));
  EXPECT_EQ(*cache_->RemoveAll(), 0u);
  PutNew("two");
  ExpectHolds(two, "two");
}

TEST_P(CacheContract, ValueOutlivesItsEntry) {
  const Digest key = PutNew("still here");
  const absl::StatusOr<Blob> value = cache_->Get(key);
  ASSERT_EQ(value.status(), absl::OkStatus());
  ASSERT_EQ(cache_->Remove(key), absl::OkStatus());
  EXPECT_EQ(value->bytes(), "still here");
}

// Threads put, get and remove overlapping keys; each value must name its key, so a torn or mixed-up one shows.
TEST_P(CacheContract, ConcurrentCallsNeverMixValuesUp) {
  constexpr int kThreads = 8, kIterations = 300, kKeys = 16;
  std::vector<Blob> values;
  for (int i = 0; i < kKeys; ++i) values.emplace_back(std::string(1000 + i * 401, static_cast<char>('a' + i)));
  std::atomic<int> hits{0}, wrong{0}, errors{0};
  const auto work = [&](int thread) {
    for (int iteration = 0; iteration < kIterations; ++iteration) {
      const Blob& value = values[(thread * 5 + iteration * 3) % kKeys];
      const Digest key = KeyOf(value);
      if (!cache_->Put(key, value).ok()) ++errors;
      const absl::StatusOr<Blob> got = cache_->Get(key);
      if (got.ok()) {
        ++hits;
        if (*got != value) ++wrong;
      } else if (!absl::IsNotFound(got.status())) {
        ++errors;
      }
      if (iteration % 4 == thread % 4 && !cache_->Remove(key).ok()) ++errors;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(hits, 0);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(errors, 0);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CacheContract);

}  // namespace tritond::cache

#endif  // TESTS_SUPPORT_CACHE_CONTRACT_H_
