// SPDX-License-Identifier: Apache-2.0
#include "client/cc/grpc_client.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "client/cc/batch_end.h"
#include "client/cc/status.h"
#include "proto/request_key/request_key.h"
#include "proto/v1/admin.grpc.pb.h"
#include "proto/v1/artifact.grpc.pb.h"
#include "proto/v1/autotune.grpc.pb.h"
#include "proto/v1/compile.grpc.pb.h"

namespace tritond::client {
namespace {

class GrpcClient final : public Client {
 public:
  GrpcClient(ClientOptions options, std::shared_ptr<grpc::Channel> channel)
      : options_(std::move(options)),
        compile_(v1::CompileService::NewStub(channel)),
        artifact_(v1::ArtifactService::NewStub(channel)),
        autotune_(v1::AutotuneService::NewStub(channel)),
        admin_(v1::AdminService::NewStub(channel)) {}

  absl::StatusOr<v1::DescribeResponse> Describe(absl::Time deadline) override {
    return Unary<v1::DescribeResponse>(deadline, [&](grpc::ClientContext* context, v1::DescribeResponse* response) {
      return compile_->Describe(context, v1::DescribeRequest(), response);
    });
  }

  absl::StatusOr<v1::CompileResponse> Compile(v1::CompileRequest request, absl::Time deadline) override {
    if (request.client_version().empty()) request.set_client_version(options_.client_version);
    auto response = Unary<v1::CompileResponse>(deadline, [&](grpc::ClientContext* context, v1::CompileResponse* out) {
      return compile_->Compile(context, request, out);
    });
    if (!response.ok() || request.delivery() == v1::DELIVERY_DIGESTS) return response;
    return WithAllBlobs(*std::move(response), deadline);
  }

  absl::StatusOr<v1::CompileResponse> Lookup(absl::string_view key, absl::Time deadline) override {
    v1::LookupRequest request;
    request.set_key(std::string(key));
    auto response = Unary<v1::CompileResponse>(deadline, [&](grpc::ClientContext* context, v1::CompileResponse* out) {
      return compile_->Lookup(context, request, out);
    });
    if (!response.ok()) return response;
    return WithAllBlobs(*std::move(response), deadline);
  }

  absl::StatusOr<std::string> Fetch(absl::string_view digest, absl::Time deadline) override {
    std::string bytes;
    const absl::Status status = Retry(deadline, [&](grpc::ClientContext* context) {
      v1::FetchRequest request;
      request.set_digest(std::string(digest));
      request.set_offset(bytes.size());
      const auto reader = artifact_->Fetch(context, request);
      v1::FetchResponse part;
      while (reader->Read(&part)) {
        if (part.total_size_bytes() > 0) bytes.reserve(part.total_size_bytes());
        bytes += part.data();
      }
      return FromGrpc(reader->Finish());
    });
    if (!status.ok()) return status;
    if (proto::Sha256Hex(bytes) != digest) {
      return absl::DataLossError(
          absl::StrCat("artifact ", digest, ": the ", bytes.size(), " bytes received have another digest"));
    }
    return bytes;
  }

  absl::Status CompileBatch(const std::vector<v1::CompileRequest>& requests, const BatchCallback& on_result,
                            absl::Time deadline) override {
    std::vector<size_t> missing(requests.size());  // A retry asks only for these.
    std::iota(missing.begin(), missing.end(), 0);
    Refusals refusals;
    const absl::Status status = Retry(deadline, [&](grpc::ClientContext* context) {
      return BatchAttempt(context, requests, &missing, &refusals, on_result);
    });
    return status.ok() ? status : EndBatch(status, missing, refusals, on_result);
  }

