// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/services.h"

#include <google/protobuf/descriptor.h>

#include <climits>

#include "server/rpc/bounded_method.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {
namespace {

// A key, an id, a page: what most requests are made of.
constexpr WireLimits kSmall{4 << 10, 64};
// Lists of keys or digests.
constexpr WireLimits kList{16 << 20, 1 << 18};
// A tuning with its key: 1024 configurations.
constexpr WireLimits kTuning{1 << 20, 1 << 14};
// A kernel with its options; its size is bounded by the field (--max-ir-bytes), whose error names it.
constexpr WireLimits kKernel{INT_MAX, 1 << 14};
constexpr WireLimits kKernels{INT_MAX, 1 << 19};

// The place of a method in its service, as generated code counts them.
int IndexOf(const char* service, const char* method) {
  return google::protobuf::DescriptorPool::generated_pool()
      ->FindServiceByName(service)
      ->FindMethodByName(method)
      ->index();
}

// The handler of a method of `service`, a member of Service.
template <typename Service, typename Request, typename Response>
grpc::internal::MethodHandler* Bounded(Service* service, const WireLimits& limits,
                                       grpc::ServerUnaryReactor* (Service::*method)(grpc::CallbackServerContext*,
                                                                                    const Request*, Response*)) {
  return new BoundedMethod<UnaryMethod<Request, Response>>(
      limits, [service, method](grpc::CallbackServerContext* context, const Request* request, Response* response) {
        return (service->*method)(context, request, response);
      });
}
template <typename Service, typename Request, typename Response>
grpc::internal::MethodHandler* Bounded(
    Service* service, const WireLimits& limits,
    grpc::ServerWriteReactor<Response>* (Service::*method)(grpc::CallbackServerContext*, const Request*)) {
  return new BoundedMethod<StreamMethod<Request, Response>>(
      limits, [service, method](grpc::CallbackServerContext* context, const Request* request) {
        return (service->*method)(context, request);
      });
}

}  // namespace

// Compile and Lookup measure their own.
CompileServiceImpl::CompileServiceImpl(CompileBroker& broker, const JobDesk& jobs, const Authorizer& authorizer)
    : broker_(broker), jobs_(jobs), authorizer_(authorizer) {
  const auto bound = [this](const char* name, const WireLimits& limits, auto method) {
    MarkMethodCallback(IndexOf("tritond.v1.CompileService", name), Bounded(this, limits, method));
  };
  bound("Describe", kSmall, &CompileServiceImpl::Describe);
  bound("CompileBatch", kKernels, &CompileServiceImpl::CompileBatch);
  bound("Submit", kKernel, &CompileServiceImpl::Submit);
  bound("Watch", kSmall, &CompileServiceImpl::Watch);
  bound("GetJob", kSmall, &CompileServiceImpl::GetJob);
  bound("ListJobs", kSmall, &CompileServiceImpl::ListJobs);
  bound("Cancel", kSmall, &CompileServiceImpl::Cancel);
}

ArtifactServiceImpl::ArtifactServiceImpl(CompileBroker& broker, const Authorizer& authorizer)
    : broker_(broker), authorizer_(authorizer) {
  const auto bound = [this](const char* name, const WireLimits& limits, auto method) {
    MarkMethodCallback(IndexOf("tritond.v1.ArtifactService", name), Bounded(this, limits, method));
  };
  bound("FindKeys", kSmall, &ArtifactServiceImpl::FindKeys);
  bound("FindMissing", kList, &ArtifactServiceImpl::FindMissing);
  bound("Fetch", kSmall, &ArtifactServiceImpl::Fetch);
  bound("Export", kList, &ArtifactServiceImpl::Export);
}

