// SPDX-License-Identifier: Apache-2.0
#include "server/compile/job_texts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/compile/compile_call.h"
#include "server/compile/stage_name.h"

namespace tritond::server {
namespace {

constexpr size_t kMakesKnown = 256;
constexpr absl::Duration kPatience = absl::Minutes(10);

}  // namespace

void JobTexts::Makes::Set(const std::string& job, absl::Status status) {
  absl::MutexLock lock(&mu);
  auto found = std::find_if(of_jobs.begin(), of_jobs.end(), [&](const auto& make) { return make.first == job; });
  if (found != of_jobs.end()) of_jobs.erase(found);
  of_jobs.emplace_front(job, std::move(status));
  if (of_jobs.size() > kMakesKnown) of_jobs.pop_back();
}

absl::StatusOr<std::string> JobTexts::ReadBlob(const std::string& digest) const {
  absl::StatusOr<cache::Digest> key = cache::Digest::FromHex(digest);
  if (!key.ok()) return key.status();
  absl::StatusOr<cache::Blob> blob = broker_.blobs().Get(*key);
  if (absl::IsNotFound(blob.status())) return absl::NotFoundError("it is not stored any more");
  if (!blob.ok()) return blob.status();
  return std::string(blob->data(), blob->size());
}

absl::StatusOr<v1::CompileRequest> JobTexts::Request(const JobRecord& record) const {
  absl::StatusOr<std::string> bytes = absl::NotFoundError("the request of this job is not kept any more");
  if (!record.request.empty()) {
    bytes = ReadBlob(record.request);
  } else if (std::optional<std::string> kept = broker_.activity().failed_requests().Find(record.job.id)) {
    bytes = *std::move(kept);
  }
  if (!bytes.ok()) return bytes.status();
  v1::CompileRequest request;
  if (!request.ParseFromString(*bytes)) return absl::DataLossError("the stored request cannot be read");
  return request;
}

absl::StatusOr<JobTexts::Wanted> JobTexts::EveryText(const JobRecord& record, const std::string& tenant) const {
  absl::StatusOr<v1::CompileRequest> request = Request(record);
  if (!request.ok()) return request.status();
  request->clear_outputs();
  for (v1::Stage stage : {v1::STAGE_TTIR, v1::STAGE_TTGIR, v1::STAGE_LLIR, v1::STAGE_ASM}) {
    if (stage > StageOfName(record.input)) request->add_outputs(stage);
  }
  const std::optional<KnownTarget> target = broker_.targets().Find(record.job.target);
  if (target.has_value() && target->disassembly_available) request->add_outputs(v1::STAGE_DISASSEMBLY);
  request->set_debug_info(true);
  request->set_tenant(tenant);
  request->set_label(record.job.label);
  absl::StatusOr<proto::PreparedRequest> prepared = proto::Prepare(*std::move(request));
  if (!prepared.ok()) return prepared.status();
  std::string key = prepared->Key(record.build_id);
  return Wanted{*std::move(prepared), std::move(key)};
}

absl::StatusOr<std::string> JobTexts::Read(const JobRecord& record, absl::string_view stage) const {
  if (stage == "binary") return absl::InvalidArgumentError("a binary is no text");
  if (!record.input.empty() && stage == record.input) {
    absl::StatusOr<v1::CompileRequest> request = Request(record);
    if (!request.ok()) return request.status();
    return std::move(*request->mutable_ir());
  }
  for (const std::vector<JobRecord::Text>& texts : {Made(record), record.texts}) {
    for (const JobRecord::Text& text : texts) {
      if (text.stage == stage) return ReadBlob(text.digest);
    }
  }
  return absl::NotFoundError(absl::StrCat("stage ", stage, " was not asked for, so it is not kept"));
}

std::vector<JobRecord::Text> JobTexts::Made(const JobRecord& record) const {
  std::vector<JobRecord::Text> texts;
  absl::StatusOr<Wanted> wanted = EveryText(record, /*tenant=*/"");
  if (!wanted.ok()) return texts;
  absl::StatusOr<std::shared_ptr<const StoredResult>> made = broker_.FindStored(wanted->key);
  if (!made.ok()) return texts;
  for (const v1::Artifact& artifact : (*made)->action.artifacts())
    texts.push_back({StageName(artifact.kind()), artifact.format(), artifact.digest(), artifact.size_bytes()});
  return texts;
}

absl::Status JobTexts::Make(const JobRecord& record, const std::string& tenant) {
  if (absl::IsUnavailable(Making(record.job.id))) return absl::OkStatus();
  absl::StatusOr<Wanted> wanted = EveryText(record, tenant);
  if (!wanted.ok()) return wanted.status();
  if (broker_.KeyOf(wanted->request) != wanted->key) {
    return absl::FailedPreconditionError(
        absl::StrCat("no worker has the compiler of this job any more (", record.build_id, ")"));
  }
  makes_->Set(record.job.id, absl::UnavailableError("it is being made"));
  auto answered = [makes = makes_, job = record.job.id](const absl::StatusOr<CompileAnswer>& answer) {
    makes->Set(job,
               absl::IsUnavailable(answer.status()) ? absl::AbortedError(answer.status().message()) : answer.status());
  };
  std::optional<absl::StatusOr<CompileAnswer>> stored = broker_.TryStored(wanted->request);
  if (stored.has_value()) {
    answered(*stored);
  } else {
    broker_.Compile(std::move(wanted->request), broker_.Now() + kPatience, answered);
  }
  return absl::OkStatus();
}

absl::Status JobTexts::Making(absl::string_view job) const {
  absl::MutexLock lock(&makes_->mu);
  for (const auto& [id, status] : makes_->of_jobs) {
    if (id == job) return status;
  }
  return absl::OkStatus();
}

}  // namespace tritond::server
