// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/service_targets.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cache/layer/sealed_cache.h"
#include "cache/store/memory_store.h"
#include "proto/request_key/request_key.h"
#include "proto/v1/compile.pb.h"
#include "server/admission/check_request.h"
#include "server/app/access_file.h"
#include "server/bundle/bundle.h"
#include "server/jobs/job_store.h"
#include "server/results/result_store.h"
#include "server/results/take_result.h"
#include "tests/support/task_queue_here.h"

namespace tritond::tests {
namespace {

constexpr size_t kStoreBytes = 1 << 20;

v1::CompileRequest SoundRequest() {
  v1::CompileRequest request;
  request.set_target("cuda:90");
  request.set_ir(
      "module {\n  tt.func @k() loc(\"a.py\":1:2) {\n    tt.return loc(#loc1)\n  }\n}\n#loc1 = loc(\"b\")\n");
  auto& fields = *request.mutable_options()->mutable_fields();
  fields["num_warps"].set_number_value(4);
  fields["debug_info"].set_bool_value(false);
  fields["arch"].set_string_value("sm_90");
  fields["list"].mutable_list_value()->add_values()->set_number_value(1.5);
  request.add_outputs(v1::STAGE_BINARY);
  request.mutable_abi()->set_global_scratch(true);
  return request;
}

v1::Artifact Named(const std::string& format, const std::string& bytes) {
  v1::Artifact artifact;
  artifact.set_kind(v1::STAGE_BINARY);
  artifact.set_format(format);
  artifact.set_digest(proto::Sha256Hex(bytes));
  artifact.set_size_bytes(bytes.size());
  return artifact;
}

// From the wire to the key, without a worker.
void RunRequest(const std::string& bytes) {
  v1::CompileRequest request;
  if (!request.ParseFromString(bytes)) return;
  const absl::StatusOr<proto::PreparedRequest> prepared = proto::Prepare(request);
  if (!prepared.ok()) return;
  const std::string key = prepared->Key("build");
  Require(key.size() == 64, "a request has a key");
  v1::CompileRequest kept = prepared->message();
  proto::KeepKeyFields(&kept);
  v1::CompileRequest again;
  Require(again.ParseFromString(kept.SerializeAsString()), "what is kept of a request can be read");
  const absl::StatusOr<proto::PreparedRequest> same = proto::Prepare(again);
  Require(same.ok() && same->Key("build") == key, "what is kept of a request has its key");
  Require(same->message().ir() == kept.ir(), "a canonical text is its own");
  const nlohmann::json options = nlohmann::json::parse(proto::CanonicalOptions(request.options()), nullptr, false);
  server::RequestFacts facts;
  facts.target = request.target();
  facts.ir_bytes = request.ir().size();
  facts.input = request.input();
  for (int output : request.outputs()) facts.outputs.push_back(output);
  if (options.is_object()) facts.options = options;
  server::CheckRequest(facts, {});
}

// The same key in every process, so that seeds stay signed: PKCS #8 around 32 bytes.
constexpr char kSigningKey[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIGZ1enpmdXp6ZnV6emZ1enpmdXp6ZnV6emZ1enpmdXp6\n"
    "-----END PRIVATE KEY-----\n";

server::Notary& Signer() {
  static auto* const notary = new server::Notary(
      *server::SigningKey::FromPem(kSigningKey), {}, [](const std::string&) {}, [] { return absl::UnixEpoch(); });
  return *notary;
}

// Serialized once: the order of a map's fields differs from one serialization to the next.
const std::string& SoundRequestBytes() {
  static const auto* const bytes = new std::string(SoundRequest().SerializeAsString());
  return *bytes;
}

v1::ActionResult BundledResult() {
  v1::ActionResult result;
  result.set_build_id("build");
  *result.add_artifacts() = Named("cubin", "binary");
  *result.mutable_request() = Named("request", SoundRequestBytes());
  return result;
}

std::string SoundBundle() {
  v1::BundleRecord record;
  record.set_key(proto::Prepare(SoundRequest())->Key("build"));
  record.set_signed_result(Signer().Sign(server::Purpose::kResult, *cache::Digest::FromHex(record.key()),
                                         BundledResult().SerializeAsString()));
  record.add_blobs()->set_data("binary");
  record.add_blobs()->set_data(SoundRequestBytes());
  std::string bundle;
  server::BundleWriter writer(Signer(), [&](absl::string_view part) {
    bundle.append(part.data(), part.size());
    return absl::OkStatus();
  });
  writer.Add(record).IgnoreError();
  writer.Finish().IgnoreError();
  return bundle;
}

// What a verifier lets pass was signed here, and so is the one result that was.
void CheckAccepted(server::BundleVerifier& verifier, const v1::BundleRecord& record) {
  if (!verifier.Visit(record).ok() || !record.signed_manifest().empty()) return;
  const absl::StatusOr<server::FreshResult> result = server::TakeResult(record);
  Require(result.ok(), "an accepted record can be taken");
  Require(result->action.SerializeAsString() == BundledResult().SerializeAsString(), "and holds what was signed");
  Require(result->artifacts.size() == 1 && result->artifacts[0].bytes() == "binary", "and the right bytes");
}

void RunBundle(const std::string& bytes) {
  std::istringstream in(bytes);
  server::BundleVerifier verifier(Signer());
  server::ReadBundle(in, [&verifier](v1::BundleRecord record) {
    CheckAccepted(verifier, record);
    return absl::OkStatus();
  }).IgnoreError();
}

void RunBundleRecord(const std::string& bytes) {
  v1::BundleRecord record;
  server::BundleVerifier verifier(Signer());
  if (record.ParseFromString(bytes)) CheckAccepted(verifier, record);
}

const cache::Digest kSealedKey = cache::Digest::Of("key");
constexpr char kSealedValue[] = "the value that was put";

// A value as a store holds it under its seal.
std::string SoundSealed() {
  auto store = std::make_unique<cache::MemoryStore>(kStoreBytes);
  cache::MemoryStore* inner = store.get();
  cache::SealedCache sealed(std::move(store));
  sealed.Put(kSealedKey, cache::Blob(std::string(kSealedValue))).IgnoreError();
  return std::string(inner->Get(kSealedKey)->bytes());
}

void RunSealed(const std::string& bytes) {
  auto store = std::make_unique<cache::MemoryStore>(kStoreBytes);
  store->Put(kSealedKey, cache::Blob(bytes)).IgnoreError();
  cache::SealedCache sealed(std::move(store));
  const absl::StatusOr<cache::Blob> value = sealed.Get(kSealedKey);
  // A seal can be computed by whoever sees what it is compared with, as a fuzzer led by coverage does.
  Require(!value.ok() || cache::SealedCache::Seal(kSealedKey, *value).bytes() == bytes,
          "a sealed value is what its seal says, or damaged");
}

v1::ActionResult SoundResult() {
  v1::ActionResult result;
  *result.add_artifacts() = Named("cubin", "binary");
  *result.mutable_request() = Named("request", SoundRequest().SerializeAsString());
  result.set_metadata_json("{}");
  result.set_cost_cpu_seconds(0.5);
  return result;
}

std::string SignedResult() {
  return Signer().Sign(server::Purpose::kResult, cache::Digest::Of("key"), SoundResult().SerializeAsString());
}

// A stored result whose signature nobody has looked at.
void RunResult(const std::string& bytes) {
  cache::MemoryStore results(kStoreBytes), blobs(kStoreBytes);
  const cache::Digest key = cache::Digest::Of("key");
  results.Put(key, cache::Blob(bytes)).IgnoreError();
  blobs.Put(cache::Digest::Of("binary"), cache::Blob(std::string("binary"))).IgnoreError();
  server::StoreLimits limits;
  limits.stored_bytes = kStoreBytes;
  server::ResultStore store(results, blobs, Signer(), limits);
  store.TakeStock(results).IgnoreError();
  const auto found = store.Find(key.ToHex());
  if (found.ok())
    Require((*found)->artifacts.size() == static_cast<size_t>((*found)->action.artifacts_size()), "loaded");
  store.Evict({key.ToHex()}).IgnoreError();
  store.EvictAll().IgnoreError();
}

class OneRecordJournal final : public cache::Journal {
 public:
  explicit OneRecordJournal(const std::string& bytes) {
    // The same bytes as a job, as its request, and as whatever else a name may stand for.
    for (const char* name : {"job/", "job/1", "request/1", "request/", "prepared/1", "prepared/", "job/01J", "x"})
      records_[name] = bytes;
    v1::Job job;
    if (job.ParseFromString(bytes)) records_[absl::StrCat("job/", job.id())] = bytes;
  }
  absl::Status Put(absl::string_view name, absl::string_view value) override {
    records_[std::string(name)] = std::string(value);
    return absl::OkStatus();
  }
  absl::Status Remove(absl::string_view name) override {
    records_.erase(std::string(name));
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Get(absl::string_view name) override {
    auto it = records_.find(std::string(name));
    if (it == records_.end()) return absl::NotFoundError("no such record");
    return it->second;
  }
  absl::Status Visit(absl::string_view prefix, const Visitor& visitor) override {
    for (const auto& [name, value] : records_)
      if (absl::StartsWith(name, prefix)) visitor(name, value);
    return absl::OkStatus();
  }

 private:
  std::map<std::string, std::string> records_;
};

class SilentRunner final : public server::JobRunner {
 public:
  bool HasRoom(uint64_t) override { return true; }
  bool MayRun(const std::string&) override { return true; }
  void Start(const std::string&, server::JobRequest, Keyed, Done done) override { done({}); }
  void Stop(const std::string&) override {}
};

void RunJournal(const std::string& bytes) {
  OneRecordJournal journal(bytes);
  SilentRunner runner;
  tests::TaskQueueHere tasks;
  absl::Time now = absl::FromUnixSeconds(1800000000);
  server::JobStore store(
      {}, [&] { return now; }, [&] { return now; }, journal, runner, tasks);
  if (!store.Load([](const std::string&) {}).ok()) return;
  store.Tick();
  for (const v1::Job& job : store.List({}, "", "", 100)) {
    store.Get(job.id()).status().IgnoreError();
    store.Cancel(job.id()).status().IgnoreError();
  }
  now += absl::Hours(100);
  store.Tick();
  Require(store.Submit(*proto::Prepare({}), "", "").ok(), "after any journal a job can be submitted");
}

v1::Job SoundJob() {
  v1::Job job;
  job.set_id("01J");
  job.set_state(v1::JOB_STATE_QUEUED);
  job.set_tenant("tenant");
  job.set_idempotency_key("again");
  job.mutable_created()->set_seconds(1700000000);
  job.mutable_finished()->set_seconds(1700000001);
  return job;
}

void RunAccess(const std::string& bytes) {
  const std::string path =
      (std::filesystem::temp_directory_path() / absl::StrCat("tritond-access-", getpid(), ".yaml")).string();
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  server::ReadAccessFile(path).status().IgnoreError();
  std::filesystem::remove(path);
}

constexpr char kAccess[] =
    "anonymous: none\nunix: admin\ntokens:\n"
    "  - {sha256: 2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b, role: compile, tenant: a}\n"
    "certificates:\n  - {common_name: \"node-*\", role: worker}\n";

}  // namespace

void Require(bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "does not hold: %s\n", what);
  abort();
}

std::vector<ServiceTarget> ServiceTargets() {
  v1::BundleRecord record;
  std::istringstream bundle(SoundBundle());
  server::ReadBundle(bundle, [&](v1::BundleRecord read) {
    if (record.key().empty()) record = std::move(read);
    return absl::OkStatus();
  }).IgnoreError();
  v1::Job ended = SoundJob();
  ended.set_state(v1::JOB_STATE_SUCCEEDED);
  return {
      {"request", {SoundRequest().SerializeAsString(), ""}, RunRequest},
      {"bundle", {SoundBundle()}, RunBundle},
      {"bundle-record", {record.SerializeAsString()}, RunBundleRecord},
      {"sealed", {SoundSealed()}, RunSealed},
      {"result", {SignedResult(), SoundResult().SerializeAsString()}, RunResult},
      {"journal", {SoundJob().SerializeAsString(), ended.SerializeAsString()}, RunJournal},
      {"access", {kAccess}, RunAccess},
      WorkerTarget(),
      RedisTarget(),
  };
}

}  // namespace tritond::tests
