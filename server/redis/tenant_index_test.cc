// SPDX-License-Identifier: Apache-2.0
#include "server/redis/tenant_index.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

cache::Digest Key(const std::string& tenant, int i) { return cache::Digest::Of(absl::StrCat(tenant, "/", i)); }

void Add(TenantIndex& index, const std::string& tenant, int values, uint64_t size_bytes = 100) {
  for (int i = 0; i < values; ++i)
    index.Add(tenant, {Key(tenant, i), 0, {{Key(tenant, i), size_bytes}}, static_cast<double>(size_bytes)});
}

int There(const TenantIndex& index, const std::string& tenant) {
  int count = 0;
  for (int i = 0; i < 1000; ++i) count += index.Has(Key(tenant, i));
  return count;
}

TEST(TenantIndex, WithoutLimitsNothingGoes) {
  TenantIndex index({});
  Add(index, "a", 100);
  EXPECT_TRUE(index.Shrink().empty());
  EXPECT_EQ(index.size(), 100u);
  EXPECT_EQ(index.size_bytes(), 10000u);
}

TEST(TenantIndex, EachTenantHasItsOwnLimit) {
  TenantIndex index({0, 2000});
  Add(index, "a", 100);
  Add(index, "b", 10);
  EXPECT_EQ(index.Shrink().size(), 80u);
  EXPECT_EQ(There(index, "a"), 20);
  EXPECT_EQ(There(index, "b"), 10);
}

TEST(TenantIndex, TheLargestTenantsGiveUntilAllFit) {
  TenantIndex index({6000, 0});
  Add(index, "large", 100);
  Add(index, "also large", 60);
  Add(index, "small", 10);
  index.Shrink();
  EXPECT_EQ(There(index, "small"), 10);
  EXPECT_EQ(There(index, "large"), 25);
  EXPECT_EQ(There(index, "also large"), 25);
  EXPECT_EQ(index.size_bytes(), 6000u);
}

TEST(TenantIndex, BothLimitsHold) {
  TenantIndex index({6000, 2000});
  Add(index, "large", 100);
  Add(index, "also large", 60);
  index.Shrink();
  EXPECT_EQ(index.size_bytes(), 4000u);
}

TEST(TenantIndex, RemovedValuesCountNoMore) {
  TenantIndex index({0, 1000});
  Add(index, "a", 10);
  index.Remove(Key("a", 3));
  index.Remove(Key("a", 3));
  EXPECT_FALSE(index.Has(Key("a", 3)));
  EXPECT_EQ(index.size_bytes(), 900u);
  index.Touch(Key("a", 3));
  EXPECT_EQ(index.size(), 9u);
}

}  // namespace
}  // namespace tritond::server
