// SPDX-License-Identifier: Apache-2.0
// Every RPC that this daemon answers, one function each in the file of its name. They turn messages into calls of the
// broker and never block gRPC's threads.
#ifndef SERVER_RPC_RPCS_H_
#define SERVER_RPC_RPCS_H_

#include <grpcpp/grpcpp.h>

#include "proto/v1/admin.pb.h"
#include "proto/v1/artifact.pb.h"
#include "proto/v1/autotune.pb.h"
#include "proto/v1/compile.pb.h"
#include "server/admission/access.h"
#include "server/compile/compile_broker.h"
#include "server/compile/task_thread.h"
#include "server/jobs/job_store.h"
#include "server/rpc/authorizer.h"
#include "server/rpc/stream_slots.h"
#include "server/tunings/program_tuning_desk.h"
#include "server/tunings/tuning_desk.h"

namespace tritond::server {

// CompileService. Compile and Lookup take and give serialized messages, so that a hit is sent without being copied.
grpc::ServerUnaryReactor* Describe(CompileBroker& broker, grpc::CallbackServerContext* context,
                                   v1::DescribeResponse* response);
grpc::ServerUnaryReactor* Compile(CompileBroker& broker, const Authorizer& authorizer, const Caller& caller,
                                  grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response);
grpc::ServerUnaryReactor* Lookup(CompileBroker& broker, const Caller& caller, grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* request, grpc::ByteBuffer* response);
grpc::ServerWriteReactor<v1::CompileBatchResponse>* CompileBatch(CompileBroker& broker, const Caller& caller,
                                                                 grpc::CallbackServerContext* context,
                                                                 const v1::CompileBatchRequest* request);

// Submitted jobs, of the caller's tenant where its credentials name one; what writes the journal runs on `tasks`.
struct JobDesk {
  JobStore& store;
  TaskThread& tasks;
};
grpc::ServerUnaryReactor* Submit(CompileBroker& broker, const JobDesk& jobs, const Caller& caller,
                                 grpc::CallbackServerContext* context, const v1::SubmitRequest* request,
                                 v1::Job* response);
grpc::ServerWriteReactor<v1::Job>* Watch(const JobDesk& jobs, const Caller& caller,
                                         grpc::CallbackServerContext* context, const v1::WatchRequest* request);
grpc::ServerUnaryReactor* GetJob(const JobDesk& jobs, const Caller& caller, grpc::CallbackServerContext* context,
                                 const v1::GetJobRequest* request, v1::Job* response);
grpc::ServerUnaryReactor* ListJobs(const JobDesk& jobs, const Caller& caller, grpc::CallbackServerContext* context,
                                   const v1::ListJobsRequest* request, v1::ListJobsResponse* response);
grpc::ServerUnaryReactor* Cancel(const JobDesk& jobs, const Caller& caller, grpc::CallbackServerContext* context,
                                 const v1::CancelRequest* request, v1::Job* response);

// ArtifactService.
grpc::ServerUnaryReactor* FindKeys(CompileBroker& broker, grpc::CallbackServerContext* context,
                                   const v1::FindKeysRequest* request, v1::FindKeysResponse* response);
grpc::ServerUnaryReactor* FindMissing(CompileBroker& broker, grpc::CallbackServerContext* context,
                                      const v1::FindMissingRequest* request, v1::FindMissingResponse* response);
grpc::ServerWriteReactor<v1::FetchResponse>* Fetch(CompileBroker& broker, grpc::CallbackServerContext* context,
                                                   const v1::FetchRequest* request);

// Each takes one of the slots while it lasts.
grpc::ServerWriteReactor<v1::BundleChunk>* Export(CompileBroker& broker, StreamSlots& slots,
                                                  grpc::CallbackServerContext* context,
                                                  const v1::ExportRequest* request);
grpc::ServerReadReactor<v1::BundleChunk>* Import(CompileBroker& broker, StreamSlots& slots,
                                                 grpc::CallbackServerContext* context, v1::ImportResponse* response);

// AutotuneService. Each caller of Autotune takes one of the slots while it waits.
grpc::ServerWriteReactor<v1::AutotuneResponse>* Autotune(TuningDesk& tunings, const Caller& caller, StreamSlots& slots,
                                                         grpc::CallbackServerContext* context,
                                                         const v1::AutotuneRequest* request);
grpc::ServerUnaryReactor* GetTuning(TuningDesk& tunings, grpc::CallbackServerContext* context,
                                    const v1::GetTuningRequest* request, v1::Tuning* response);

// AutotuneService, for programs that tune themselves.
grpc::ServerUnaryReactor* AcquireProgramTuning(CompileBroker& broker, ProgramTuningDesk& desk, const Caller& caller,
                                               grpc::CallbackServerContext* context,
                                               const v1::AcquireProgramTuningRequest* request,
                                               v1::AcquireProgramTuningResponse* response);
grpc::ServerUnaryReactor* RenewProgramTuning(ProgramTuningDesk& desk, grpc::CallbackServerContext* context,
                                             const v1::RenewProgramTuningRequest* request,
                                             v1::RenewProgramTuningResponse* response);
grpc::ServerUnaryReactor* StoreProgramTuning(CompileBroker& broker, ProgramTuningDesk& desk, const Caller& caller,
                                             grpc::CallbackServerContext* context,
                                             const v1::StoreProgramTuningRequest* request);
grpc::ServerUnaryReactor* AbandonProgramTuning(ProgramTuningDesk& desk, grpc::CallbackServerContext* context,
                                               const v1::AbandonProgramTuningRequest* request);

// The tunings of programs, where all of them are counted or forgotten.
struct TuningParts {
  ProgramTuningDesk& desk;
  TuningStore& store;
};

// AdminService. Of other tenants' jobs a caller of one tenant sees numbers alone.
grpc::ServerUnaryReactor* ListWorkers(CompileBroker& broker, const Caller& caller, grpc::CallbackServerContext* context,
                                      v1::ListWorkersResponse* response);
grpc::ServerUnaryReactor* GetStats(CompileBroker& broker, const JobDesk& jobs, const TuningParts& tunings,
                                   const Caller& caller, grpc::CallbackServerContext* context,
                                   const v1::GetStatsRequest* request, v1::GetStatsResponse* response);
grpc::ServerUnaryReactor* Drain(CompileBroker& broker, grpc::CallbackServerContext* context,
                                const v1::DrainRequest* request, v1::DrainResponse* response);
grpc::ServerUnaryReactor* Evict(CompileBroker& broker, TuningStore& tunings, grpc::CallbackServerContext* context,
                                const v1::EvictRequest* request, v1::EvictResponse* response);
grpc::ServerUnaryReactor* Explain(CompileBroker& broker, const Caller& caller, grpc::CallbackServerContext* context,
                                  const v1::ExplainRequest* request, v1::ExplainResponse* response);
grpc::ServerUnaryReactor* ListQuarantine(CompileBroker& broker, const Caller& caller,
                                         grpc::CallbackServerContext* context, v1::ListQuarantineResponse* response);
grpc::ServerUnaryReactor* Quarantine(CompileBroker& broker, grpc::CallbackServerContext* context,
                                     const v1::QuarantineRequest* request);
grpc::ServerUnaryReactor* Release(CompileBroker& broker, grpc::CallbackServerContext* context,
                                  const v1::ReleaseRequest* request);

// What Describe and GetStats say about the daemon.
void FillDescription(CompileBroker& broker, v1::DescribeResponse* response);

}  // namespace tritond::server

#endif  // SERVER_RPC_RPCS_H_
