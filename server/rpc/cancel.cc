// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/authorizer.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {

grpc::ServerUnaryReactor* Cancel(const JobDesk& jobs, const Caller& caller, grpc::CallbackServerContext* context,
                                 const v1::CancelRequest* request, v1::Job* response) {
  absl::StatusOr<v1::Job> found = FindJob(jobs.store, caller, request->id());
  if (!found.ok()) return FinishNow(context, found.status());
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  jobs.tasks.Run([&store = jobs.store, id = request->id(), reactor, response] {
    absl::StatusOr<v1::Job> job = store.Cancel(id);
    if (job.ok()) *response = *std::move(job);
    reactor->Finish(ToGrpc(job.status()));
  });
  return reactor;
}

}  // namespace tritond::server
