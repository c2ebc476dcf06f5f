// SPDX-License-Identifier: Apache-2.0
#include "server/compile/tenant_metrics.h"

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

TEST(TenantMetrics, RefusedCallersAddNoSeries) {
  prometheus::Registry registry;
  TenantMetrics metrics(registry);
  const TenantMeter& blue = metrics.Of("blue");
  EXPECT_EQ(&metrics.OfRefused("blue"), &blue);
  EXPECT_EQ(&metrics.OfRefused("red"), &metrics.Of("other"));
  metrics.OfRefused("red").failed->Increment();
  for (const prometheus::MetricFamily& family : registry.Collect()) {
    for (const prometheus::ClientMetric& metric : family.metric) {
      for (const auto& label : metric.label) EXPECT_NE(label.value, "red");
    }
  }
}

TEST(TenantMetrics, AnInvalidNameOfATenantCountsAsOther) {
  prometheus::Registry registry;
  TenantMetrics metrics(registry);
  for (const std::string& tenant : {std::string("a\nb"), std::string("\x1b[2J"), std::string("\xff"),
                                    std::string("a\0b", 3), std::string("\xc2\x9b"), std::string(129, 'x')})
    EXPECT_EQ(&metrics.Of(tenant), &metrics.Of("other")) << tenant;
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
