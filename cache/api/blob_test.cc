// SPDX-License-Identifier: Apache-2.0
#include "cache/api/blob.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace tritond::cache {
namespace {

TEST(Blob, DefaultIsEmpty) {
  EXPECT_TRUE(Blob().empty());
  EXPECT_EQ(Blob(), Blob(""));
}

TEST(Blob, TakesAStringOverWithoutCopying) {
  std::string bytes(1000, 'x');
  const char* const data = bytes.data();
  EXPECT_EQ(Blob(std::move(bytes)).data(), data);
}

TEST(Blob, CopiesShareTheBytesAndKeepThemAlive) {
  Blob copy;
  const char* data;
  {
    const Blob original(std::string(1000, 'x'));
    copy = original;
    data = original.data();
  }
  EXPECT_EQ(copy.data(), data);
  EXPECT_EQ(copy.bytes(), std::string(1000, 'x'));
}

TEST(Blob, CopyIsApartFromItsSource) {
  std::string source = "before";
  const Blob copy = Blob::Copy(source);
  source = "after!";
  EXPECT_EQ(copy.bytes(), "before");
}

TEST(Blob, SliceSharesAndEndsAtTheEnd) {
  const Blob whole("0123456789");
  EXPECT_EQ(whole.Slice(2, 3).bytes(), "234");
  EXPECT_EQ(whole.Slice(2, 3).data(), whole.data() + 2);
  EXPECT_EQ(whole.Slice(8, 100).bytes(), "89");
  EXPECT_TRUE(whole.Slice(10, 1).empty());
  EXPECT_TRUE(whole.Slice(11, 1).empty());
  EXPECT_EQ(whole.Slice(2, 6).Slice(1, 2).bytes(), "34");
}

TEST(Blob, SliceOutlivesTheWhole) { EXPECT_EQ(Blob(std::string(1000, 'x') + "tail").Slice(1000, 4).bytes(), "tail"); }

TEST(Blob, EqualityIsOfBytes) {
  EXPECT_EQ(Blob("same"), Blob("same"));
  EXPECT_NE(Blob("one"), Blob("two"));
}

TEST(Blob, CopiesKnowTheDigestAndSlicesDoNot) {
  const Blob blob = Blob("bytes").WithDigest();
  EXPECT_EQ(blob.digest(), Digest::Of("bytes"));
  const Blob copy = blob;
  EXPECT_EQ(copy.digest(), blob.digest());
  EXPECT_FALSE(blob.Slice(0, 3).digest().has_value());
  EXPECT_EQ(*blob.Slice(0, 3).WithDigest().digest(), Digest::Of("byt"));
  EXPECT_FALSE(Blob("bytes").digest().has_value());
}

}  // namespace
}  // namespace tritond::cache
