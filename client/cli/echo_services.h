// SPDX-License-Identifier: Apache-2.0
// Services that tests of the command line talk to.
#ifndef CLIENT_CLI_ECHO_SERVICES_H_
#define CLIENT_CLI_ECHO_SERVICES_H_

#include <grpcpp/grpcpp.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "proto/request_key/request_key.h"
#include "proto/v1/admin.grpc.pb.h"
#include "proto/v1/artifact.grpc.pb.h"
#include "proto/v1/compile.grpc.pb.h"

namespace tritond::client {

inline const std::string kJobKey = "abcd1" + std::string(59, '0');     // of every job
inline const std::string kRecentKey = "abcd2" + std::string(59, '0');  // of the latest compile
inline const std::string kUnknownKey(64, 'e');                         // of nothing

// Remembers what it compiled. IR that begins with "bad" fails at line 3, column 14.
class EchoCompileService final : public v1::CompileService::Service {
 public:
  grpc::Status Compile(grpc::ServerContext* context, const v1::CompileRequest* request,
                       v1::CompileResponse* response) override {
    for (const absl::Time end = absl::Now() + delay; absl::Now() < end && !context->IsCancelled();) {
      absl::SleepFor(absl::Milliseconds(5));
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    asked_.push_back(*request);
    if (!refusal.ok()) return refusal;
    if (request->ir().rfind("bad", 0) == 0) return Failure();
    const std::string key = proto::Prepare(*request)->Key("test");
    const bool stored = stored_.count(key) > 0 && request->cache_mode() != v1::CACHE_MODE_REFRESH;
    response->set_key(key);
    response->set_cache(stored ? v1::CACHE_STATUS_HIT : v1::CACHE_STATUS_MISS);
    response->mutable_result()->set_metadata_json(R"({"name": "kernel", "shared": 0, "num_warps": 4})");
    for (const auto& option : request->options().fields()) {
      if (absl::StrContains(option.first, "wraps")) response->mutable_result()->add_ignored_options(option.first);
    }
    for (const int kind : request->outputs()) {
      v1::Artifact* artifact = response->mutable_result()->add_artifacts();
      artifact->set_kind(static_cast<v1::Stage>(kind));
      artifact->set_format(kind == v1::STAGE_BINARY ? "cubin" : kind == v1::STAGE_TTIR ? "ttir" : "ptx");
      artifact->set_digest(proto::Sha256Hex(request->ir()));
      artifact->set_size_bytes(request->ir().size());
    }
    v1::StageTime* time = response->mutable_result()->add_stage_times();
    time->set_stage(v1::STAGE_LLIR);
    time->set_wall_ns(1'500'000);
    response->mutable_result()->set_cost_cpu_seconds(0.25);
    response->mutable_result()->set_peak_memory_bytes(96 << 20);
    response->mutable_result()->set_worker("node/17");
    response->mutable_result()->set_daemon("red");
    response->mutable_result()->set_signer("0123456789abcdef" + std::string(48, '0'));
    response->mutable_result()->set_build_id("build-1");
    response->mutable_result()->mutable_created()->set_seconds(1700000000);
    v1::Blob* blob = response->add_blobs();
    blob->set_digest(proto::Sha256Hex(request->ir()));
    blob->set_data(request->ir());
    stored_[key] = *response;
    return grpc::Status::OK;
  }

  grpc::Status Lookup(grpc::ServerContext* context, const v1::LookupRequest* request,
                      v1::CompileResponse* response) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = stored_.find(request->key());
    if (at == stored_.end()) return {grpc::StatusCode::NOT_FOUND, "not stored"};
    *response = at->second;
    return grpc::Status::OK;
  }

  grpc::Status Describe(grpc::ServerContext* context, const v1::DescribeRequest* request,
                        v1::DescribeResponse* response) override {
    for (const char* target : {"cuda:80", "cuda:90", "host"}) response->add_targets()->set_name(target);
    return grpc::Status::OK;
  }