  absl::StatusOr<v1::AutotuneResponse> Autotune(const v1::AutotuneRequest& request,
                                                const std::function<void(const v1::AutotuneResponse&)>& on_event,
                                                absl::Time deadline) override {
    grpc::ClientContext context;
    Prepare(&context, deadline);
    const auto reader = autotune_->Autotune(&context, request);
    v1::AutotuneResponse event;
    absl::optional<v1::AutotuneResponse> last;
    while (reader->Read(&event)) {
      if (event.has_tuning()) {
        last = event;
      } else {
        on_event(event);
      }
    }
    const grpc::Status status = reader->Finish();
    if (!status.ok()) return FromGrpc(status);
    if (!last) return absl::InternalError("the server ended the search without a winner");
    return *std::move(last);
  }

  absl::StatusOr<std::vector<v1::Job>> ListJobs(const std::vector<v1::JobState>& states, absl::Time deadline) override {
    std::vector<v1::Job> jobs;
    v1::ListJobsRequest request;
    for (const v1::JobState state : states) request.add_states(state);
    do {
      auto page = Unary<v1::ListJobsResponse>(deadline, [&](grpc::ClientContext* context, v1::ListJobsResponse* out) {
        return compile_->ListJobs(context, request, out);
      });
      if (!page.ok()) return page.status();
      jobs.insert(jobs.end(), page->jobs().begin(), page->jobs().end());
      request.set_page_token(page->next_page_token());
    } while (!request.page_token().empty());
    return jobs;
  }

  absl::StatusOr<v1::Job> SubmitJob(const v1::CompileRequest& request, absl::string_view idempotency_key,
                                    absl::Time deadline) override {
    v1::SubmitRequest submit;
    *submit.mutable_request() = request;
    if (request.client_version().empty()) submit.mutable_request()->set_client_version(options_.client_version);
    submit.set_idempotency_key(idempotency_key.empty() ? RandomIdempotencyKey() : std::string(idempotency_key));
    return Unary<v1::Job>(
        deadline, [&](grpc::ClientContext* context, v1::Job* out) { return compile_->Submit(context, submit, out); });
  }

  absl::StatusOr<v1::Job> WatchJob(absl::string_view id, const std::function<void(const v1::Job&)>& on_change,
                                   absl::Time deadline) override {
    v1::WatchRequest request;
    request.set_id(std::string(id));
    v1::Job job;
    const absl::Status status = Retry(deadline, [&](grpc::ClientContext* context) {
      const auto reader = compile_->Watch(context, request);
      while (reader->Read(&job)) on_change(job);
      return FromGrpc(reader->Finish());
    });
    if (!status.ok()) return status;
    return job;
  }

  absl::StatusOr<v1::Job> CancelJob(absl::string_view id, absl::Time deadline) override {
    v1::CancelRequest request;
    request.set_id(std::string(id));
    return Unary<v1::Job>(
        deadline, [&](grpc::ClientContext* context, v1::Job* out) { return compile_->Cancel(context, request, out); });
  }

  absl::StatusOr<std::vector<std::string>> FindKeys(absl::string_view prefix, absl::Time deadline) override {
    v1::FindKeysRequest request;
    request.set_prefix(std::string(prefix));
    const auto found =
        Unary<v1::FindKeysResponse>(deadline, [&](grpc::ClientContext* context, v1::FindKeysResponse* out) {
          return artifact_->FindKeys(context, request, out);
        });
    if (!found.ok()) return found.status();
    return std::vector<std::string>(found->keys().begin(), found->keys().end());
  }

  absl::StatusOr<v1::ExplainResponse> Explain(absl::string_view key_a, absl::string_view key_b,
                                              absl::Time deadline) override {
    v1::ExplainRequest request;
    request.set_key_a(std::string(key_a));
    request.set_key_b(std::string(key_b));
    return Unary<v1::ExplainResponse>(deadline, [&](grpc::ClientContext* context, v1::ExplainResponse* out) {
      return admin_->Explain(context, request, out);
    });
  }

