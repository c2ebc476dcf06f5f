// SPDX-License-Identifier: Apache-2.0
// The gRPC services: one override a method, which asks who the caller is and calls the function in the file of its
// name. Requests are measured before they are parsed, each by its method's limits (services.cc).
#ifndef SERVER_RPC_SERVICES_H_
#define SERVER_RPC_SERVICES_H_

#include <grpcpp/grpcpp.h>

#include "proto/v1/admin.grpc.pb.h"
#include "proto/v1/artifact.grpc.pb.h"
#include "proto/v1/autotune.grpc.pb.h"
#include "proto/v1/compile.grpc.pb.h"
#include "server/compile/compile_broker.h"
#include "server/rpc/authorizer.h"
#include "server/rpc/rpcs.h"
#include "server/rpc/stream_slots.h"
#include "server/tunings/tuning_desk.h"

namespace tritond::server {

// Compile and Lookup see serialized messages.
using RawCompileService =
    v1::CompileService::WithCallbackMethod_Describe<v1::CompileService::WithRawCallbackMethod_Compile<
        v1::CompileService::WithRawCallbackMethod_Lookup<v1::CompileService::WithCallbackMethod_CompileBatch<
            v1::CompileService::WithCallbackMethod_Submit<v1::CompileService::WithCallbackMethod_Watch<
                v1::CompileService::WithCallbackMethod_GetJob<v1::CompileService::WithCallbackMethod_ListJobs<
                    v1::CompileService::WithCallbackMethod_Cancel<v1::CompileService::Service>>>>>>>>>;

class CompileServiceImpl final : public RawCompileService {
 public:
  CompileServiceImpl(CompileBroker& broker, const JobDesk& jobs, const Authorizer& authorizer);

  grpc::ServerUnaryReactor* Describe(grpc::CallbackServerContext* context, const v1::DescribeRequest* request,
                                     v1::DescribeResponse* response) override;
  grpc::ServerUnaryReactor* Compile(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* Lookup(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<v1::CompileBatchResponse>* CompileBatch(grpc::CallbackServerContext* context,
                                                                   const v1::CompileBatchRequest* request) override;
  grpc::ServerUnaryReactor* Submit(grpc::CallbackServerContext* context, const v1::SubmitRequest* request,
                                   v1::Job* response) override;
  grpc::ServerWriteReactor<v1::Job>* Watch(grpc::CallbackServerContext* context,
                                           const v1::WatchRequest* request) override;
  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context, const v1::GetJobRequest* request,
                                   v1::Job* response) override;
  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context, const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override;
  grpc::ServerUnaryReactor* Cancel(grpc::CallbackServerContext* context, const v1::CancelRequest* request,
                                   v1::Job* response) override;

 private:
  CompileBroker& broker_;
  const JobDesk jobs_;
  const Authorizer& authorizer_;
};

class ArtifactServiceImpl final : public v1::ArtifactService::CallbackService {
 public:
  ArtifactServiceImpl(CompileBroker& broker, const Authorizer& authorizer);

  grpc::ServerUnaryReactor* FindKeys(grpc::CallbackServerContext* context, const v1::FindKeysRequest* request,
                                     v1::FindKeysResponse* response) override;
  grpc::ServerUnaryReactor* FindMissing(grpc::CallbackServerContext* context, const v1::FindMissingRequest* request,
                                        v1::FindMissingResponse* response) override;
  grpc::ServerWriteReactor<v1::FetchResponse>* Fetch(grpc::CallbackServerContext* context,
                                                     const v1::FetchRequest* request) override;
  grpc::ServerWriteReactor<v1::BundleChunk>* Export(grpc::CallbackServerContext* context,
                                                    const v1::ExportRequest* request) override;
  grpc::ServerReadReactor<v1::BundleChunk>* Import(grpc::CallbackServerContext* context,
                                                   v1::ImportResponse* response) override;

 private:
  static constexpr int kTransfers = 16;  // bundles on their way at once, each with a thread