  // Two pages of one job each.
  grpc::Status ListJobs(grpc::ServerContext* context, const v1::ListJobsRequest* request,
                        v1::ListJobsResponse* response) override {
    v1::Job* job = response->add_jobs();
    job->set_id(request->page_token().empty() ? "job-2" : "job-1");
    job->set_key(kJobKey);
    job->set_state(v1::JOB_STATE_RUNNING);
    if (request->page_token().empty()) response->set_next_page_token("more");
    return grpc::Status::OK;
  }

  grpc::Status Submit(grpc::ServerContext* context, const v1::SubmitRequest* request, v1::Job* response) override {
    asked_.push_back(request->request());
    response->set_id(request->idempotency_key().empty() ? "job without a key" : "job-3");
    return grpc::Status::OK;
  }

  // Ends with the failure of job-2; of others with success.
  grpc::Status Watch(grpc::ServerContext* context, const v1::WatchRequest* request,
                     grpc::ServerWriter<v1::Job>* writer) override {
    v1::Job job;
    job.set_id(request->id());
    for (v1::JobState state : {v1::JOB_STATE_QUEUED, v1::JOB_STATE_RUNNING,
                               request->id() == "job-2" ? v1::JOB_STATE_FAILED : v1::JOB_STATE_SUCCEEDED}) {
      job.set_state(state);
      writer->Write(job);
    }
    return grpc::Status::OK;
  }

  grpc::Status Cancel(grpc::ServerContext* context, const v1::CancelRequest* request, v1::Job* response) override {
    if (request->id() != "job-1") return {grpc::StatusCode::NOT_FOUND, "no such job"};
    response->set_id(request->id());
    response->set_state(v1::JOB_STATE_CANCELLED);
    return grpc::Status::OK;
  }

  absl::Duration delay = absl::ZeroDuration();  // before a compile answers
  grpc::Status refusal;                         // of every compile, unless OK

  // Requests to compile, in the order in which they came.
  std::vector<v1::CompileRequest> All() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return asked_;
  }
  v1::CompileRequest Last() { return All().back(); }
  void Forget() {
    const std::lock_guard<std::mutex> lock(mutex_);
    asked_.clear();
  }

 private:
  static grpc::Status Failure() {
    v1::CompileFailure failure;
    failure.set_key("k1");
    v1::Diagnostic* diagnostic = failure.add_diagnostics();
    diagnostic->set_severity(v1::Diagnostic::SEVERITY_ERROR);
    diagnostic->set_stage(v1::STAGE_TTIR);
    diagnostic->set_line(3);
    diagnostic->set_column(14);
    diagnostic->set_message("expected ':'");
    google::rpc::Status rich;
    rich.add_details()->PackFrom(failure);
    return {grpc::StatusCode::INVALID_ARGUMENT, "the IR does not parse", rich.SerializeAsString()};
  }

  std::vector<v1::CompileRequest> asked_;
  std::mutex mutex_;
  std::map<std::string, v1::CompileResponse> stored_;
};

// A bundle is the bytes "bundle of N" for N keys.
class BundleService final : public v1::ArtifactService::Service {
 public:
  grpc::Status Fetch(grpc::ServerContext* context, const v1::FetchRequest* request,
                     grpc::ServerWriter<v1::FetchResponse>* writer) override {
    if (request->digest() != proto::Sha256Hex("stored bytes")) return {grpc::StatusCode::NOT_FOUND, "not stored"};
    v1::FetchResponse part;
    part.set_data("stored bytes");
    writer->Write(part);
    return grpc::Status::OK;
  }

  grpc::Status Export(grpc::ServerContext* context, const v1::ExportRequest* request,
                      grpc::ServerWriter<v1::BundleChunk>* writer) override {
    if (request->keys_size() == 1 && request->keys(0) == kUnknownKey) return {grpc::StatusCode::NOT_FOUND, "unknown"};
    v1::BundleChunk chunk;
    for (const std::string& part : {std::string("bundle "), absl::StrCat("of ", request->keys_size())}) {
      chunk.set_data(part);
      writer->Write(chunk);
    }
    return grpc::Status::OK;
  }

