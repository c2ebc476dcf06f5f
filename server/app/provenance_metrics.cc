// SPDX-License-Identifier: Apache-2.0
#include "server/app/provenance_metrics.h"

namespace tritond::server {

prometheus::MetricFamily RefusedRecords(const Notary& notary) {
  prometheus::MetricFamily family;
  family.name = "tritond_records_refused_total";
  family.help =
      "Records without a valid signature of a trusted daemon, by origin and reason. The kernel is compiled again, or "
      "the "
      "bundle is refused.";
  family.type = prometheus::MetricType::Counter;
  for (int origin = 0; origin < kOrigins; ++origin) {
    for (int refusal = 0; refusal < kRefusals; ++refusal) {
      const auto from = static_cast<Origin>(origin);
      const auto why = static_cast<Refusal>(refusal);
      prometheus::ClientMetric& metric = family.metric.emplace_back();
      metric.label = {{"origin", OriginName(from)}, {"reason", RefusalName(why)}};
      metric.counter.value = static_cast<double>(notary.refused(from, why));
    }
  }
  return family;
}

}  // namespace tritond::server
