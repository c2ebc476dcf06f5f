// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/services.h"

#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {

grpc::ServerUnaryReactor* CompileServiceImpl::Describe(grpc::CallbackServerContext* context,
                                                       const v1::DescribeRequest* request,
                                                       v1::DescribeResponse* response) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::Describe(engine_, context, response);
}

grpc::ServerUnaryReactor* CompileServiceImpl::Compile(grpc::CallbackServerContext* context,
                                                      const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kPrebuild);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::Compile(engine_, *caller, context, request, response);
}

grpc::ServerUnaryReactor* CompileServiceImpl::Lookup(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::Lookup(engine_, *caller, context, request, response);
}

grpc::ServerWriteReactor<v1::CompileBatchResponse>* CompileServiceImpl::CompileBatch(
    grpc::CallbackServerContext* context, const v1::CompileBatchRequest* request) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kPrebuild);
  if (!caller.ok()) return new FailedWriter<v1::CompileBatchResponse>(caller.status());
  return server::CompileBatch(engine_, *caller, context, request);
}

grpc::ServerUnaryReactor* CompileServiceImpl::Submit(grpc::CallbackServerContext* context,
                                                     const v1::SubmitRequest* request, v1::Job* response) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kPrebuild);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::Submit(engine_, jobs_, *caller, context, request, response);
}

grpc::ServerWriteReactor<v1::Job>* CompileServiceImpl::Watch(grpc::CallbackServerContext* context,
                                                             const v1::WatchRequest* request) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kRead);
  if (!caller.ok()) return new FailedWriter<v1::Job>(caller.status());
  return server::Watch(jobs_, *caller, context, request);
}

grpc::ServerUnaryReactor* CompileServiceImpl::GetJob(grpc::CallbackServerContext* context,
                                                     const v1::GetJobRequest* request, v1::Job* response) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::GetJob(jobs_, *caller, context, request, response);
}

grpc::ServerUnaryReactor* CompileServiceImpl::ListJobs(grpc::CallbackServerContext* context,
                                                       const v1::ListJobsRequest* request,
                                                       v1::ListJobsResponse* response) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::ListJobs(jobs_, *caller, context, request, response);
}

grpc::ServerUnaryReactor* CompileServiceImpl::Cancel(grpc::CallbackServerContext* context,
                                                     const v1::CancelRequest* request, v1::Job* response) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kPrebuild);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::Cancel(jobs_, *caller, context, request, response);
}

grpc::ServerUnaryReactor* ArtifactServiceImpl::FindMissing(grpc::CallbackServerContext* context,
                                                           const v1::FindMissingRequest* request,
                                                           v1::FindMissingResponse* response) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::FindMissing(engine_, context, request, response);
}

grpc::ServerWriteReactor<v1::FetchResponse>* ArtifactServiceImpl::Fetch(grpc::CallbackServerContext* context,
                                                                        const v1::FetchRequest* request) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kRead);
  if (!caller.ok()) return new FailedWriter<v1::FetchResponse>(caller.status());
  return server::Fetch(engine_, context, request);
}

grpc::ServerWriteReactor<v1::BundleChunk>* ArtifactServiceImpl::Export(grpc::CallbackServerContext* context,
                                                                       const v1::ExportRequest* request) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kPrebuild);
  if (!caller.ok()) return new FailedWriter<v1::BundleChunk>(caller.status());
  if (request->keys().empty() && !TenantOf(*caller).empty()) {
    return new FailedWriter<v1::BundleChunk>(WithReason(
        absl::PermissionDeniedError("everything is everybody's: a caller of one tenant names the keys to export"),
        "PERMISSION_DENIED"));
  }
  return server::Export(engine_, transfers_, context, request);
}

grpc::ServerReadReactor<v1::BundleChunk>* ArtifactServiceImpl::Import(grpc::CallbackServerContext* context,
                                                                      v1::ImportResponse* response) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kAdmin);
  if (!caller.ok()) return new FailedReader<v1::BundleChunk>(caller.status());
  return server::Import(engine_, transfers_, context, response);
}

grpc::ServerWriteReactor<v1::AutotuneResponse>* AutotuneServiceImpl::Autotune(grpc::CallbackServerContext* context,
                                                                              const v1::AutotuneRequest* request) {
  return new FailedWriter<v1::AutotuneResponse>(NotOffered("Autotune"));
}

grpc::ServerUnaryReactor* AutotuneServiceImpl::GetTuning(grpc::CallbackServerContext* context,
                                                         const v1::GetTuningRequest* request, v1::Tuning* response) {
  return FinishNow(context, NotOffered("GetTuning"));
}

grpc::ServerUnaryReactor* AdminServiceImpl::ListWorkers(grpc::CallbackServerContext* context,
                                                        const v1::ListWorkersRequest* request,
                                                        v1::ListWorkersResponse* response) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::ListWorkers(engine_, *caller, context, response);
}

grpc::ServerUnaryReactor* AdminServiceImpl::GetStats(grpc::CallbackServerContext* context,
                                                     const v1::GetStatsRequest* request,
                                                     v1::GetStatsResponse* response) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::GetStats(engine_, jobs_, *caller, context, request, response);
}

grpc::ServerUnaryReactor* AdminServiceImpl::Drain(grpc::CallbackServerContext* context, const v1::DrainRequest* request,
                                                  v1::DrainResponse* response) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kAdmin);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::Drain(engine_, context, request, response);
}

grpc::ServerUnaryReactor* AdminServiceImpl::Evict(grpc::CallbackServerContext* context, const v1::EvictRequest* request,
                                                  v1::EvictResponse* response) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kAdmin);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::Evict(engine_, context, request, response);
}

grpc::ServerUnaryReactor* AdminServiceImpl::ListQuarantine(grpc::CallbackServerContext* context,
                                                           const v1::ListQuarantineRequest* request,
                                                           v1::ListQuarantineResponse* response) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::ListQuarantine(engine_, *caller, context, response);
}

grpc::ServerUnaryReactor* AdminServiceImpl::Quarantine(grpc::CallbackServerContext* context,
                                                       const v1::QuarantineRequest* request,
                                                       v1::QuarantineResponse* response) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kAdmin);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::Quarantine(engine_, context, request);
}

grpc::ServerUnaryReactor* AdminServiceImpl::Release(grpc::CallbackServerContext* context,
                                                    const v1::ReleaseRequest* request, v1::ReleaseResponse* response) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kAdmin);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::Release(engine_, context, request);
}

grpc::ServerUnaryReactor* AdminServiceImpl::Explain(grpc::CallbackServerContext* context,
                                                    const v1::ExplainRequest* request, v1::ExplainResponse* response) {
  absl::StatusOr<Caller> caller = gate_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::Explain(engine_, context, request, response);
}

}  // namespace tritond::server