AutotuneServiceImpl::AutotuneServiceImpl(CompileBroker& broker, TuningDesk& tunings, ProgramTuningDesk& program_tunings,
                                         const Authorizer& authorizer)
    : broker_(broker), tunings_(tunings), program_tunings_(program_tunings), authorizer_(authorizer) {
  const auto bound = [this](const char* name, const WireLimits& limits, auto method) {
    MarkMethodCallback(IndexOf("tritond.v1.AutotuneService", name), Bounded(this, limits, method));
  };
  bound("Autotune", kKernels, &AutotuneServiceImpl::Autotune);
  bound("GetTuning", kSmall, &AutotuneServiceImpl::GetTuning);
  bound("AcquireProgramTuning", kTuning, &AutotuneServiceImpl::AcquireProgramTuning);
  bound("RenewProgramTuning", kSmall, &AutotuneServiceImpl::RenewProgramTuning);
  bound("StoreProgramTuning", kTuning, &AutotuneServiceImpl::StoreProgramTuning);
  bound("AbandonProgramTuning", kSmall, &AutotuneServiceImpl::AbandonProgramTuning);
}

AdminServiceImpl::AdminServiceImpl(CompileBroker& broker, const JobDesk& jobs, const TuningParts& tunings,
                                   const Authorizer& authorizer)
    : broker_(broker), jobs_(jobs), program_tunings_(tunings), authorizer_(authorizer) {
  const auto bound = [this](const char* name, const WireLimits& limits, auto method) {
    MarkMethodCallback(IndexOf("tritond.v1.AdminService", name), Bounded(this, limits, method));
  };
  bound("ListWorkers", kSmall, &AdminServiceImpl::ListWorkers);
  bound("GetStats", kSmall, &AdminServiceImpl::GetStats);
  bound("Drain", kSmall, &AdminServiceImpl::Drain);
  bound("Evict", kList, &AdminServiceImpl::Evict);
  bound("ListQuarantine", kSmall, &AdminServiceImpl::ListQuarantine);
  bound("Quarantine", {64 << 10, 64}, &AdminServiceImpl::Quarantine);  // with a reason
  bound("Release", kSmall, &AdminServiceImpl::Release);
  bound("Explain", kSmall, &AdminServiceImpl::Explain);
}

grpc::ServerUnaryReactor* CompileServiceImpl::Describe(grpc::CallbackServerContext* context,
                                                       const v1::DescribeRequest* request,
                                                       v1::DescribeResponse* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::Describe(broker_, context, response);
}

grpc::ServerUnaryReactor* CompileServiceImpl::Compile(grpc::CallbackServerContext* context,
                                                      const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kPrebuild);
  if (!caller.ok()) return FinishNow(context, caller.status());
  // gRPC tells of a call that was reset before its message had come as of one without a message.
  if (request->Length() == 0) authorizer_.NoteReset(*context);
  // What is this small cannot become much.
  if (request->Length() > kSmall.bytes) {
    const absl::Status fits = CheckWire(*request, *v1::CompileRequest::descriptor(), kKernel);
    if (!fits.ok()) {
      broker_.metrics().Refuse(Reason::kBadRequest, TenantOf(*caller));
      return FinishNow(context, fits);
    }
  }
  return server::Compile(broker_, authorizer_, *caller, context, request, response);
}

grpc::ServerUnaryReactor* CompileServiceImpl::Lookup(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  const absl::Status fits = CheckWire(*request, *v1::LookupRequest::descriptor(), kSmall);
  if (!fits.ok()) return FinishNow(context, fits);
  return server::Lookup(broker_, *caller, context, request, response);
}

grpc::ServerWriteReactor<v1::CompileBatchResponse>* CompileServiceImpl::CompileBatch(
    grpc::CallbackServerContext* context, const v1::CompileBatchRequest* request) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kPrebuild);
  if (!caller.ok()) return new FailedWriter<v1::CompileBatchResponse>(caller.status());
  return server::CompileBatch(broker_, *caller, context, request);
}

