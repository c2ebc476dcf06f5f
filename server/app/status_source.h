// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_STATUS_SOURCE_H_
#define SERVER_APP_STATUS_SOURCE_H_

#include <prometheus/registry.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cache/open/open_cache.h"
#include "server/app/tls_watch.h"
#include "server/compile/compile_broker.h"
#include "server/compile/job_texts.h"
#include "server/jobs/job_store.h"
#include "server/tunings/tuning_desk.h"
#include "server/web/status_api.h"
#include "server/web/status_view.h"

namespace tritond::server {

// Asks the daemon's parts for what the status page shows. Thread-safe. Owns none of them.
class StatusSource final {
 public:
  struct Parts {
    CompileBroker& broker;
    const JobStore& jobs;
    const cache::OpenedCache& cache;
    const prometheus::Registry& registry;  // where the caches count
    const JobTexts& texts;
    const TuningDesk& tunings;
    const TlsWatch* tls;  // null: TCP is plain
    std::function<std::string()> not_ready, degraded;
    std::vector<std::string> addresses;  // where the RPCs are served
  };
  explicit StatusSource(Parts parts) : parts_(std::move(parts)) {}

  StatusView Status() const;
  std::optional<JobView> Job(const std::string& id) const;

 private:
  Parts parts_;
};

}  // namespace tritond::server

#endif  // SERVER_APP_STATUS_SOURCE_H_
