// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/authorizer.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {

grpc::ServerUnaryReactor* GetJob(const JobDesk& jobs, const Caller& caller, grpc::CallbackServerContext* context,
                                 const v1::GetJobRequest* request, v1::Job* response) {
  absl::StatusOr<v1::Job> job = FindJob(jobs.store, caller, request->id());
  if (job.ok()) *response = *std::move(job);
  return FinishNow(context, job.status());
}

}  // namespace tritond::server