  absl::Status ExportBundle(const std::vector<std::string>& keys,
                            const std::function<absl::Status(absl::string_view)>& sink, absl::Time deadline) override {
    grpc::ClientContext context;
    Prepare(&context, deadline);
    v1::ExportRequest request;
    for (const std::string& key : keys) request.add_keys(key);
    const auto reader = artifact_->Export(&context, request);
    v1::BundleChunk chunk;
    absl::Status sunk = absl::OkStatus();
    while (sunk.ok() && reader->Read(&chunk)) sunk = sink(chunk.data());
    if (!sunk.ok()) context.TryCancel();
    const grpc::Status status = reader->Finish();
    return sunk.ok() ? FromGrpc(status) : sunk;
  }

  absl::StatusOr<v1::ImportResponse> ImportBundle(const std::function<absl::StatusOr<std::string>()>& source,
                                                  absl::Time deadline) override {
    grpc::ClientContext context;
    Prepare(&context, deadline);
    v1::ImportResponse response;
    const auto writer = artifact_->Import(&context, &response);
    for (;;) {
      auto part = source();
      if (!part.ok()) {
        context.TryCancel();
        (void)writer->Finish();
        return part.status();
      }
      v1::BundleChunk chunk;
      chunk.set_data(*std::move(part));
      if (chunk.data().empty() || !writer->Write(chunk)) break;  // a refused write shows in the final status
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    if (!status.ok()) return FromGrpc(status);
    return response;
  }

  absl::StatusOr<v1::GetStatsResponse> GetStats(uint32_t recent_jobs, absl::Time deadline) override {
    v1::GetStatsRequest request;
    request.set_recent_jobs(recent_jobs);
    return Unary<v1::GetStatsResponse>(deadline, [&](grpc::ClientContext* context, v1::GetStatsResponse* response) {
      return admin_->GetStats(context, request, response);
    });
  }

  absl::StatusOr<v1::DrainResponse> Drain(bool resume, absl::Time deadline) override {
    v1::DrainRequest request;
    request.set_resume(resume);
    return Unary<v1::DrainResponse>(deadline, [&](grpc::ClientContext* context, v1::DrainResponse* response) {
      return admin_->Drain(context, request, response);
    });
  }

  absl::StatusOr<v1::EvictResponse> Evict(const v1::EvictRequest& request, absl::Time deadline) override {
    return Unary<v1::EvictResponse>(deadline, [&](grpc::ClientContext* context, v1::EvictResponse* response) {
      return admin_->Evict(context, request, response);
    });
  }

  absl::StatusOr<v1::ListQuarantineResponse> ListQuarantine(absl::Time deadline) override {
    return Unary<v1::ListQuarantineResponse>(
        deadline, [&](grpc::ClientContext* context, v1::ListQuarantineResponse* response) {
          return admin_->ListQuarantine(context, v1::ListQuarantineRequest(), response);
        });
  }

  absl::Status Release(absl::string_view key, absl::Time deadline) override {
    v1::ReleaseRequest request;
    request.set_key(std::string(key));
    return Unary<v1::ReleaseResponse>(deadline,
                                      [&](grpc::ClientContext* context, v1::ReleaseResponse* response) {
                                        return admin_->Release(context, request, response);
                                      })
        .status();
  }

  absl::StatusOr<v1::ListWorkersResponse> ListWorkers(absl::Time deadline) override {
    return Unary<v1::ListWorkersResponse>(deadline, [&](grpc::ClientContext* context, v1::ListWorkersResponse* out) {
      return admin_->ListWorkers(context, v1::ListWorkersRequest(), out);
    });
  }

 private:
  void Prepare(grpc::ClientContext* context, absl::Time deadline) const {
    context->set_deadline(absl::ToChronoTime(deadline));
    if (!options_.token.empty()) context->AddMetadata("authorization", absl::StrCat("Bearer ", options_.token));
  }

  // Takes out of `missing` what came.
  absl::Status BatchAttempt(grpc::ClientContext* context, const std::vector<v1::CompileRequest>& requests,
                            std::vector<size_t>* missing, Refusals* refusals, const BatchCallback& on_result) {
    if (missing->empty()) return absl::OkStatus();
    const std::vector<size_t> indices = *missing;
    v1::CompileBatchRequest batch;
    for (const size_t index : indices) *batch.add_requests() = requests[index];
    absl::Status refused = absl::UnavailableError("the server ended the batch before its last result");
    const auto reader = compile_->CompileBatch(context, batch);
    v1::CompileBatchResponse item;
    while (reader->Read(&item)) {
      if (item.index() >= indices.size()) continue;
      const size_t index = indices[item.index()];
      const auto place = std::find(missing->begin(), missing->end(), index);
      if (place == missing->end()) continue;
      const absl::Status failure = item.has_failure() ? FromFailure(item.failure()) : absl::OkStatus();
      if (MayAskAgain(failure)) {
        (*refusals)[index] = refused = failure;
        continue;
      }
      missing->erase(place);
      if (item.has_failure()) {
        on_result(index, failure);
      } else {
        on_result(index, std::move(*item.mutable_response()));
      }
    }
    const absl::Status status = FromGrpc(reader->Finish());
    return status.ok() && !missing->empty() ? refused : status;
  }

  // Runs `attempt` with a fresh context until it succeeds, fails for good, or the next try would pass the deadline.
  absl::Status Retry(absl::Time deadline, const std::function<absl::Status(grpc::ClientContext*)>& attempt) {
    absl::BitGen random;
    for (int attempts = 1;; ++attempts) {
      grpc::ClientContext context;
      Prepare(&context, deadline);
      const absl::Status error = attempt(&context);
      if (error.ok()) return error;
      const auto delay = RetryDelay(options_.retry, error, attempts, absl::Uniform(random, 0.0, 1.0));
      if (!delay || absl::Now() + *delay >= deadline) return error;
      options_.sleep(*delay);
    }
  }

  template <typename Response, typename Call>
  absl::StatusOr<Response> Unary(absl::Time deadline, const Call& call) {
    Response response;
    const absl::Status status =
        Retry(deadline, [&](grpc::ClientContext* context) { return FromGrpc(call(context, &response)); });
    if (!status.ok()) return status;
    return response;
  }

  absl::StatusOr<v1::CompileResponse> WithAllBlobs(v1::CompileResponse response, absl::Time deadline) {
    for (const v1::Artifact& artifact : response.result().artifacts()) {
      if (FindBlob(response, artifact.kind()) != nullptr) continue;
      auto bytes = Fetch(artifact.digest(), deadline);
      if (!bytes.ok()) return bytes.status();
      v1::Blob* blob = response.add_blobs();
      blob->set_digest(artifact.digest());
      blob->set_data(*std::move(bytes));
    }
    return response;
  }

  const ClientOptions options_;
  const std::unique_ptr<v1::CompileService::Stub> compile_;
  const std::unique_ptr<v1::ArtifactService::Stub> artifact_;
  const std::unique_ptr<v1::AutotuneService::Stub> autotune_;
  const std::unique_ptr<v1::AdminService::Stub> admin_;
};

}  // namespace

std::unique_ptr<Client> MakeGrpcClient(ClientOptions options, std::shared_ptr<grpc::Channel> channel) {
  return std::make_unique<GrpcClient>(std::move(options), std::move(channel));
}

std::string RandomIdempotencyKey() {
  absl::BitGen random;
  return absl::StrCat("client-", absl::Hex(absl::Uniform<uint64_t>(random), absl::kZeroPad16),
                      absl::Hex(absl::Uniform<uint64_t>(random), absl::kZeroPad16));
}

const std::string* FindBlob(const v1::CompileResponse& response, v1::Stage stage) {
  for (const v1::Artifact& artifact : response.result().artifacts()) {
    if (artifact.kind() != stage) continue;
    for (const v1::Blob& blob : response.blobs()) {
      if (blob.digest() == artifact.digest()) return &blob.data();
    }
  }
  return nullptr;
}

}  // namespace tritond::client