  CompileBroker& broker_;
  const Authorizer& authorizer_;
  StreamSlots transfers_{kTransfers};
};

class AutotuneServiceImpl final : public v1::AutotuneService::CallbackService {
 public:
  AutotuneServiceImpl(CompileBroker& broker, TuningDesk& tunings, ProgramTuningDesk& program_tunings,
                      const Authorizer& authorizer);

  grpc::ServerWriteReactor<v1::AutotuneResponse>* Autotune(grpc::CallbackServerContext* context,
                                                           const v1::AutotuneRequest* request) override;
  grpc::ServerUnaryReactor* GetTuning(grpc::CallbackServerContext* context, const v1::GetTuningRequest* request,
                                      v1::Tuning* response) override;
  grpc::ServerUnaryReactor* AcquireProgramTuning(grpc::CallbackServerContext* context,
                                                 const v1::AcquireProgramTuningRequest* request,
                                                 v1::AcquireProgramTuningResponse* response) override;
  grpc::ServerUnaryReactor* RenewProgramTuning(grpc::CallbackServerContext* context,
                                               const v1::RenewProgramTuningRequest* request,
                                               v1::RenewProgramTuningResponse* response) override;
  grpc::ServerUnaryReactor* StoreProgramTuning(grpc::CallbackServerContext* context,
                                               const v1::StoreProgramTuningRequest* request,
                                               v1::StoreProgramTuningResponse* response) override;
  grpc::ServerUnaryReactor* AbandonProgramTuning(grpc::CallbackServerContext* context,
                                                 const v1::AbandonProgramTuningRequest* request,
                                                 v1::AbandonProgramTuningResponse* response) override;

 private:
  static constexpr int kCallers = 64;  // that wait for tunings, each with a thread

  CompileBroker& broker_;
  TuningDesk& tunings_;
  ProgramTuningDesk& program_tunings_;
  const Authorizer& authorizer_;
  StreamSlots callers_{kCallers};
};

class AdminServiceImpl final : public v1::AdminService::CallbackService {
 public:
  AdminServiceImpl(CompileBroker& broker, const JobDesk& jobs, const TuningParts& tunings,
                   const Authorizer& authorizer);

  grpc::ServerUnaryReactor* ListWorkers(grpc::CallbackServerContext* context, const v1::ListWorkersRequest* request,
                                        v1::ListWorkersResponse* response) override;
  grpc::ServerUnaryReactor* GetStats(grpc::CallbackServerContext* context, const v1::GetStatsRequest* request,
                                     v1::GetStatsResponse* response) override;
  grpc::ServerUnaryReactor* Drain(grpc::CallbackServerContext* context, const v1::DrainRequest* request,
                                  v1::DrainResponse* response) override;
  grpc::ServerUnaryReactor* Evict(grpc::CallbackServerContext* context, const v1::EvictRequest* request,
                                  v1::EvictResponse* response) override;
  grpc::ServerUnaryReactor* ListQuarantine(grpc::CallbackServerContext* context,
                                           const v1::ListQuarantineRequest* request,
                                           v1::ListQuarantineResponse* response) override;
  grpc::ServerUnaryReactor* Quarantine(grpc::CallbackServerContext* context, const v1::QuarantineRequest* request,
                                       v1::QuarantineResponse* response) override;
  grpc::ServerUnaryReactor* Release(grpc::CallbackServerContext* context, const v1::ReleaseRequest* request,
                                    v1::ReleaseResponse* response) override;
  grpc::ServerUnaryReactor* Explain(grpc::CallbackServerContext* context, const v1::ExplainRequest* request,
                                    v1::ExplainResponse* response) override;

 private:
  CompileBroker& broker_;
  const JobDesk jobs_;
  const TuningParts program_tunings_;
  const Authorizer& authorizer_;
};

}  // namespace tritond::server

#endif  // SERVER_RPC_SERVICES_H_
