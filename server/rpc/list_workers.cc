// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {

grpc::ServerUnaryReactor* ListWorkers(CompileBroker& broker, const Caller& caller, grpc::CallbackServerContext* context,
                                      v1::ListWorkersResponse* response) {
  const Scheduler::Stats stats = broker.scheduler().GetStats();
  for (v1::Worker& worker : broker.pool().List()) {
    v1::Worker& out = *response->add_workers();
    out = std::move(worker);
    broker.devices().Describe(&out);
    auto running = stats.running.find(out.id());
    if (running != stats.running.end()) {
      for (const OpenJob& job : running->second) {
        if (Sees(caller, job.tenant)) out.add_running(job.key);
      }
    }
    // The last lines of a worker that died may quote a kernel of any tenant.
    if (!TenantOf(caller).empty()) out.clear_last_death();
    auto done = stats.done.find(out.id());
    if (done != stats.done.end()) out.set_jobs_done(done->second);
  }
  return FinishNow(context, absl::OkStatus());
}

}  // namespace tritond::server
