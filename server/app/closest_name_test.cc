// SPDX-License-Identifier: Apache-2.0
#include "server/app/closest_name.h"

#include <gtest/gtest.h>

namespace tritond::server {
namespace {

const std::vector<std::string>& Names() {
  static const auto* const names =
      new std::vector<std::string>{"workers", "max_queued", "max_queued_mb", "tls_key", "tls_certificate", "http"};
  return *names;
}

TEST(ClosestName, FindsWhatWasMeant) {
  EXPECT_EQ(ClosestName("wokers", Names()), "workers");
  EXPECT_EQ(ClosestName("worker", Names()), "workers");
  EXPECT_EQ(ClosestName("workres", Names()), "workers");
  EXPECT_EQ(ClosestName("max-queued-mb", Names()), "max_queued_mb");
  EXPECT_EQ(ClosestName("max_queud", Names()), "max_queued");
  EXPECT_EQ(ClosestName("tls_cert", Names()), "tls_certificate");
}

TEST(ClosestName, FindsNothingWhereNothingIsNear) {
  for (const char* word : {"", "x", "memory", "cluster_user", "tl"}) EXPECT_EQ(ClosestName(word, Names()), "") << word;
  EXPECT_EQ(ClosestName(std::string(1000000, 'w'), Names()), "");
  EXPECT_EQ(ClosestName("workers", {}), "");
}

}  // namespace
}  // namespace tritond::server
