// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_LIVE_METRICS_H_
#define SERVER_APP_LIVE_METRICS_H_

#include <prometheus/metric_family.h>

#include <vector>

#include "server/web/page_access.h"
#include "server/web/status_view.h"

namespace tritond::server {

// What the daemon's state says to Prometheus at the moment of a scrape: readiness, workers, tenants, stores. Made anew
// each time, so that what is gone is gone. No more than kMaxSeries workers, targets and tenants are named (the tenant
// "" always is); further tenants count as "other", further workers only by state.
std::vector<prometheus::MetricFamily> LiveMetrics(const StatusView& view);
inline constexpr size_t kMaxSeries = 200;

// Takes out the series of tenants that the caller may not see, whatever metric they belong to.
void HideTenants(const PageAccess& access, std::vector<prometheus::MetricFamily>* families);

// No label writes to a terminal or ends a line of the page: what is not plain text in a value is escaped.
void EscapeLabels(std::vector<prometheus::MetricFamily>* families);

}  // namespace tritond::server

#endif  // SERVER_APP_LIVE_METRICS_H_
