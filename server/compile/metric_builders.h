// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_COMPILE_METRIC_BUILDERS_H_
#define SERVER_COMPILE_METRIC_BUILDERS_H_

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <string>

namespace tritond::server {

// A counter or gauge of the registry, which owns it.
inline prometheus::Counter& MakeCounter(prometheus::Registry& registry, const std::string& name,
                                        const std::string& help, const prometheus::Labels& labels = {}) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add(labels);
}

inline prometheus::Gauge& MakeGauge(prometheus::Registry& registry, const std::string& name, const std::string& help,
                                    const prometheus::Labels& labels = {}) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add(labels);
}

}  // namespace tritond::server

#endif  // SERVER_COMPILE_METRIC_BUILDERS_H_