  grpc::Status Import(grpc::ServerContext* context, grpc::ServerReader<v1::BundleChunk>* reader,
                      v1::ImportResponse* response) override {
    std::string bytes;
    v1::BundleChunk chunk;
    while (reader->Read(&chunk)) bytes += chunk.data();
    if (bytes.rfind("bundle", 0) != 0) return {grpc::StatusCode::DATA_LOSS, "damaged"};
    response->set_results(2);
    response->set_artifacts(3);
    response->set_bytes(bytes.size());
    return grpc::Status::OK;
  }
};

class FixedAdminService final : public v1::AdminService::Service {
 public:
  grpc::Status GetStats(grpc::ServerContext* context, const v1::GetStatsRequest* request,
                        v1::GetStatsResponse* response) override {
    response->mutable_daemon()->set_version("9.8.7");
    response->set_hits(3);
    response->set_misses(1);
    v1::RecentJob& job = *response->add_recent();
    job.set_label("softmax");
    job.set_key(kRecentKey);
    job.set_cpu_seconds(0.25);
    job.set_peak_memory_bytes(96 << 20);
    job.set_daemon("red");
    v1::ClusterStats& cluster = *response->mutable_cluster();
    cluster.set_leases_held(2);
    cluster.set_followed(5);
    cluster.set_jobs_offered(7);
    v1::EngineNode& node = *cluster.add_nodes();
    node.set_address("kv-0:6379");
    node.set_failures(3);
    return grpc::Status::OK;
  }

  grpc::Status ListWorkers(grpc::ServerContext* context, const v1::ListWorkersRequest* request,
                           v1::ListWorkersResponse* response) override {
    v1::Worker* worker = response->add_workers();
    worker->set_name("node7/1234");
    worker->set_state(v1::Worker::STATE_BUSY);
    worker->add_targets()->set_name("cuda:90");
    worker->set_last_death("signal 6 (Aborted)");
    return grpc::Status::OK;
  }

  grpc::Status Drain(grpc::ServerContext* context, const v1::DrainRequest* request,
                     v1::DrainResponse* response) override {
    response->set_draining(!request->resume());
    response->set_remaining(request->resume() ? 0 : 4);
    return grpc::Status::OK;
  }

  grpc::Status Evict(grpc::ServerContext* context, const v1::EvictRequest* request,
                     v1::EvictResponse* response) override {
    response->set_results(request->everything() ? 100 : request->keys_size());
    response->set_artifacts(7);
    response->set_shared_results(request->everything() ? 300 : 0);
    return grpc::Status::OK;
  }

  grpc::Status ListQuarantine(grpc::ServerContext* context, const v1::ListQuarantineRequest* request,
                              v1::ListQuarantineResponse* response) override {
    v1::QuarantineEntry& entry = *response->add_entries();
    entry.set_key("k1");
    entry.set_label("softmax");
    entry.add_reports("signal 11");
    return grpc::Status::OK;
  }

  grpc::Status Release(grpc::ServerContext* context, const v1::ReleaseRequest* request,
                       v1::ReleaseResponse* response) override {
    if (request->key() != "k1") return {grpc::StatusCode::NOT_FOUND, "not in quarantine"};
    return grpc::Status::OK;
  }

  grpc::Status Explain(grpc::ServerContext* context, const v1::ExplainRequest* request,
                       v1::ExplainResponse* response) override {
    auto* same = response->add_parts();
    same->set_name("target");
    same->set_a("cuda:90");
    auto* other = response->add_parts();
    other->set_name("options.num_warps");
    other->set_a("4");
    other->set_b("8");
    other->set_differs(request->key_a() != request->key_b());
    explained = {request->key_a(), request->key_b()};
    return grpc::Status::OK;
  }

  std::vector<std::string> explained;  // the last two keys
};

// An answer of the service, with its reason; "": of something else in between.
inline grpc::Status Answer(grpc::StatusCode code, const std::string& reason) {
  google::rpc::Status rich;
  google::rpc::ErrorInfo info;
  info.set_reason(reason);
  if (!reason.empty()) rich.add_details()->PackFrom(info);
  return {code, "said no", rich.SerializeAsString()};
}

}  // namespace tritond::client

#endif  // CLIENT_CLI_ECHO_SERVICES_H_