grpc::ServerUnaryReactor* CompileServiceImpl::Submit(grpc::CallbackServerContext* context,
                                                     const v1::SubmitRequest* request, v1::Job* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kPrebuild);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::Submit(broker_, jobs_, *caller, context, request, response);
}

grpc::ServerWriteReactor<v1::Job>* CompileServiceImpl::Watch(grpc::CallbackServerContext* context,
                                                             const v1::WatchRequest* request) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kRead);
  if (!caller.ok()) return new FailedWriter<v1::Job>(caller.status());
  return server::Watch(jobs_, *caller, context, request);
}

grpc::ServerUnaryReactor* CompileServiceImpl::GetJob(grpc::CallbackServerContext* context,
                                                     const v1::GetJobRequest* request, v1::Job* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::GetJob(jobs_, *caller, context, request, response);
}

grpc::ServerUnaryReactor* CompileServiceImpl::ListJobs(grpc::CallbackServerContext* context,
                                                       const v1::ListJobsRequest* request,
                                                       v1::ListJobsResponse* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::ListJobs(jobs_, *caller, context, request, response);
}

grpc::ServerUnaryReactor* CompileServiceImpl::Cancel(grpc::CallbackServerContext* context,
                                                     const v1::CancelRequest* request, v1::Job* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kPrebuild);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::Cancel(jobs_, *caller, context, request, response);
}

grpc::ServerUnaryReactor* ArtifactServiceImpl::FindKeys(grpc::CallbackServerContext* context,
                                                        const v1::FindKeysRequest* request,
                                                        v1::FindKeysResponse* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  if (!TenantOf(*caller).empty())
    return FinishNow(
        context,
        WithReason(absl::PermissionDeniedError("keys are everybody's: a caller of one tenant names whole keys"),
                   Reason::kPermissionDenied));
  return server::FindKeys(broker_, context, request, response);
}

grpc::ServerUnaryReactor* ArtifactServiceImpl::FindMissing(grpc::CallbackServerContext* context,
                                                           const v1::FindMissingRequest* request,
                                                           v1::FindMissingResponse* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::FindMissing(broker_, context, request, response);
}

grpc::ServerWriteReactor<v1::FetchResponse>* ArtifactServiceImpl::Fetch(grpc::CallbackServerContext* context,
                                                                        const v1::FetchRequest* request) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kRead);
  if (!caller.ok()) return new FailedWriter<v1::FetchResponse>(caller.status());
  return server::Fetch(broker_, context, request);
}

grpc::ServerWriteReactor<v1::BundleChunk>* ArtifactServiceImpl::Export(grpc::CallbackServerContext* context,
                                                                       const v1::ExportRequest* request) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kPrebuild);
  if (!caller.ok()) return new FailedWriter<v1::BundleChunk>(caller.status());
  if (request->keys().empty() && !TenantOf(*caller).empty()) {
    return new FailedWriter<v1::BundleChunk>(WithReason(
        absl::PermissionDeniedError("everything is everybody's: a caller of one tenant names the keys to export"),
        Reason::kPermissionDenied));
  }
  return server::Export(broker_, transfers_, context, request);
}

grpc::ServerReadReactor<v1::BundleChunk>* ArtifactServiceImpl::Import(grpc::CallbackServerContext* context,
                                                                      v1::ImportResponse* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kAdmin);
  if (!caller.ok()) return new FailedReader<v1::BundleChunk>(caller.status());
  return server::Import(broker_, transfers_, context, response);
}

grpc::ServerWriteReactor<v1::AutotuneResponse>* AutotuneServiceImpl::Autotune(grpc::CallbackServerContext* context,
                                                                              const v1::AutotuneRequest* request) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kCompile);  // Its kernels run.
  if (!caller.ok()) return new FailedWriter<v1::AutotuneResponse>(caller.status());
  return server::Autotune(tunings_, *caller, callers_, context, request);
}

