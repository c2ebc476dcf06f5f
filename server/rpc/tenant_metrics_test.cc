// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/tenant_metrics.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

TEST(TenantMetrics, ATenantHasOneMeterForEver) {
  prometheus::Registry registry;
  TenantMetrics metrics(registry);
  const TenantMeter& blue = metrics.Of("blue");
  EXPECT_NE(&blue, &metrics.Of("red"));
  EXPECT_NE(&blue, &metrics.Of(""));
  EXPECT_EQ(&blue, &metrics.Of("blue"));
  blue.hit->Increment();
  EXPECT_EQ(metrics.Of("blue").hit->Value(), 1);
  EXPECT_EQ(metrics.Of("red").hit->Value(), 0);
}

TEST(TenantMetrics, TheRestCountTogether) {
  prometheus::Registry registry;
  TenantMetrics metrics(registry);
  std::set<const TenantMeter*> meters;
  for (size_t i = 0; i < 3 * TenantMetrics::kMaxTenants; ++i) meters.insert(&metrics.Of(absl::StrCat("t", i)));
  EXPECT_EQ(meters.size(), TenantMetrics::kMaxTenants);  // With "", and "other".
  EXPECT_EQ(&metrics.Of("t299"), &metrics.Of("t298"));
  EXPECT_NE(&metrics.Of("t0"), &metrics.Of("t299"));
}

TEST(TenantMetrics, CallersAtOnceGetTheSame) {
  prometheus::Registry registry;
  TenantMetrics metrics(registry);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) metrics.Of(absl::StrCat("t", i)).hit->Increment();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 90; ++i) EXPECT_EQ(metrics.Of(absl::StrCat("t", i)).hit->Value(), 4);
}

}  // namespace
}  // namespace tritond::server
