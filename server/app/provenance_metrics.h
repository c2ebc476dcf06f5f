// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_PROVENANCE_METRICS_H_
#define SERVER_APP_PROVENANCE_METRICS_H_

#include <prometheus/metric_family.h>

#include "server/provenance/notary.h"

namespace tritond::server {

// tritond_records_refused_total{origin,reason}, with every pair of labels from the start, so that the first refusal is
// an increase.
prometheus::MetricFamily RefusedRecords(const Notary& notary);

}  // namespace tritond::server

#endif  // SERVER_APP_PROVENANCE_METRICS_H_
