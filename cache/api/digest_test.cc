// SPDX-License-Identifier: Apache-2.0
#include "cache/api/digest.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "absl/container/flat_hash_set.h"

namespace tritond::cache {
namespace {

// FIPS 180-4's own examples.
constexpr char kOfEmpty[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr char kOfAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Digest, IsSha256) {
  EXPECT_EQ(Digest::Of("").ToHex(), kOfEmpty);
  EXPECT_EQ(Digest::Of("abc").ToHex(), kOfAbc);
}

TEST(Digest, DefaultIsAllZeros) { EXPECT_EQ(Digest().ToHex(), std::string(64, '0')); }

TEST(Digest, HexRoundTripsInLowerCaseAlone) {
  EXPECT_EQ(*Digest::FromHex(kOfAbc), Digest::Of("abc"));
  EXPECT_FALSE(Digest::FromHex("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD").ok());
  for (size_t i = 0; i < 64; ++i) {
    std::string one = kOfAbc;
    if (one[i] >= 'a') one[i] = static_cast<char>(one[i] - 'a' + 'A');
    EXPECT_EQ(Digest::FromHex(one).ok(), one == kOfAbc) << one;
  }
}

TEST(Digest, HexOfWrongLengthOrAlphabetIsInvalid) {
  EXPECT_TRUE(absl::IsInvalidArgument(Digest::FromHex("").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Digest::FromHex(std::string(kOfAbc) + "00").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Digest::FromHex(std::string(kOfAbc).substr(1)).status()));
  std::string bad = kOfAbc;
  bad[10] = 'g';
  EXPECT_TRUE(absl::IsInvalidArgument(Digest::FromHex(bad).status()));
}

TEST(Digest, BytesRoundTrip) {
  const Digest digest = Digest::Of("abc");
  EXPECT_EQ(*Digest::FromBytes(digest.bytes()), digest);
  EXPECT_TRUE(absl::IsInvalidArgument(Digest::FromBytes("short").status()));
}

TEST(Digest, OrdersByItsBytes) {
  const Digest low = *Digest::FromHex(std::string(63, '0') + "1");
  const Digest high = *Digest::FromHex("8" + std::string(63, '0'));
  EXPECT_LT(Digest(), low);
  EXPECT_LT(low, high);
  EXPECT_FALSE(high < low);
  EXPECT_NE(low, high);
}

TEST(Digest, HashesConsistentlyWithEquality) {
  const absl::flat_hash_set<Digest> set = {Digest::Of("a"), Digest::Of("a"), Digest::Of("b")};
  EXPECT_EQ(set.size(), 2u);
}

TEST(Digest, PrintsAsHex) {
  std::ostringstream out;
  out << Digest::Of("abc");
  EXPECT_EQ(out.str(), kOfAbc);
}

TEST(DigestHasher, PiecesHashLikeTheWhole) {
  DigestHasher hasher;
  hasher.Update("a");
  hasher.Update("");
  hasher.Update("bc");
  EXPECT_EQ(hasher.Finish(), Digest::Of("abc"));
}

TEST(DigestHasher, StartsAnewAfterFinish) {
  DigestHasher hasher;
  hasher.Update("something else");
  hasher.Finish();
  hasher.Update("abc");
  EXPECT_EQ(hasher.Finish(), Digest::Of("abc"));
  EXPECT_EQ(hasher.Finish(), Digest::Of(""));
}

}  // namespace
}  // namespace tritond::cache