grpc::ServerUnaryReactor* AutotuneServiceImpl::GetTuning(grpc::CallbackServerContext* context,
                                                         const v1::GetTuningRequest* request, v1::Tuning* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::GetTuning(tunings_, context, request, response);
}

grpc::ServerUnaryReactor* AutotuneServiceImpl::AcquireProgramTuning(grpc::CallbackServerContext* context,
                                                                    const v1::AcquireProgramTuningRequest* request,
                                                                    v1::AcquireProgramTuningResponse* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::AcquireProgramTuning(broker_, program_tunings_, *caller, context, request, response);
}

grpc::ServerUnaryReactor* AutotuneServiceImpl::RenewProgramTuning(grpc::CallbackServerContext* context,
                                                                  const v1::RenewProgramTuningRequest* request,
                                                                  v1::RenewProgramTuningResponse* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kCompile);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::RenewProgramTuning(program_tunings_, context, request, response);
}

grpc::ServerUnaryReactor* AutotuneServiceImpl::StoreProgramTuning(grpc::CallbackServerContext* context,
                                                                  const v1::StoreProgramTuningRequest* request,
                                                                  v1::StoreProgramTuningResponse* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kCompile);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::StoreProgramTuning(broker_, program_tunings_, *caller, context, request);
}

grpc::ServerUnaryReactor* AutotuneServiceImpl::AbandonProgramTuning(grpc::CallbackServerContext* context,
                                                                    const v1::AbandonProgramTuningRequest* request,
                                                                    v1::AbandonProgramTuningResponse* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kCompile);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::AbandonProgramTuning(program_tunings_, context, request);
}

grpc::ServerUnaryReactor* AdminServiceImpl::ListWorkers(grpc::CallbackServerContext* context,
                                                        const v1::ListWorkersRequest* request,
                                                        v1::ListWorkersResponse* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::ListWorkers(broker_, *caller, context, response);
}

grpc::ServerUnaryReactor* AdminServiceImpl::GetStats(grpc::CallbackServerContext* context,
                                                     const v1::GetStatsRequest* request,
                                                     v1::GetStatsResponse* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::GetStats(broker_, jobs_, program_tunings_, *caller, context, request, response);
}

grpc::ServerUnaryReactor* AdminServiceImpl::Drain(grpc::CallbackServerContext* context, const v1::DrainRequest* request,
                                                  v1::DrainResponse* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kAdmin);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::Drain(broker_, context, request, response);
}

grpc::ServerUnaryReactor* AdminServiceImpl::Evict(grpc::CallbackServerContext* context, const v1::EvictRequest* request,
                                                  v1::EvictResponse* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kAdmin);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::Evict(broker_, program_tunings_.store, context, request, response);
}

grpc::ServerUnaryReactor* AdminServiceImpl::ListQuarantine(grpc::CallbackServerContext* context,
                                                           const v1::ListQuarantineRequest* request,
                                                           v1::ListQuarantineResponse* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::ListQuarantine(broker_, *caller, context, response);
}

grpc::ServerUnaryReactor* AdminServiceImpl::Quarantine(grpc::CallbackServerContext* context,
                                                       const v1::QuarantineRequest* request,
                                                       v1::QuarantineResponse* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kAdmin);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::Quarantine(broker_, context, request);
}

grpc::ServerUnaryReactor* AdminServiceImpl::Release(grpc::CallbackServerContext* context,
                                                    const v1::ReleaseRequest* request, v1::ReleaseResponse* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kAdmin);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::Release(broker_, context, request);
}

grpc::ServerUnaryReactor* AdminServiceImpl::Explain(grpc::CallbackServerContext* context,
                                                    const v1::ExplainRequest* request, v1::ExplainResponse* response) {
  absl::StatusOr<Caller> caller = authorizer_.Check(*context, Need::kRead);
  if (!caller.ok()) return FinishNow(context, caller.status());
  return server::Explain(broker_, *caller, context, request, response);
}

}  // namespace tritond::server
